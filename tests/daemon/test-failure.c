// SPDX-License-Identifier: GPL-2.0-or-later
/* Titles of failed builds that two commits have in common, and the lines of a console that tell of a crash. */
#include "tap.h"

#include "daemon/failure.h"
#include "lib/fs.h"
#include "lib/str.h"

static void test_titles(void)
{
	static const struct {
		const char *status, *text, *title;
	} cases[] = {
		{ "build-failed", "mm/mmap.c:12:3: error: expected ';'", "mm/mmap.c: error: expected ';'" },
		{ "build-failed", "../mm/mmap.c:12: error: x", "mm/mmap.c: error: x" },
		{ "build-failed", "./include/linux/mm.h:1:10: fatal error: 'no.h' file not found",
		  "include/linux/mm.h: fatal error: 'no.h' file not found" },
		{ "build-failed", "ld.lld: error: undefined symbol: foo", "ld.lld: error: undefined symbol: foo" },
		{ "build-failed", "ERROR: modpost: \"__compiletime_assert_12\" undefined!",
		  "ERROR: modpost: \"__compiletime_assert_\" undefined!" },
		{ "build-failed", "make[2]: *** [scripts/Makefile.build:250: mm/mmap.o] Error 1",
		  "make: *** [scripts/Makefile.build: mm/mmap.o] Error 1" },
		{ "build-failed", "init/Kconfig:12: syntax error", "init/Kconfig: syntax error" },
		{ "build-failed", "a.c:7:2: error: use of undeclared identifier 'v2'; did you mean 'v1'?",
		  "a.c: error: use of undeclared identifier 'v2'; did you mean 'v1'?" },
		{ "build-failed", "make ended with status 2 and no word", "make ended with status 2 and no word" },
		{ "crashed", "kernel BUG at mm/x.c:NUM!", "kernel BUG at mm/x.c:NUM!" },
		{ "timeout", "no end within 120 s", "no end within 120 s" },
		{ "build-failed", NULL, "" },
		{ "build-failed", "a\x1b[31m\n:1: error: b", "a[31m : error: b" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *title = failure_title(cases[i].status, cases[i].text);

		is_str(title, cases[i].title, "%s", cases[i].title);
	}
}

static char *excerpt_of(const char *dir, const char *text, size_t len, const char *title)
{
	_cleanup_free_ char *path = str_format("%s/console", dir);

	return path && fs_write_atomic(path, text, len) >= 0 ? failure_excerpt(path, title) : NULL;
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; text && *text; text++)
		n += *text == '\n';
	return n;
}

static void test_excerpts(void)
{
	static const char title[] = "BUG: unable to handle page fault for address: ADDR in f";
	_cleanup_(fs_rm_rf_free) char *dir = NULL;
	_cleanup_str_ struct str text = STR_INIT;
	char *s;

	if (fs_mkdtemp(NULL, "mmb-failure-", &dir) < 0) {
		ok(false, "temporary folder");
		return;
	}
	for (int i = 0; i < 100; i++)
		(void)str_addf(&text, "[ 1.%02d] line %d\r\n", i, i);
	(void)str_add(&text, "[ 2.0] BUG: unable to handle page fault for address: ffff88\n");
	(void)str_add_mem(&text, "\0\x1b\xff\n", 4);
	for (int i = 0; i < 100; i++)
		(void)str_addf(&text, "[ 3.%02d] trace %d %0500d\n", i, i, 7);

	s = excerpt_of(dir, text.data, text.len, title);
	ok(s && str_starts(s, "[ 1.98] line 98\n[ 1.99] line 99\n[ 2.0] BUG: unable"), "from two lines before it");
	is_int(count_lines(s), FAILURE_EXCERPT_LINES, "so many lines");
	ok(s && !strpbrk(s, "\x1b\r\xff") && strlen(s) < FAILURE_EXCERPT_LINES * 165, "harmless, and not wide");
	free(s);
	s = excerpt_of(dir, text.data, text.len, "no end within 120 s");
	ok(s && strstr(s, "trace 99") && !strstr(s, "line 99"), "without such a line it is the end");
	free(s);
	s = excerpt_of(dir, "", 0, title);
	ok(!s, "nothing of nothing");
	free(s);
	s = failure_excerpt("/nonexistent/console", title);
	ok(!s, "nothing of no file");
	free(s);
}

int main(void)
{
	test_titles();
	test_excerpts();
	return done_testing();
}
