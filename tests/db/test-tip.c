// SPDX-License-Identifier: GPL-2.0-or-later
/* Tips: watched late, waiting for a search, released when it is over; a question that is over is asked anew. */
#include "db/search.h"
#include "db/tip.h"
#include "db/word.h"
#include "lib/fs.h"
#include "lib/str.h"
#include "tap.h"

#define REF "refs/heads/m"

static char a[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", b[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
static char text_tree[] = "t", workload[] = "w", arch[] = "x86_64", metric[] = "m", class[] = "exact";

static size_t count(struct db *db, const char *state)
{
	_cleanup_(tip_list_done) struct tip_list list = { 0 };

	return db_tip_list(db, state, &list) < 0 ? 999 : list.n;
}

static void test_watched_late(struct db *db)
{
	is_int(db_ref_seen(db, "t", REF, a, false, 1), 1, "a ref that is not watched is news once");
	is_int(db_ref_seen(db, "t", REF, a, false, 2), 0, "and then known");
	is_int(count(db, "new"), 0, "it makes no tip");
	is_int(db_ref_seen(db, "t", REF, a, true, 3), 1, "watched from now on, it is news again");
	is_int(count(db, "new"), 1, "and makes a tip without having moved");
	is_int(db_ref_seen(db, "t", REF, a, true, 4), 0, "once");
	is_int(db_ref_seen(db, "t", REF, b, true, 5), 1, "a push");
	is_int(count(db, "new"), 1, "replaces the tip that still waits");
	is_int(count(db, "superseded"), 1, "which is kept as superseded");
}

static void test_release(struct db *db)
{
	const struct search question = { .tree = text_tree, .good = a, .bad = b, .workload = workload, .arch = arch,
					 .metric = metric, .class = class };
	_cleanup_(tip_list_done) struct tip_list list = { 0 };
	int64_t first = 0, again = 0;

	is_int(db_tip_list(db, "new", &list), 0, "the tip");
	is_int(db_search_add(db, &question, 6, &first), 1, "a search for it");
	is_int(db_search_add(db, &question, 7, &again), 0, "while it is open the question is not asked twice");
	is_int(again, first, "it is the same");
	is_int(db_tip_set(db, list.items[0].id, "searched", "x"), 0, "the tip waits");
	is_int(db_tip_searched(db, "t", REF), 1, "and others behind it see that");
	is_int(db_tip_release(db), 0, "release");
	is_int(count(db, "searched"), 1, "not before the search is settled");
	is_int(db_search_end(db, first, "{}", 8), 0, "the search ends");
	is_int(db_tip_release(db), 0, "release");
	is_int(count(db, "searched"), 1, "not before finding and mail are made of it");
	is_int(db_search_settle(db, first), 0, "it is settled");
	is_int(db_tip_release(db), 0, "release");
	is_int(count(db, "accepted"), 1, "now its level is known");
	is_int(db_tip_searched(db, "t", REF), 0, "and nothing waits");
	is_int(db_search_add(db, &question, 9, &again), 1, "a question that is over is asked anew");
	ok(again != first, "as a search of its own");
}

static void test_history(struct db *db)
{
	const struct word w = { .state = (char *)(uintptr_t) "accepted", .reason = (char *)(uintptr_t) "r", .who = (char *)(uintptr_t) "u" };
	_cleanup_(tip_list_done) struct tip_list found = { 0 };
	struct tip_list list = { 0 };
	struct word said = { 0 };
	int64_t order = -1;
	size_t base = 9;

	is_int(db_ref_seen(db, "t", REF, a, true, 10), 1, "another tip");
	is_int(db_tip_find(db, "aaaaaaa", &found), 0, "found by the start of its id");
	is_int(found.n, 2, "with the older one of the same commit");
	is_int(db_tip_set(db, found.items[1].id, "accepted", "x"), 0, "accepted");
	is_int(db_tip_history(db, "t", REF, &list, &base), 0, "history");
	ok(list.n == 2 && str_eq(list.items[0].oid, b) && base == 0, "oldest first, no base line yet");
	tip_list_done(&list);
	is_int(db_word_of_tip(db, "t", a, &said), 0, "no word");
	is_int(db_word_add_tip(db, found.items[1].id, &w), 0, "a person accepts it");
	is_int(db_word_of_tip(db, "t", a, &said), 1, "a word");
	word_done(&said);
	is_int(db_tip_history(db, "t", REF, &list, &base), 0, "history");
	is_int(base, 1, "it is the base line");
	tip_list_done(&list);
	is_int(db_tip_begin_runs(db, found.items[1].id, &order), 0, "its runs begin");
	is_int(order, 0, "after none");
	is_int(db_tip_begin_runs(db, 999, &order), -ENOENT, "no such tip");
	is_int(db_tip_find(db, "%", &list), 0, "a pattern");
	is_int(list.n, 0, "is none");
}

int main(void)
{
	_cleanup_(fs_rm_rf_free) char *dir = NULL;
	_cleanup_free_ char *path = NULL;
	_cleanup_(db_closep) struct db *db = NULL;
	_cleanup_error_ struct error err = ERROR_INIT;

	if (fs_mkdtemp(NULL, "mmbisect-tip", &dir) < 0 || !(path = str_format("%s/x.db", dir)) || db_open(path, &err, &db) < 0) {
		printf("Bail out! %s\n", error_text(&err));
		return 1;
	}
	test_watched_late(db);
	test_release(db);
	test_history(db);
	return done_testing();
}
