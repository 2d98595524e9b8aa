// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/str.h"
#include "web/listen.h"
#include "web/reply.h"
#include "web/route.h"

#include "tap.h"

static void test_match(void)
{
	static const struct {
		const char *pattern, *path;
		bool match;
		int64_t id;
	} cases[] = {
		{"/", "/", true, 0},
		{"/", "", false, 0},
		{"/searches", "/searches/", false, 0},
		{"/finding/#", "/finding/12", true, 12},
		{"/finding/#", "/finding/", false, 0},
		{"/finding/#", "/finding/0", false, 0},
		{"/finding/#", "/finding/012", false, 0},
		{"/finding/#", "/finding/-1", false, 0},
		{"/finding/#", "/finding/1x", false, 0},
		{"/finding/#", "/finding/999999999999999999", true, 999999999999999999},
		{"/finding/#", "/finding/9999999999999999999", false, 0},
		{"/api/search/#.json", "/api/search/7.json", true, 7},
		{"/api/search/#.json", "/api/search/7", false, 0},
		{"/api/search/#.json", "/api/search/.json", false, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int64_t id = 0;

		ok(route_match(cases[i].pattern, cases[i].path, &id) == cases[i].match &&
			   id == cases[i].id,
		   "%s against %s", cases[i].path, cases[i].pattern);
	}
}

static void test_escape(void)
{
	_cleanup_str_ struct str s = STR_INIT;

	(void)html_txt(&s, "<a href=\"x\">'&'</a> \xc3\xa9");
	is_str(s.data, "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt; \xc3\xa9",
	       "HTML is escaped, UTF-8 kept");
}

static void test_address(void)
{
	static const char *const wrong[] = {
		"",
		"x",
		":",
		":80",
		"127.0.0.1",
		"127.0.0.1:",
		"127.0.0.1:-1",
		"127.0.0.1:65536",
		"::1:80",
		"[::1]",
		"[]:80",
		"localhost:80",
		"unix:",
	};
	static const char *const right[] = {"127.0.0.1:0", "[::1]:80", "0.0.0.0:65535",
					    "unix:relative"};
	struct address a;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_error_ struct error err = ERROR_INIT;

		ok(address_parse(wrong[i], &err, &a) == -EINVAL && err.message, "no address: '%s'",
		   wrong[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(right); i++)
		is_int(address_parse(right[i], NULL, &a), 0, "an address: %s", right[i]);
}

int main(void)
{
	test_match();
	test_escape();
	test_address();
	return done_testing();
}
