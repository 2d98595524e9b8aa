// SPDX-License-Identifier: GPL-2.0-or-later
/* Git through our eyes, on small real repositories that git itself makes: graphs, odd commits, borrowed objects, patches. */
#include "daemon/hints.h"
#include "daemon/repo.h"

#include "lib/clock.h"
#include "lib/fs.h"
#include "lib/spawn.h"
#include "lib/str.h"
#include "tap.h"

#define LONG (120 * NSEC_PER_SEC)

/* libgit2 1.5 leaks where it asks whether an unknown revision is the output of git describe. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libpcre2";
}

static char *dir;

/* Runs a script in bash with $T the scratch folder; its stdout without the last newline. */
static char *sh(const char *script)
{
	static const char prelude[] =
		"set -eu; cd \"$T\"; export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x"
		" GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@x GIT_AUTHOR_DATE='1600000000 +0000'"
		" GIT_COMMITTER_DATE='1600000000 +0000'\n"
		"g() { git -c gc.auto=0 \"$@\"; }\n"
		/* commit NAME FILE TEXT */
		"commit() { printf '%b' \"$3\" >\"$2\"; g add -f \"$2\"; g commit -q --allow-empty -m \"$1\"; g tag \"$1\"; }\n"
		/* raw HEADERS+MESSAGE: a commit object as it is */
		"raw() { printf '%b' \"$1\" | git hash-object -t commit -w --literally --stdin; }\n";
	_cleanup_free_ char *all = str_format("%s%s", prelude, script), *home = str_format("T=%s", dir), *text = NULL;
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	char *out = NULL;
	int status = -1;

	o.argv = (const char *const[]){ "bash", "-c", all, NULL };
	o.extra_env = (const char *const[]){ home, NULL };
	if (spawn_capture(&o, 1 << 20, LONG, NULL, &status, &out, NULL, &text) < 0)
		return NULL;
	if (status != 0)
		printf("# script ends with %d: %s\n", status, text);
	if (out && *out)
		out[strlen(out) - 1] = '\0';
	return out;
}
#define SH(script) _cleanup_free_ _unused_ char *JOIN(sh_, __LINE__) = sh(script)
#define JOIN(a, b) JOIN_(a, b)
#define JOIN_(a, b) a##b

static struct repo *attach(const char *mirror, const char *user)
{
	_cleanup_free_ char *m = str_format("%s/%s", dir, mirror), *u = str_format("%s/%s", dir, user);
	_cleanup_error_ struct error err = ERROR_INIT;
	struct repo *repo = NULL;
	int r = repo_open(m, &err, &repo);

	if (r >= 0)
		r = repo_attach(repo, u, &err);
	ok(r >= 0, "%s borrows from %s%s%s", mirror, user, r < 0 ? ": " : "", r < 0 ? error_text(&err) : "");
	return repo;
}

static char *resolve(struct repo *repo, const char *rev)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	char *oid = NULL;

	if (repo_resolve(repo, rev, &err, &oid) < 0)
		printf("# %s\n", error_text(&err));
	return oid;
}
#define OID(name) _cleanup_free_ char *name = resolve(repo, #name)

/* The range as text: nodes by number, "tag(parents)", checked against what a graph must be. */
static char *range(struct repo *repo, const char *good, const char *bad)
{
	_cleanup_(graph_done) struct graph g = { 0 };
	_cleanup_free_ char *a = resolve(repo, good), *b = resolve(repo, bad);
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_str_ struct str s = STR_INIT;

	if (!a || !b || repo_range(repo, a, b, &err, &g) < 0)
		return str_format("%d", err.code);
	if (strcmp(g.oids[0], a) != 0 || strcmp(g.oids[g.dag.n - 1], b) != 0 || judge_dag_check(&g.dag) < 0)
		return strdup("no graph for the judge");
	for (int i = 0; i < g.dag.n; i++) {
		if (graph_find(&g, g.oids[i]) != i)
			return strdup("a node is not found");
		(void)str_addf(&s, "%s%d:", i ? " " : "", i);
		for (int k = g.dag.parent_start[i]; k < g.dag.parent_start[i + 1]; k++)
			(void)str_addf(&s, "%s%d", k > g.dag.parent_start[i] ? "," : "", g.dag.parents[k]);
	}
	return str_take(&s);
}

static void is_range(struct repo *repo, const char *good, const char *bad, const char *want, const char *what)
{
	_cleanup_free_ char *got = range(repo, good, bad);

	is_str(got, want, "%s", what);
}

/* As many candidates as git counts. */
static void same_as_git(struct repo *repo, const char *good, const char *bad, const char *what)
{
	_cleanup_free_ char *script = str_format("cd r; git rev-list --count %s..%s", good, bad), *want = sh(script);
	_cleanup_free_ char *a = resolve(repo, good), *b = resolve(repo, bad);
	_cleanup_(graph_done) struct graph g = { 0 };
	uint64_t n = 0;

	if (!want || str_to_u64(want, &n) < 0 || repo_range(repo, a, b, NULL, &g) < 0)
		ok(false, "%s: no range", what);
	else
		is_int(g.dag.n - 1, n, "%s: as many candidates as git rev-list counts", what);
}

static void test_range(void)
{
	_cleanup_(repo_closep) struct repo *repo = NULL;

	/* base - a - merge1 - c - octopus - tip, with side branches from before and after base, and a criss-cross. */
	SH("g init -q -b main r; cd r; commit root f 0; commit old1 old 1; g checkout -q -b oldside root; commit oldside1 os 1\n"
	   "g checkout -q main; commit base f 1; commit a f 2\n"
	   "g checkout -q -b side base; commit s1 s 1; commit s2 s 2\n"
	   "g checkout -q main; g merge -q --no-ff -m m1 side; g tag m1\n"
	   "g merge -q --no-ff -m m2 oldside; g tag m2\n"
	   "for i in 1 2 3; do g checkout -q -b o$i m1; commit o$i-1 o$i x; done\n"
	   "g checkout -q main; g merge -q -m octo o1 o2 o3; g tag octo; commit tip f 9\n"
	   "g checkout -q -b x base; commit x1 x 1; g checkout -q -b y base; commit y1 y 1\n"
	   "g checkout -q x; g merge -q --no-ff -m xm y1; g tag xm; g checkout -q y; g merge -q --no-ff -m ym x1; g tag ym\n"
	   "g checkout -q x; g merge -q --no-ff -m cross ym; g tag cross\n"
	   "g checkout -q -b fp oldside; g merge -q --no-ff -m mfp base; g tag mfp; commit fp2 fp 2\n"
	   "g checkout -q --orphan alone; commit alone1 q 1");
	repo = attach("m1.git", "r");
	is_range(repo, "base", "a", "0: 1:0", "one commit");
	is_range(repo, "base", "base", "-33", "good is bad");
	is_range(repo, "tip", "base", "-33", "good is newer than bad");
	is_range(repo, "s1", "a", "-33", "good on another branch");
	is_range(repo, "alone1", "tip", "-33", "no common history");
	is_range(repo, "base", "m1", "0: 1:0 2:0 3:2 4:1,3", "a merge") ;
	is_range(repo, "base", "mfp", "0: 1:-1 2:1,0", "the first parent comes from before good");
	same_as_git(repo, "base", "m2", "a side branch from before good");
	same_as_git(repo, "base", "tip", "an octopus");
	same_as_git(repo, "root", "tip", "all of it");
	same_as_git(repo, "base", "cross", "a criss-cross");
	same_as_git(repo, "x1", "cross", "from within a criss-cross");
	is_int(repo_is_ancestor(repo, "none", "none"), -EINVAL, "no ids");
	{
		OID(s1);
		OID(tip);
		OID(a);
		OID(oldside1);
		OID(alone1);
		OID(root);
		_cleanup_free_ char *base = NULL;

		is_int(repo_is_ancestor(repo, s1, tip), 1, "ancestor");
		is_int(repo_is_ancestor(repo, tip, s1), 0, "descendant");
		is_int(repo_is_ancestor(repo, tip, tip), 1, "itself");
		is_int(repo_merge_base(repo, a, oldside1, &base), 0, "merge base");
		is_str(base, root, "is it");
		is_int(repo_merge_base(repo, a, alone1, &base), -ENOENT, "there is none");
		_cleanup_(graph_done) struct graph ends = { 0 }, from = { 0 }, no = { 0 };
		_cleanup_error_ struct error err = ERROR_INIT;

		is_int(repo_question(repo, a, oldside1, NULL, &err, &ends), 0, "ends that have diverged");
		ok(ends.n_bases == 1 && ends.dag.n == 3, "good, its merge base, bad");
		ok(ends.dag.n == 3 && strcmp(ends.oids[1], root) == 0, "the base is in the middle");
		is_int(judge_dag_check(&ends.dag), 0, "a graph that the judge takes");
		is_int(repo_question(repo, a, oldside1, root, &err, &from), 0, "from the base on");
		ok(from.n_bases == 0 && strcmp(from.oids[0], root) == 0, "the base is the good end");
		is_int(graph_find(&from, a), -ENOENT, "good is not in it");
		is_int(repo_question(repo, a, alone1, NULL, &err, &no), -EDOM, "no common history");
		error_done(&err);
		is_int(repo_question(repo, tip, s1, NULL, &err, &no), -EDOM, "bad is the older one");
	}
}

/* Clocks that go wrong: a child older than its parent, dates of the year 3170843, before 1970, and none. */
static void test_dates(void)
{
	_cleanup_(repo_closep) struct repo *repo = NULL;
	_cleanup_free_ char *none = NULL;

	SH("cd r; g checkout -q -B skew base\n"
	   "for d in 1900000000 5 4000000000 1 1700000000 7; do GIT_COMMITTER_DATE=\"@$d +0000\" GIT_AUTHOR_DATE=\"@$d +0000\""
	   " commit skew$d skew $d; done\n"
	   "g checkout -q -b skewside base; for d in 3 2000000000 2; do GIT_COMMITTER_DATE=\"@$d +0000\" commit ss$d ss $d; done\n"
	   "g checkout -q skew; g merge -q --no-ff -m skewm skewside; g tag skewm\n"
	   "p=$(git rev-parse base); t=$(git rev-parse base^{tree})\n"
	   "for d in '99999999999999 +0000' '0 -1200' '1 +9999'; do p=$(raw \"tree $t\\nparent $p\\nauthor A <a> $d\\n"
	   "committer C <c> $d\\n\\nodd date\\n\"); done; git tag odd $p");
	repo = attach("m1.git", "r");
	same_as_git(repo, "base", "skewm", "skewed clocks");
	same_as_git(repo, "skew5", "skewm", "good with a date before the epoch of all");
	same_as_git(repo, "skew1900000000", "skewm", "good from the future");
	same_as_git(repo, "base", "odd", "absurd dates");
	{
		OID(odd);
		OID(a);
		_cleanup_free_ char *one = NULL, *two = NULL;
		_cleanup_(commit_done) struct commit c = { 0 };

		is_int(repo_commit(repo, odd, NULL, &c), 0, "a commit with an absurd zone");
		is_str(c.subject, "odd date", "has a subject");
		is_int(repo_cherry_pick(repo, a, odd, NULL, &one), 0, "a commit on top of it");
		is_int(repo_cherry_pick(repo, a, odd, NULL, &two), 0, "and again");
		is_str(one, two, "is the same commit");
	}
	(void)none;
}

static void is_commit(struct repo *repo, const char *rev, const char *subject, const char *author, const char *mail)
{
	_cleanup_free_ char *oid = resolve(repo, rev);
	_cleanup_(commit_done) struct commit c = { 0 };
	_cleanup_error_ struct error err = ERROR_INIT;
	int r = oid ? repo_commit(repo, oid, &err, &c) : -ENOENT;

	is_int(r, 0, "%s is read%s%s", rev, r < 0 ? ": " : "", r < 0 ? error_text(&err) : "");
	is_str(c.subject, subject, "%s: subject", rev);
	is_str(c.author, author, "%s: author", rev);
	is_str(c.author_mail, mail, "%s: mail", rev);
}

static void test_strange_commits(void)
{
	_cleanup_(repo_closep) struct repo *repo = NULL;

	SH("cd r; p=$(git rev-parse base); t=$(git rev-parse base^{tree}); d='1600000000 +0000'\n"
	   "h=\"tree $t\\nparent $p\\n\"; m() { raw \"$2\" >.git/refs/tags/$1; }\n"
	   "m neg \"${h}author A <a> -5 +0000\\ncommitter C <c> -5 +0000\\n\\nneg\\n\"; m nodate \"${h}author A <a>\\ncommitter C <c>\\n\\nnodate\\n\"\n"
	   "m latin \"${h}author Jos\\xe9 <j@x> $d\\ncommitter C <c> $d\\nencoding ISO-8859-1\\n\\nna\\xefve\\n\\nbody \\xfc\\n\"\n"
	   "m latin9 \"${h}author Jos\\xe9 <j@x> $d\\ncommitter C <c> $d\\nencoding ISO-8859-15\\n\\n5 \\xa4\\n\"\n"
	   "m bytes \"${h}author Jos\\xe9 <j@x> $d\\ncommitter C <c> $d\\n\\nna\\xefve \\xff\\x1b[31m\\n\"\n"
	   "m lies \"${h}author A <a> $d\\ncommitter C <c> $d\\nencoding klingon\\n\\nna\\xefve\\n\"\n"
	   "m empty \"${h}author  <> $d\\ncommitter  <> $d\\n\\n\"\n"
	   "m nomail \"${h}author A $d\\ncommitter C $d\\n\\nno mail\\n\"\n"
	   "m noauthor \"${h}author\\ncommitter\\n\\nno author\\n\"\n"
	   "m crlf \"${h}author A <a> $d\\ncommitter C <c> $d\\n\\n\\n\\nsub\\tject\\r\\n\\r\\nLink: https://x/1\\nLink:  https://x/2\\n\"\n");
	repo = attach("m1.git", "r");
	is_commit(repo, "latin", "na\xc3\xafve", "Jos\xc3\xa9", "j@x");
	is_commit(repo, "latin9", "5 \xe2\x82\xac", "Jos\xc3\xa9", "j@x");
	is_commit(repo, "bytes", "na\xef\xbf\xbdve \xef\xbf\xbd[31m", "Jos\xef\xbf\xbd", "j@x");
	is_commit(repo, "lies", "na\xef\xbf\xbdve", "A", "a");
	is_commit(repo, "empty", "", "", "");
	is_commit(repo, "crlf", "sub ject", "A", "a");
	same_as_git(repo, "base", "empty", "an empty author in the range");
	for (size_t i = 0; i < 4; i++) {
		static const char *const names[] = { "nomail", "noauthor", "nodate", "neg" };
		_cleanup_free_ char *script = str_format("cat r/.git/refs/tags/%s", names[i]), *oid = sh(script);
		_cleanup_(commit_done) struct commit c = { 0 };
		_cleanup_error_ struct error err = ERROR_INIT;
		int r = oid ? repo_commit(repo, oid, &err, &c) : -ENOENT;

		ok(r >= 0 || *error_text(&err), "a commit that git fsck refuses is read or told (%s): %s", names[i],
		   r < 0 ? error_text(&err) : c.author);
	}
	{
		OID(crlf);
		OID(root);
		_cleanup_(commit_done) struct commit c = { 0 }, r = { 0 };

		is_int(repo_commit(repo, crlf, NULL, &c), 0, "commit");
		is_str(c.link, "https://x/2", "the last Link:");
		is_int(c.n_parents, 1, "one parent");
		is_int(repo_commit(repo, root, NULL, &r), 0, "a root commit");
		ok(r.n_parents == 0 && r.parents && !r.parents[0] && !r.link, "has no parents and no link");
		is_int(repo_commit(repo, "0123456789012345678901234567890123456789", NULL, &c), -ENOENT, "one that does not exist");
		ok(c.oid && str_eq(c.oid, crlf), "outputs are untouched on failure");
	}
}

static void test_resolve(void)
{
	_cleanup_(repo_closep) struct repo *repo = NULL;
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_free_ char *none = NULL, *by_tag = NULL, *by_ref = NULL, *annotated = NULL, *short_id = NULL, *date = NULL;

	SH("cd r; g branch twice a; g tag twice s1; g tag -a -m x annotated base; g tag blob $(git hash-object -w f)");
	repo = attach("m1.git", "r");
	{
		OID(a);
		OID(s1);
		OID(base);
		_cleanup_free_ char *head = strndup(a, 9);

		by_tag = resolve(repo, "twice");
		is_str(by_tag, s1, "a branch and a tag of one name: the tag, as git says");
		by_ref = resolve(repo, "refs/heads/twice");
		is_str(by_ref, a, "the full name says which");
		annotated = resolve(repo, "annotated");
		is_str(annotated, base, "an annotated tag is its commit");
		short_id = resolve(repo, head);
		is_str(short_id, a, "a short id");
		date = resolve(repo, "a^");
		is_str(date, base, "an expression");
	}
	is_int(repo_resolve(repo, "blob", &err, &none), -ENOENT, "a blob is no commit");
	is_str(error_text(&err), "unknown revision 'blob'", "in words");
	is_int(repo_resolve(repo, "", &err, &none), -ENOENT, "no name");
	is_int(repo_resolve(repo, "..", &err, &none), -ENOENT, "a strange name");
	is_int(repo_resolve(repo, "base..a", &err, &none), -ENOENT, "a range is no revision");
	ok(!none, "nothing is given");
}

static void test_patches(void)
{
	_cleanup_(repo_closep) struct repo *repo = NULL;
	_cleanup_free_ char *one = NULL, *two = NULL, *root_id = NULL, *merge_id = NULL, *other = NULL;

	SH("cd r; g checkout -qf -B pb base; seq 1 40 >p; g add p; g commit -qm pbase; g tag pbase\n"
	   "sed 's/^20$/twenty/' p >q; mv q p; g commit -qam twenty; g tag twenty\n"
	   "sed 's/^20$/TWENTY/;s/^twenty$/TWENTY/' p >q; mv q p; g commit -qam TWENTY; g tag TWENTY\n"
	   "g checkout -qf -b pother pbase; (echo new; seq 1 40) >p; g commit -qam new; g tag pnew; g cherry-pick twenty >/dev/null\n"
	   "g tag rebased; g commit -q --allow-empty -m nothing; g tag nothing");
	repo = attach("m1.git", "r");
	OID(twenty);
	OID(TWENTY);
	OID(rebased);
	OID(root);
	OID(m1);
	OID(pnew);
	OID(pbase);
	OID(nothing);
	is_int(repo_patch_id(repo, twenty, &one), 0, "patch id");
	is_int(repo_patch_id(repo, rebased, &two), 0, "of the same on another base, at other lines");
	is_str(one, two, "is the same");
	ok(!str_eq(twenty, rebased), "though the commits differ");
	is_int(repo_patch_id(repo, TWENTY, &other), 0, "another change");
	ok(!str_eq(one, other), "has another");
	is_int(repo_patch_id(repo, root, &root_id), 0, "of a root commit");
	is_int(repo_patch_id(repo, m1, &merge_id), 0, "of a merge");
	{
		_cleanup_free_ char *p1 = NULL, *p2 = NULL, *rv = NULL, *rv2 = NULL, *no = NULL;
		_cleanup_free_ char *tree = NULL;
		_cleanup_error_ struct error err = ERROR_INIT;
		_cleanup_(commit_done) struct commit c = { 0 };

		is_int(repo_cherry_pick(repo, twenty, pnew, &err, &p1), 0, "pick: %s", error_text(&err));
		is_int(repo_cherry_pick(repo, twenty, pnew, &err, &p2), 0, "pick again");
		is_str(p1, p2, "the same commit");
		is_int(repo_commit(repo, p1, &err, &c), 0, "it is there");
		tree = sh("cd r; git rev-parse rebased^{tree}");
		is_str(c.tree_oid, tree, "with the tree that git makes");
		is_int(repo_revert(repo, twenty, rebased, &err, &rv), 0, "revert");
		is_int(repo_revert(repo, twenty, rebased, &err, &rv2), 0, "revert again");
		is_str(rv, rv2, "the same commit");
		is_int(repo_cherry_pick(repo, TWENTY, pbase, &err, &no), -EDOM, "a pick that conflicts");
		ok(strstr(error_text(&err), "does not apply on"), "in words: %s", error_text(&err));
		is_int(repo_revert(repo, twenty, TWENTY, &err, &no), -EDOM, "a revert that conflicts");
		ok(strstr(error_text(&err), "does not revert cleanly on"), "in words: %s", error_text(&err));
		is_int(repo_cherry_pick(repo, twenty, rebased, &err, &no), -EDOM, "a pick of what is there changes nothing");
		is_int(repo_cherry_pick(repo, nothing, pnew, &err, &no), -EDOM, "an empty commit changes nothing");
		is_int(repo_revert(repo, TWENTY, pbase, &err, &no), -EDOM, "a revert of what is not there");
		ok(!no, "nothing is given");
		is_int(repo_revert(repo, m1, m1, &err, &no), 0, "a merge is reverted against its first parent");
	}
}

static char *find_fix(struct repo *repo, const char *culprit, const char *hide, char **ret_ref)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	char *oid = NULL;
	int r = repo_find_fix(repo, culprit, hide, &err, &oid, ret_ref);

	return r < 0 ? strdup(error_text(&err)) : r == 0 ? strdup("none") : oid;
}

static void test_fixes(void)
{
	_cleanup_(repo_closep) struct repo *repo = NULL;
	_cleanup_free_ char *ref = NULL, *ref2 = NULL, *none_ref = NULL;

	SH("cd r; g checkout -q -B fbase base; commit 'culprit' c 1\n"
	   "printf 'mm: a long subject of a culprit\\n' >msg; echo 2 >c; g add c; g commit -qF msg; g tag long\n"
	   "echo 3 >c; g commit -qam 'mm: only talked about'; g tag talk\n"
	   "id=$(git rev-parse culprit); ab=$(git rev-parse --short=12 long)\n"
	   "g checkout -q -b fixes; echo 4 >c; g commit -qam \"$(printf 'mm: fix it\\n\\nFixes: %s (\"culprit\")\\n' $id)\"; g tag byid\n"
	   "g checkout -q -b fixes2 byid; echo 5 >c; g commit -qam \"$(printf 'mm: fix\\n\\nfixes:  %s (\"whatever\")\\n' $ab)\"; g tag byshort\n"
	   "g checkout -q --orphan other; echo 1 >c; g add c; g commit -qF msg; g tag longcopy\n"
	   "g checkout -q talk; g commit -q --allow-empty -m \"$(printf 'x\\n\\nThis does not say Fixes: %s\\nFixes: 1234 (\"x\")\\n"
	   "Fixes: bogus\\nFixes:' $(git rev-parse talk))\"; g branch talker");
	repo = attach("m1.git", "r");
	{
		_cleanup_free_ char *culprit = resolve(repo, "culprit"), *lng = resolve(repo, "long"), *talk = resolve(repo, "talk");
		_cleanup_free_ char *byid = resolve(repo, "byid"), *byshort = resolve(repo, "byshort"), *copy = resolve(repo, "longcopy");
		_cleanup_free_ char *one = find_fix(repo, culprit, talk, &ref), *two = find_fix(repo, lng, talk, &ref2);
		_cleanup_free_ char *none = find_fix(repo, talk, culprit, &none_ref), *hidden = NULL, *subject = NULL;

		is_str(one, byid, "a fix by the whole id");
		is_str(ref, "refs/heads/fixes", "on its branch");
		is_str(two, byshort, "by an abbreviated id, in another spelling");
		is_str(none, "none", "talk and broken trailers are no fix");
		ok(!none_ref, "and no branch");
		hidden = find_fix(repo, culprit, byid, &none_ref);
		is_str(hidden, "none", "a fix that is in the tested history already");
		SH("cd r; g checkout -q -b bysubject talk; echo 8 >c; g commit -qam \"$(printf 'mm: fix copy\\n\\nFixes: 0123456789ab "
		   "(\"mm: a long subject of a culprit\")\\n')\"; g tag bysubject; g branch -qD fixes2 other; g tag -d byshort longcopy");
		subject = find_fix(repo, copy, talk, &none_ref);
		{
			OID(bysubject);

			is_str(subject, bysubject, "by the subject, under another id");
		}
	}
}

/* Not the dates of its objects: git, and libgit2, touch an object that they would have written. */
static void test_borrowing(void)
{
	_cleanup_free_ char *before = NULL, *after = NULL, *kept = NULL;
	static const char sums[] = "cd r; find . -type f -print0 | sort -z | xargs -0 sha256sum; find . -printf '%p %m\\n' | sort";

	SH("cd r; g checkout -qf main; g worktree add -q ../wt side; g clone -q --bare . '../bare one.git'; cd '../bare one.git'; g pack-refs --all; g gc -q\n"
	   "cd \"$T\"; g clone -q --shared --no-checkout r borrower; mkdir -p deep$T; g clone -q r deep$T/own; mkdir own; cd own; g init -q -b main .; commit ownone f 5");
	before = sh(sums);
	{
		_cleanup_(repo_closep) struct repo *repo = attach("m2.git", "r/../r"), *bare = NULL, *wt = NULL;

		(void)bare;
		(void)wt;
		ok(repo != NULL, "a path with .. in it");
	}
	{
		static const char *const places[] = { "r", "wt", "bare one.git", "borrower", "r/.git" };

		for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
			_cleanup_free_ char *mirror = str_format("own %zu.git", i);
			_cleanup_(repo_closep) struct repo *repo = attach(mirror, places[i]);
			_cleanup_free_ char *tip = resolve(repo, str_eq(places[i], "borrower") ? "origin/main" : "refs/tags/tip");
			_cleanup_free_ char *a = resolve(repo, "base"), *oid = NULL;
			_cleanup_error_ struct error err = ERROR_INIT;
			_cleanup_(graph_done) struct graph g = { 0 };

			if (!a)
				a = resolve(repo, "refs/tags/base");
			is_int(repo_range(repo, a, tip, &err, &g), 0, "%s: a range %s", places[i], error_text(&err));
			is_int(repo_revert(repo, tip, tip, &err, &oid), 0, "%s: a commit of ours", places[i]);
			is_int(repo_keep(repo, tip, &err), 0, "%s: keep: %s", places[i], error_text(&err));
			is_int(repo_keep(repo, oid, &err), 0, "%s: keep ours", places[i]);
			is_int(repo_keep(repo, oid, &err), 0, "%s: twice", places[i]);
		}
	}
	/* Two repositories of which one path ends in the other. */
	{
		_cleanup_free_ char *deep = str_format("deep%s/own", dir);
		_cleanup_(repo_closep) struct repo *first = attach("two.git", deep);
		_cleanup_(repo_closep) struct repo *repo = attach("two.git", "own");
		_cleanup_free_ char *oid = resolve(repo, "ownone");
		_cleanup_(commit_done) struct commit c = { 0 };

		is_int(repo_commit(repo, oid, NULL, &c), 0, "a path that is the end of another is borrowed, too");
		(void)first;
	}
	/* One that was borrowed from is gone. */
	{
		_cleanup_free_ char *gone = sh("g clone -q --bare r gone.git; echo gone.git");
		_cleanup_(repo_closep) struct repo *first = attach("three.git", gone), *repo = NULL;
		_cleanup_free_ char *oid = NULL;
		_cleanup_(commit_done) struct commit c = { 0 };

		first = repo_close(first);
		SH("rm -rf gone.git");
		repo = attach("three.git", "r");
		oid = resolve(repo, "tip");
		is_int(repo_commit(repo, oid, NULL, &c), 0, "a repository that is gone does not hide another");
	}
	kept = sh("cd 'own 0.git'; g gc -q --prune=now; git for-each-ref --format='%(refname)' | while read -r r; do git cat-file -t \"$r\"; done | sort | uniq -c | tr -s ' '");
	is_str(kept, " 2 commit", "what is kept survives gc in the mirror");
	after = sh(sums);
	if (!str_eq(before, after)) {
		_cleanup_free_ char *b = str_format("%s/before", dir), *a = str_format("%s/after", dir), *diff = NULL;

		(void)fs_write_atomic(b, before, strlen(before));
		(void)fs_write_atomic(a, after, strlen(after));
		diff = sh("diff before after || :");
		printf("# %s\n", diff);
	}
	ok(str_eq(after, before), "the user's repository is as it was, byte for byte");
}

/* The subject of the end of its series, "-" when it has none. */
static void is_series_end(struct repo *repo, const char *oid, const char *head, const char *want, const char *words, const char *what)
{
	_cleanup_free_ char *a = resolve(repo, oid), *b = resolve(repo, head), *end = NULL, *why = NULL, *expected = resolve(repo, want);
	_cleanup_error_ struct error err = ERROR_INIT;
	int r = repo_series_end(repo, a, b, &err, &end, &why);

	ok(r == (words != NULL) && (!words || (str_eq(end, expected) && strstr(why, words))), "%s", what);
	if (why)
		printf("# %s\n", why);
}

static void is_held(struct repo *repo, const char *head, const char *oid, int want, const char *what)
{
	_cleanup_free_ char *a = resolve(repo, head), *b = resolve(repo, oid);
	_cleanup_error_ struct error err = ERROR_INIT;

	is_int(repo_holds_patch(repo, a, b, &err), want, "%s", what);
}

static void test_series(void)
{
	_cleanup_(repo_closep) struct repo *repo = NULL;

	SH("g init -q -b main series; cd series\n"
	   /* patch NAME SECONDS AUTHOR [LINK] */
	   "patch() { echo $1 >$1; g add $1; GIT_AUTHOR_EMAIL=$3 GIT_AUTHOR_DATE=\"@$2 +0000\" GIT_COMMITTER_DATE=\"@$2 +0000\""
	   " g commit -q -m \"$1${4:+\n\nLink: $4}\"; g tag $1; }\n"
	   "patch root 1600000000 a@x; patch one 1600001000 a@x; patch two 1600001060 a@x; patch three 1600001500 a@x\n"
	   "patch other 1600001510 b@x; patch late 1600009000 b@x\n"
	   "l=https://lore.kernel.org/r/20200101.x-v2; patch l1 1600020000 a@x $l-1-abc@y; patch l2 1600090000 a@x $l-2-abc@y\n"
	   "patch l3 1600090001 a@x https://lore.kernel.org/r/20200202.z-v1-1-abc@y\n"
	   "g checkout -q -b copy root; patch before 1600100000 c@x; g cherry-pick one >/dev/null\n"
	   "g checkout -q -b changed root; echo 1 >>root; g add root; g commit -q -m one\n"
	   "g checkout -q -b fork two; patch f 1600001061 a@x; g checkout -q main; g merge -q --no-ff -m merged fork; g tag merged");
	repo = attach("series.git", "series");
	if (!repo)
		return;
	is_series_end(repo, "one", "late", "three", "no link says so", "one author within minutes: taken for a series, and said why");
	is_series_end(repo, "two", "late", "three", "1 patch later", "from its middle");
	is_series_end(repo, "three", "late", "three", NULL, "the last has no end behind it");
	is_series_end(repo, "other", "late", "late", NULL, "two hours later is no series");
	is_series_end(repo, "one", "two", "two", "1 patch later", "no further than the head");
	is_series_end(repo, "l1", "l3", "l2", "one thread", "numbered ids of one thread are, whatever the dates");
	is_series_end(repo, "l2", "l3", "l3", NULL, "ids of two threads are not, whatever the dates");
	is_series_end(repo, "two", "merged", "two", NULL, "where the history forks nobody can tell");
	is_series_end(repo, "merged", "merged", "merged", NULL, "a merge is no patch");
	is_held(repo, "late", "one", 1, "a branch with the commit holds it");
	is_held(repo, "copy", "one", 1, "so does one with a copy");
	is_held(repo, "copy", "two", 0, "without it: no");
	is_held(repo, "changed", "one", 0, "another patch of that subject: no");
	is_held(repo, "root", "one", 0, "a branch that is older: no");
}

static void test_no_repo(void)
{
	_cleanup_(repo_closep) struct repo *repo = NULL;
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_free_ char *empty = NULL, *sha256 = NULL, *path = NULL;

	is_int(repo_open_read_only("/nowhere", &err, &repo), -EINVAL, "no such folder");
	ok(strstr(error_text(&err), "no git repository at /nowhere"), "in words: %s", error_text(&err));
	empty = sh("mkdir empty; cd empty; pwd");
	is_int(repo_open_read_only(empty, &err, &repo), -EINVAL, "a folder that is none");
	sha256 = sh("g init -q --object-format=sha256 s256; cd s256; commit one f 1; pwd");
	is_int(repo_open_read_only(sha256, &err, &repo), -EINVAL, "a repository of SHA-256 ids");
	ok(strstr(error_text(&err), "objectformat"), "says why: %s", error_text(&err));
	path = sh("g init -q void; cd void; pwd");
	is_int(repo_open_read_only(path, &err, &repo), 0, "a repository without a commit");
	{
		char *oid = NULL;

		is_int(repo_resolve(repo, "HEAD", &err, &oid), -ENOENT, "has no HEAD: %s", error_text(&err));
	}
}

static bool has_hint(const struct graph *graph, const struct judge_hint *hints, size_t n, const char *reverted, const char *reverting)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(graph->oids[hints[i].reverted], reverted) && str_eq(graph->oids[hints[i].reverting], reverting))
			return true;
	return false;
}

/* Which messages say that they revert a commit of the range. */
static void test_hints(void)
{
	SH("mkdir hints && cd hints && g init -q -b m . && commit h0 f 0 && commit h1 f 1 && commit h2 f 2 && commit h1b f 3\n"
	   "g commit -q --allow-empty -m \"$(printf 'Revert \"h2\"\\n\\nThis reverts commit %s.' $(g rev-parse h2))\" && g tag by-id\n"
	   "g commit -q --allow-empty -m 'Revert \"h1\"' && g tag by-subject\n"
	   "g commit -q --allow-empty -m 'Revert \"h0\"' && g commit -q --allow-empty -m 'Revert \"\"'\n"
	   "g commit -q --allow-empty -m 'mm: This reverts commit deadbeef' && g tag end");
	_cleanup_(repo_closep) struct repo *repo = attach("hints.git", "hints");
	_cleanup_(graph_done) struct graph graph = { 0 };
	_cleanup_free_ struct judge_hint *hints = NULL;
	_cleanup_free_ char *good = sh("g -C hints rev-parse h0"), *bad = sh("g -C hints rev-parse end"), *one = sh("g -C hints rev-parse h1"),
			    *two = sh("g -C hints rev-parse h2"), *by_id = sh("g -C hints rev-parse by-id"),
			    *by_subject = sh("g -C hints rev-parse by-subject");
	size_t n = 0;

	is_int(repo_range(repo, good, bad, NULL, &graph), 0, "a range with reverts");
	is_int(hints_find(repo, &graph, &hints, &n), 0, "its messages are read");
	ok(has_hint(&graph, hints, n, two, by_id), "a revert that names the id");
	ok(has_hint(&graph, hints, n, one, by_subject), "one that quotes the subject");
	is_int((long)n, 2, "and no more: of good, of nothing, of too few digits");
}

int main(void)
{
	_cleanup_(fs_rm_rf_free) char *scratch = NULL;
	_cleanup_free_ char *real = NULL;

	if (fs_mkdtemp(NULL, "mmbisect-test", &scratch) < 0 || fs_realpath(scratch, &real) < 0)
		return 1;
	dir = real;
	test_range();
	test_dates();
	test_strange_commits();
	test_resolve();
	test_patches();
	test_fixes();
	test_borrowing();
	test_series();
	test_no_repo();
	test_hints();
	return done_testing();
}
