// SPDX-License-Identifier: GPL-2.0-or-later
/* Config files: every mistake is told with file and line. */
#include "lib/conf.h"

#include "lib/fs.h"
#include "lib/str.h"
#include "tap.h"

struct target {
	char *name;
	unsigned count;
	double share;
	bool on;
	char **list;
	struct conf_pairs free_pairs, sub;
};

#define T(section, key, parse, field) { section, key, parse, offsetof(struct target, field), "" }
static const struct conf_item items[] = {
	T("main", "name", conf_parse_string, name),
	T("main", "count", conf_parse_unsigned, count),
	T("main", "share", conf_parse_double, share),
	T("main", "on", conf_parse_bool, on),
	T("main", "list", conf_parse_list, list),
	T("free", "*", conf_parse_pairs, free_pairs),
	T("sub *", "*", conf_parse_pairs, sub),
	{ 0 },
};

static char *path;

static void target_done(struct target *t)
{
	free(t->name);
	strv_free(t->list);
	conf_pairs_done(&t->free_pairs);
	conf_pairs_done(&t->sub);
	*t = (struct target){ 0 };
}

static int load(const char *text, size_t len, struct target *t, struct error *err)
{
	if (fs_write_atomic(path, text, len) < 0)
		return -EIO;
	return conf_load(path, items, t, err);
}

static void test_good(void)
{
	static const char text[] = "; comment\n# comment\n\n[main]\nname = a b ; comment\ncount=7\nshare : 0.5\non = no\n"
				   "list = a, b  c,\n[free]\nx.y = 1\nz =\n[sub one]\nk = v\n[sub two]\nk = w\n";
	_cleanup_error_ struct error err = ERROR_INIT;
	struct target t = { .on = true };

	is_int(load(text, sizeof(text) - 1, &t, &err), 0, "a good file: %s", error_text(&err));
	is_str(t.name, "a b", "string");
	is_int(t.count, 7, "unsigned");
	is_near(t.share, 0.5, 0, "double");
	ok(!t.on, "bool");
	ok(t.list && str_eq(t.list[0], "a") && str_eq(t.list[1], "b") && str_eq(t.list[2], "c") && !t.list[3], "list");
	is_str(conf_pairs_get(&t.free_pairs, "x.y"), "1", "free pairs");
	is_str(conf_pairs_get(&t.free_pairs, "z"), "", "one without a value");
	ok(!conf_pairs_get(&t.free_pairs, "none"), "one that is not there");
	is_int(t.sub.n, 2, "the same key in two sections of a kind");
	target_done(&t);
}

static void test_long_values(void)
{
	static const size_t lengths[] = { 150, 190, 198, 199, 200, 201, 250, 400, 2000 };

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		_cleanup_error_ struct error err = ERROR_INIT;
		_cleanup_free_ char *value = calloc(1, lengths[i] + 1), *text = NULL;
		struct target t = { 0 };
		int r;

		if (!value)
			return;
		for (size_t k = 0; k < lengths[i]; k++)
			value[k] = k % 10 == 9 ? '=' : (char)('a' + k % 26);
		text = str_format("[free]\n%s = x\n[main]\nname = %s\ncount = 3\n", "k", value);
		r = load(text, strlen(text), &t, &err);
		ok(r >= 0 ? str_eq(t.name, value) && t.count == 3 : strstr(error_text(&err), ":4: a line of ") != NULL,
		   "a value of %zu bytes is taken whole, or refused at its line: %s", lengths[i], error_text(&err));
		target_done(&t);
	}
}

static void test_bad(void)
{
	static const struct {
		const char *text;
		int line;
		const char *says;
	} cases[] = {
		{ "[main]\nnmae = x\n", 2, "unknown key 'nmae' in [main]" },
		{ "[main]\nname = x\n\n[mian]\nname = x\n", 5, "unknown section [mian]" },
		{ "name = x\n", 1, "unknown section []" },
		{ "[main]\nname = x\ncount = 1\nname = y\n", 4, "key 'name' given twice in [main]" },
		{ "[main]\nname = x\n[free]\na = 1\n[main]\nname = y\n", 6, "key 'name' given twice in [main]" },
		{ "[main]\ncount = 3\n[free]\na = 1\na = 2\n", 5, "key 'a' given twice in [free]" },
		{ "[main]\ncount = many\n", 2, "'count' is no whole number: many" },
		{ "[main]\ncount = -1\n", 2, "'count' is no whole number: -1" },
		{ "[main]\ncount = 4294967296\n", 2, "'count' is no whole number: 4294967296" },
		{ "[main]\nshare = half\n", 2, "'share' is no number: half" },
		{ "[main]\non = maybe\n", 2, "'on' is neither yes nor no: maybe" },
		{ "[main]\nname =\n", 2, "'name' is empty" },
		{ "[main]\nname = x\ngarbage\n", 3, "no 'key = value' and no [section]" },
		{ "[main\nname = x\n", 1, "no 'key = value' and no [section]" },
		{ "[main]\nname = x\ngarbage\n[main]\nnmae = x\n", 3, "no 'key = value' and no [section]" },
		{ "[main]\nnmae = x\ngarbage\n", 2, "unknown key 'nmae' in [main]" },
		{ "[sub ]\na = 1\n", 2, "unknown section [sub ]" },
		{ "[main]\nlist = a\n\tb\n", 3, "key 'list' given twice in [main]" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_error_ struct error err = ERROR_INIT;
		_cleanup_free_ char *want = str_format("%s:%d: %s", path, cases[i].line, cases[i].says);
		struct target t = { 0 };

		ok(load(cases[i].text, strlen(cases[i].text), &t, &err) < 0, "bad file %zu is refused", i);
		is_str(error_text(&err), want, "and told where");
		target_done(&t);
	}
}

static void test_odd_files(void)
{
	static const char nul[] = "[main]\nname = a\0b\ncount = 1\n";
	_cleanup_error_ struct error err = ERROR_INIT;
	struct target t = { 0 };

	is_int(load("", 0, &t, &err), 0, "an empty file has no mistake");
	is_int(load("\xef\xbb\xbf[main]\r\ncount = 5\r\n", 22, &t, &err), 0, "a byte order mark and CRLF: %s", error_text(&err));
	is_int(t.count, 5, "are fine");
	is_int(load("[main]\nname = last", 18, &t, &err), 0, "no newline at the end");
	is_str(t.name, "last", "is fine");
	ok(load(nul, sizeof(nul) - 1, &t, &err) < 0, "a NUL byte is a mistake");
	is_int(conf_load("/nowhere/x.conf", items, &t, &err), -ENOENT, "no such file");
	ok(strstr(error_text(&err), "/nowhere/x.conf"), "is named: %s", error_text(&err));
	ok(conf_load("/", items, &t, &err) < 0, "a folder is no file");
	target_done(&t);
}

static void test_lists(void)
{
	char **list = NULL;
	size_t n = 9;

	is_int(conf_split_list(" , ,\t", &list, &n), 0, "a list of nothing");
	ok(n == 0 && list && !list[0], "is empty");
	strv_free(list);
	is_int(conf_split_list("a,b c\td,,e", &list, &n), 0, "a list");
	is_int(n, 5, "with five words");
	strv_free(list);
	strv_free(NULL);
}

int main(void)
{
	_cleanup_(fs_rm_rf_free) char *dir = NULL;

	if (fs_mkdtemp(NULL, "mmbisect-test", &dir) < 0)
		return 1;
	path = str_format("%s/test.conf", dir);
	test_good();
	test_long_values();
	test_bad();
	test_odd_files();
	test_lists();
	free(path);
	return done_testing();
}
