// SPDX-License-Identifier: GPL-2.0-or-later
/* Config requests: the last mention counts, identity without comments, and what did not take. */
#include "workers/build-config.h"

#include "lib/str.h"
#include "tap.h"

static void make(struct config_request *request, const char *first, const char *second)
{
	ok(config_request_init(request, "tinyconfig") >= 0 &&
		   config_request_add(request, "/configs/base.config", first, NULL) >= 0 &&
		   config_request_add(request, "/configs/arch.config", second, NULL) >= 0,
	   "fragments are read");
}

static void test_last_mention(void)
{
	_cleanup_config_request_ struct config_request request = CONFIG_REQUEST_INIT;
	_cleanup_free_ char *text = NULL;

	make(&request, "# text\n\nCONFIG_A=y\nCONFIG_B=n\n# CONFIG_C is not set\n", "# CONFIG_A is not set\nCONFIG_D=\"x y\"");
	text = config_request_text(&request);
	is_str(text, "# CONFIG_B is not set\n# CONFIG_C is not set\n# CONFIG_A is not set\nCONFIG_D=\"x y\"\n", "last mention");
	is_str(request.options[2].fragment, "arch.config", "and its fragment");
}

static void test_hash(void)
{
	_cleanup_config_request_ struct config_request a = CONFIG_REQUEST_INIT, b = CONFIG_REQUEST_INIT,
						       c = CONFIG_REQUEST_INIT;
	char hash[3][HASH_HEX_LEN + 1] = { "" };

	make(&a, "CONFIG_A=y\n", "CONFIG_B=n\n");
	make(&b, "# other\nCONFIG_A=y  \r\n", "# CONFIG_B is not set");
	make(&c, "CONFIG_A=m\n", "CONFIG_B=n\n");
	ok(config_request_hash(&a, hash[0]) >= 0 && config_request_hash(&b, hash[1]) >= 0 &&
		   config_request_hash(&c, hash[2]) >= 0,
	   "hashes");
	is_str(hash[1], hash[0], "comments, blanks and the way to say no do not count");
	ok(!str_eq(hash[0], hash[2]), "values do");
}

static void test_missed(void)
{
	static const char config[] = "# head\nCONFIG_A=y\n# CONFIG_B is not set\nCONFIG_NR=8\nCONFIG_AB=y\n";
	_cleanup_config_request_ struct config_request request = CONFIG_REQUEST_INIT;
	_cleanup_free_ const struct config_option **missed = NULL;
	size_t n = 0;

	make(&request, "CONFIG_A=y\nCONFIG_B=y\nCONFIG_NR=9\n", "# CONFIG_AB is not set\n# CONFIG_X is not set\nCONFIG_Y=y\n");
	ok(config_request_missed(&request, config, &missed, &n) >= 0, "compared");
	is_int(n, 4, "four did not take");
	is_str(n > 0 ? missed[0]->name : "", "CONFIG_B", "not set");
	is_str(n > 1 ? missed[1]->name : "", "CONFIG_NR", "another number");
	is_str(n > 2 ? missed[2]->name : "", "CONFIG_AB", "on, though unwanted");
	is_str(n > 3 ? missed[3]->name : "", "CONFIG_Y", "not there at all");
}

static void test_typo(void)
{
	static const char *const wrong[] = { "CONFIG_A y", "A=y", "CONFIG_A", "CONFIG-A=y", "=y" };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_config_request_ struct config_request request = CONFIG_REQUEST_INIT;
		_cleanup_free_ char *text = str_format("\n%s\n", wrong[i]);
		_cleanup_error_ struct error err = ERROR_INIT;

		is_int(config_request_add(&request, "x.config", text ? text : "", &err), -EINVAL, "refused: %s", wrong[i]);
		ok(str_starts(error_text(&err), "x.config:2: "), "with file and line");
	}
}

static void test_final(void)
{
	char a[HASH_HEX_LEN + 1] = "", b[HASH_HEX_LEN + 1] = "", c[HASH_HEX_LEN + 1] = "";

	ok(config_final_hash("# Linux 6.1\nCONFIG_CC_VERSION_TEXT=\"clang 14\"\nCONFIG_CLANG_VERSION=140006\nCONFIG_A=y\n", a) >= 0 &&
		   config_final_hash("# Linux 6.2\nCONFIG_CC_VERSION_TEXT=\"clang 15\"\nCONFIG_CLANG_VERSION=150000\nCONFIG_A=y\n# CONFIG_B is not set\n", b) >= 0 &&
		   config_final_hash("CONFIG_A=y\nCONFIG_CC_IS_CLANG=y\n", c) >= 0,
	   "hashes");
	is_str(b, a, "comments and versions of tools do not count");
	ok(!str_eq(a, c), "other options do");
}

int main(void)
{
	test_last_mention();
	test_hash();
	test_missed();
	test_typo();
	test_final();
	return done_testing();
}
