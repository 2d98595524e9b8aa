// SPDX-License-Identifier: GPL-2.0-or-later
/* The service's configuration. */
#include "daemon/service.h"

#include "lib/fs.h"
#include "lib/str.h"
#include "tap.h"

#define TREE "[tree t]\nurl = /x\nbranches = refs/heads/a refs/heads/b\nworkloads = w\narches = x86_64\n"

static char *path;

static int load(const char *text, struct service *s, struct error *err)
{
	(void)fs_write_atomic(path, text, strlen(text));
	return service_load(path, err, s);
}

static void test_good(void)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(service_done) struct service s = { 0 };
	int r = load("[daemon]\nstate = /s\n" TREE "poll_seconds = 7\n[tree u-2]\nurl = https://x/y\nbranches = refs/heads/m\n"
		     "workloads = w v\narches = arm64\ntime = yes\n[mail]\nserver = smtp://h:25\nfrom = a@b\nto = c@d, e@f\n",
		     &s, &err);

	is_int(r, 0, "a good file: %s", error_text(&err));
	is_int(s.n_trees, 2, "two trees");
	is_int(s.verify_runs, 5, "default of verify_runs");
	ok(service_tree(&s, "t") && service_tree(&s, "t")->poll_seconds == 7, "a tree by its name");
	ok(service_tree(&s, "u-2") && service_tree(&s, "u-2")->poll_seconds == 300, "default of poll_seconds");
	ok(!service_tree(&s, "none"), "none of another name");
	ok(!service_tree(&s, "t")->time && service_tree(&s, "u-2")->time, "compared in time only when asked for");
	is_int(service_tree(&s, "u-2")->time_pairs, 100, "default of time_pairs");
	ok(str_eq(s.trees[0].branches[1], "refs/heads/b") && !s.trees[0].branches[2], "branches");
	ok(s.mail_to && str_eq(s.mail_to[1], "e@f"), "addresses");
}

static void test_many_trees(void)
{
	_cleanup_str_ struct str text = STR_INIT;
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(service_done) struct service s = { 0 };

	for (int i = 0; i < 50; i++)
		(void)str_addf(&text, "[tree t%d]\nurl = /x\nbranches = refs/heads/a\nworkloads = w\narches = x\n", i);
	is_int(load(text.data, &s, &err), 0, "50 trees: %s", error_text(&err));
	ok(service_tree(&s, "t49") && str_eq(service_tree(&s, "t49")->url, "/x"), "the last of them");
}

static void test_bad(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "[daemon]\nstaet = /s\n" TREE, ":2: unknown key 'staet' in [daemon]" },
		{ TREE "branch = x\n", ":6: unknown key 'branch' in [tree t]" },
		{ "[trees t]\nurl = x\n", ":2: unknown section [trees t]" },
		{ "[tree]\nurl = x\n", ":2: unknown section [tree]" },
		{ "[tree a/b]\nurl = x\n", ":2: a tree's name has letters, digits, - and _ only: [tree a/b]" },
		{ "[tree a b]\nurl = x\n", ":2: a tree's name has letters, digits, - and _ only: [tree a b]" },
		{ TREE "url = y\n", ":6: key 'url' given twice in [tree t]" },
		{ TREE "poll_seconds = 0\n", ": [tree t] poll_seconds is at least 1" },
		{ TREE "time_pairs = 3\n", ": [tree t] time_pairs is a number from 5 to 2000" },
		{ TREE "time = maybe\n", ":6: 'time' is neither yes nor no: maybe" },
		{ TREE "poll_seconds = -5\n", ":6: 'poll_seconds' is no whole number: -5" },
		{ TREE "url\n", ":6: no 'key = value' and no [section]" },
		{ "", ": no [tree NAME] section: nothing to watch" },
		{ "[tree t]\nurl = /x\n", ": [tree t] needs url, branches, workloads and arches" },
		{ "[tree t]\nurl = /x\nbranches = main\nworkloads = w\narches = x\n",
		  ": [tree t] branches are full names (refs/heads/...), not 'main'" },
		{ "[tree t]\nurl = /x\nbranches = ,\nworkloads = w\narches = x\n", ": [tree t] needs url, branches, workloads and arches" },
		{ TREE "[mail]\nserver = smtp://x\nfrom = a@b\n", ": [mail] needs from and to" },
		{ TREE "[mail]\nserver = smtp://x\nfrom = a@b\nto = c@d\ntls = maybe\n",
		  ": [mail] tls is none, starttls or smtps, not 'maybe'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_error_ struct error err = ERROR_INIT;
		_cleanup_free_ char *want = str_format("%s%s", path, cases[i].says);
		struct service s = { 0 };

		is_int(load(cases[i].text, &s, &err), -EINVAL, "bad file %zu", i);
		is_str(error_text(&err), want, "is told where");
		service_done(&s);
	}
}

static void test_shipped(void)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(service_done) struct service s = { 0 };

	if (!fs_exists("configs/mmbisect.conf")) {
		skip("none yet", "the shipped configuration");
		return;
	}
	is_int(service_load("configs/mmbisect.conf", &err, &s), 0, "the shipped configuration loads: %s", error_text(&err));
}

int main(void)
{
	_cleanup_(fs_rm_rf_free) char *dir = NULL;

	if (fs_mkdtemp(NULL, "mmbisect-test", &dir) < 0)
		return 1;
	path = str_format("%s/mmbisect.conf", dir);
	test_good();
	test_many_trees();
	test_bad();
	test_shipped();
	free(path);
	return done_testing();
}
