// SPDX-License-Identifier: GPL-2.0-or-later
/* Jobs, runs and their levels, searches, findings and mails, refs and tips. */
#include "db/build.h"
#include "db/finding.h"
#include "db/job.h"
#include "db/query.h"
#include "db/run.h"
#include "db/search.h"
#include "db/tip.h"
#include "db/view.h"
#include "db/word.h"
#include "lib/fs.h"
#include "lib/str.h"
#include "tap.h"

static struct db *db;

static int add_job(const char *key, int priority, int64_t search)
{
	const struct job_new job = { .kind = "run", .key = key, .class = "exact", .spec = "{}", .oid = "1",
				     .search_id = search, .priority = priority };

	return db_job_add(db, &job, 1);
}

/* Keys of the jobs in a state, in their order. */
static char *jobs(const char *state)
{
	_cleanup_(job_list_done) struct job_list list = { 0 };
	_cleanup_str_ struct str s = STR_INIT;

	(void)db_job_list(db, state, &list);
	for (size_t i = 0; i < list.n; i++)
		(void)str_addf(&s, "%s%s", i ? " " : "", list.items[i].key);
	return str_take(&s);
}

static void is_jobs(const char *state, const char *want, const char *what)
{
	_cleanup_free_ char *got = jobs(state);

	is_str(got, want, "%s", what);
}

static int64_t id_of(const char *state, const char *key)
{
	_cleanup_(job_list_done) struct job_list list = { 0 };

	(void)db_job_list(db, state, &list);
	for (size_t i = 0; i < list.n; i++)
		if (str_eq(list.items[i].key, key))
			return list.items[i].id;
	return -1;
}

static void test_jobs(void)
{
	_cleanup_free_ char *error = NULL;
	int64_t id, n = -1;
	double seconds = 0;

	is_int(db_job_typical_seconds(db, "exact", &seconds), -ENOENT, "no job, no expectation");
	is_int(add_job("b", 5, 0), 1, "a job");
	is_int(add_job("b", 1, 0), 0, "one of the same key is not added");
	is_int(add_job("a", 5, 0), 1, "a second");
	is_int(add_job("urgent", 1, 0), 1, "an urgent one");
	is_jobs("queued", "urgent b a", "by priority, then by age");
	id = id_of("queued", "b");
	is_int(db_job_end(db, id, "done", NULL, 9), -ESTALE, "a job that is not leased does not end");
	is_int(db_job_lease(db, id, "me", 1000000000, 99), 0, "lease");
	is_int(db_job_lease(db, id, "you", 1000000000, 99), -ESTALE, "once");
	is_jobs("leased", "b", "it is leased");
	is_int(add_job("b", 1, 0), 0, "a leased one also keeps its key");
	is_int(db_job_retry(db, id, "no disk", 77), 0, "retry");
	is_jobs("queued", "urgent b a", "it is queued again");
	is_int(db_job_lease(db, id, "me", 1000000000, 99), 0, "leased again");
	is_int(db_job_release_all(db), 1, "a new process takes all leases back");
	is_int(db_job_release_all(db), 0, "of which there are none now");
	is_int(db_job_lease(db, id, "me", 1000000000, 99), 0, "leased for the third time");
	{
		_cleanup_(job_list_done) struct job_list list = { 0 };

		is_int(db_job_list(db, "leased", &list), 0, "list");
		is_int(list.n ? list.items[0].attempts : -1, 2, "an attempt that a kill ended does not count");
	}
	is_int(db_job_end(db, id, "done", NULL, 3000000000), 0, "end");
	is_int(db_job_end(db, id, "done", NULL, 3000000000), -ESTALE, "once");
	is_int(db_job_typical_seconds(db, "exact", &seconds), 0, "an expectation");
	is_near(seconds, 2, 1e-9, "from what was");
	is_int(add_job("b", 5, 0), 1, "the key is free again");
	is_int(add_job("b%", 5, 0), 1, "a job to be");
	is_int(db_job_cancel_prefix(db, "b%", 9), 0, "cancelled by its prefix, which is no pattern");
	is_jobs("cancelled", "b%", "no other is");
	is_int(db_job_unfinished(db, "", &n), 0, "unfinished");
	is_int(n, 3, "all");
	is_int(db_job_unfinished(db, "u", &n), 0, "by prefix");
	is_int(n, 1, "one");
	is_int(db_job_unfinished(db, "%", &n), 0, "a prefix is no pattern");
	is_int(n, 0, "none");
	id = id_of("queued", "b");
	(void)db_job_lease(db, id, "me", 1, 2);
	is_int(db_job_end(db, id, "failed", "broken", 500), 0, "a failure");
	is_int(db_job_failures(db, "b", 500, &n, &error), 0, "failures since then");
	is_int(n, 1, "one");
	is_str(error, "broken", "with its words");
	is_int(db_job_failures(db, "b", 501, &n, NULL), 0, "later");
	is_int(n, 0, "none");
	ok(db_job_lease(db, 12345, "me", 1, 2) == -ESTALE, "a job that does not exist");
	ok(db_job_add(db, &(struct job_new){ .kind = "cook", .key = "k", .class = "exact", .spec = "", .oid = "" }, 1) == -EEXIST,
	   "a kind that does not exist");
}

static int64_t leased_job(const char *key)
{
	int64_t id;

	(void)add_job(key, 1, 0);
	id = id_of("queued", key);
	(void)db_job_lease(db, id, "me", 1, 2);
	return id;
}

/* A run takes as many tenths of a second as its first value says. */
static int add_run(const char *key, const char *signature, const struct sample *samples, size_t n, const char *status)
{
	const struct run_new run = { .job_id = leased_job(key), .series = "S", .signature = signature, .oid = "1",
				     .status = status, .title = str_eq(status, "crashed") ? "BUG: x" : NULL, .nonce = key,
				     .seconds = n ? samples[0].value / 10 : 50, .samples = samples, .n_samples = n };

	return db_run_add(db, &run, 1);
}

static char *levels(const char *signature)
{
	_cleanup_(level_list_done) struct level_list list = { 0 };
	_cleanup_str_ struct str s = STR_INIT;

	(void)db_level_list(db, "S", signature, &list);
	for (size_t i = 0; i < list.n; i++)
		(void)str_addf(&s, "%s:%lld/%g/%g/%g/%s/%s/%s ", list.items[i].metric, (long long)list.items[i].n,
			       list.items[i].low, list.items[i].median, list.items[i].high, list.items[i].unit,
			       list.items[i].better, list.items[i].class);
	return str_take(&s);
}

static int64_t count(const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int64_t n = -1;

	if (sqlite3_prepare_v2(db->sqlite, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
		n = sqlite3_column_int64(stmt, 0);
	(void)sqlite3_finalize(stmt);
	return n;
}

static void test_runs(void)
{
	static const double values[] = { 5, 1, 4, 2, 3, 100 };
	static const struct series series = { "S", "text", "x86_64", "w", "exact", "m" };
	const struct sample twice[] = { { "m", "ns", "lower", "exact", 1 }, { "m", "ns", "lower", "exact", 2 } };
	const struct sample nan[] = { { "m", "ns", "lower", "exact", (double)NAN } };
	const struct sample odd[] = { { "m", "ns", "sideways", "exact", 1 } };
	_cleanup_free_ char *before = NULL, *again = NULL, *third = NULL, *title = NULL, *none = NULL;
	_cleanup_(values_done) struct values got = { 0 };
	struct run_counts counts = { 0 };
	double seconds = 0;

	is_int(db_series_put(db, &series), 0, "a series");
	is_int(db_series_put(db, &series), 0, "twice is fine");
	is_int(add_run("dup", "A", twice, 2, "ok"), -EEXIST, "a metric twice in a run");
	is_int(count("SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM sample) + (SELECT count(*) FROM level)"), 0,
	       "nothing of it is stored");
	is_int(add_run("nan", "A", nan, 1, "ok"), -EEXIST, "a value that is no number");
	is_int(add_run("odd", "A", odd, 1, "ok"), -EEXIST, "a direction that is none");
	is_int(count("SELECT count(*) FROM run"), 0, "nothing of them is stored");
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		const struct sample s[] = { { "m", "ns", "lower", "exact", values[i] }, { "k", "", "higher", "exact", 7 } };
		_cleanup_free_ char *key = str_format("run %zu", i);

		is_int(add_run(key, "A", s, 2, "ok"), 0, "run %zu", i);
		if (i == 4) {
			_cleanup_free_ char *five = levels("A");

			is_str(five, "k:5/7/7/7//higher/exact m:5/1/3/5/ns/lower/exact ", "an odd number has a middle");
		}
	}
	{
		const struct run_new again_run = { .job_id = id_of("leased", "run 0"), .series = "S", .signature = "A", .oid = "1",
						   .status = "ok", .nonce = "other" };

		is_int(db_run_add(db, &again_run, 1), -EEXIST, "a job has one run");
	}
	before = levels("A");
	is_str(before, "k:6/7/7/7//higher/exact m:6/1/3.5/100/ns/lower/exact ", "an even number has two");
	is_int(db_level_rebuild(db), 0, "rebuild");
	again = levels("A");
	is_str(again, before, "gives the same");
	is_int(sqlite3_exec(db->sqlite, "DELETE FROM level; INSERT INTO level VALUES ('S','A','zz',1,1,1,1,'','lower','exact')", NULL,
			    NULL, NULL),
	       SQLITE_OK, "wrong levels");
	is_int(db_level_rebuild(db), 0, "rebuild");
	third = levels("A");
	is_str(third, before, "mends them");
	is_int(db_run_values(db, "S", "A", "m", &got), 0, "values");
	ok(got.n == 6 && memcmp(got.items, values, sizeof(values)) == 0, "in the order they were measured");
	for (size_t i = 1; i < got.n; i++)
		ok(got.runs[i] > got.runs[i - 1], "value %zu is of a later run", i);
	is_int(db_run_typical_seconds(db, "none", &seconds), -ENOENT, "no run, no expectation");
	is_int(db_run_typical_seconds(db, "S", &seconds), 0, "an expectation of a run");
	is_near(seconds, 0.35, 1e-9, "by the median");
	is_int(add_run("crash", "A", NULL, 0, "crashed"), 0, "a crash");
	is_int(add_run("late", "A", NULL, 0, "timeout"), 0, "a timeout");
	is_int(add_run("other", "A", NULL, 0, "state-differs"), 0, "another end");
	is_int(add_run("elsewhere", "B", NULL, 0, "crashed"), 0, "another image");
	is_int(db_run_count(db, "S", "A", &counts), 0, "counts");
	ok(counts.ok == 6 && counts.crashed == 1 && counts.timeout == 1 && counts.other == 1 && counts.boot_failed == 0,
	   "of one image only");
	is_int(db_run_last_title(db, "S", "A", &title), 0, "title");
	is_str(title, "state-differs", "of the newest that was not ok");
	is_int(db_run_last_title(db, "S", "none", &none), 0, "of none");
	ok(!none, "there is none");
	is_int(db_run_add(db, &(struct run_new){ .job_id = 9999, .series = "S", .signature = "A", .oid = "1", .status = "ok",
						 .nonce = "x" },
			  1),
	       -EEXIST, "a run without a job");
}

static int add_log(int64_t id, const char *action, const char *oid, const char *reason, int64_t runs)
{
	const struct search_entry entry = { .action = (char *)(uintptr_t)action, .oid = (char *)(uintptr_t)oid,
					    .reason = (char *)(uintptr_t)reason, .phase = (char *)(uintptr_t) "search",
					    .runs = runs };

	return db_search_log(db, id, &entry, 1);
}

static void test_marks(int64_t id, int64_t other)
{
	_cleanup_(search_marks_done) struct search_marks marks = { 0 };

	is_int(db_search_marks(db, id, &marks), 0, "marks");
	is_int(marks.n, 0, "none yet");
	is_int(db_search_mark(db, id, "2", 17, 1), 1, "a mark");
	is_int(db_search_mark(db, id, "2", 17, 2), 0, "the same after a restart is none");
	is_int(db_search_mark(db, id, "1", 17, 2), 1, "of another commit");
	is_int(db_search_mark(db, id, "2", 23, 3), 1, "of another run");
	is_int(db_search_mark(db, other, "2", 17, 3), 1, "of another search");
	is_int(db_search_mark(db, 999, "2", 17, 3), -EEXIST, "but of one that there is");
	is_int(db_search_marks(db, id, &marks), 0, "marks");
	ok(marks.n == 3 && str_eq(marks.items[0].oid, "2") && marks.items[0].run_order == 17 &&
		   str_eq(marks.items[1].oid, "1") && marks.items[2].run_order == 23,
	   "in the order they were made");
}

static void test_searches(void)
{
	struct search q = { .tree = (char *)(uintptr_t) "t", .good = (char *)(uintptr_t) "1", .bad = (char *)(uintptr_t) "2",
			    .workload = (char *)(uintptr_t) "w", .arch = (char *)(uintptr_t) "x", .metric = (char *)(uintptr_t) "m",
			    .class = (char *)(uintptr_t) "exact" };
	_cleanup_(search_entries_done) struct search_entries entries = { 0 };
	_cleanup_(search_list_done) struct search_list list = { 0 }, unsettled = { 0 };
	_cleanup_(search_done) struct search got = { 0 };
	int64_t id = 0, same = 0, other = 0, unfinished = 0;
	struct job_cost cost = { 0 };

	is_int(db_search_get(db, 999, &got), -ENOENT, "no such search");
	is_int(db_search_add(db, &q, 5, &id), 1, "a search");
	q.max_runs = 40;
	is_int(db_search_add(db, &q, 6, &same), 0, "the same question");
	is_int(same, id, "is the same search");
	is_int(db_search_get(db, id, &got), 0, "which");
	is_int(got.max_runs, 40, "has a new budget");
	q.claim = 0.25;
	q.first_parent = true;
	is_int(db_search_add(db, &q, 7, &other), 1, "along first parents it is another");
	is_int(add_log(id, "measure", "1", "why", 0), 1, "a log entry");
	is_int(add_log(id, "measure", "1", "why", 0), 0, "the same again is none");
	is_int(add_log(id, "measure", "1", "why else", 0), 1, "another reason is one");
	is_int(add_log(id, "measure", "1", "why", 5), 1, "so is the same reason for more runs");
	is_int(add_log(id, "measure", "1", "why", 5), 0, "once");
	is_int(add_log(id, "end", NULL, "why", 0), 1, "one without a commit");
	is_int(add_log(id, "end", NULL, "why", 0), 0, "which is also told once");
	is_int(add_log(other, "end", NULL, "why", 0), 1, "but for each search");
	is_int(db_search_entries(db, id, &entries), 0, "entries");
	ok(entries.n == 4 && str_eq(entries.items[1].reason, "why else") && !entries.items[3].oid, "in order");
	ok(entries.items[2].runs == 5 && entries.items[3].runs == 0 && str_eq(entries.items[0].phase, "search"), "with all they say");
	test_marks(id, other);
	search_done(&got);
	is_int(db_search_get(db, other, &got), 0, "the other");
	is_near(got.claim, 0.25, 0, "knows why it was started");
	is_int(add_job("search job", 1, id), 1, "a job of the search");
	is_int(db_job_unfinished_search(db, id, &unfinished), 0, "unfinished");
	is_int(unfinished, 1, "one");
	is_int(add_job("other job", 1, other), 1, "and of the other");
	is_int(db_job_cancel_search(db, id, 5), 0, "cancel");
	ok(id_of("cancelled", "search job") > 0 && id_of("queued", "other job") > 0, "only its own");
	is_int(db_job_cost(db, id, &cost), 0, "cost");
	ok(cost.builds == 0 && cost.boots == 0, "nothing");
	is_int(db_search_set_verdict(db, id, "verifying", "culprit", "2"), 0, "verdict");
	is_int(db_search_end(db, id, "{}", 9), 0, "end");
	is_int(db_search_list(db, true, &list), 0, "open ones");
	ok(list.n == 1 && list.items[0].id == other, "the other");
	is_int(db_search_unsettled(db, &unsettled), 0, "unsettled ones");
	ok(unsettled.n == 1 && unsettled.items[0].id == id && str_eq(unsettled.items[0].culprit, "2"), "the first");
	is_int(unsettled.items[0].judged_run, count("SELECT max(id) FROM run"), "judged by the runs until then");
	is_int(db_search_set_verdict(db, other, "verifying", "set", NULL), 0, "a verdict of the other");
	is_int(db_search_set_verdict(db, other, "searching", NULL, NULL), 0, "taken back");
	search_done(&got);
	is_int(db_search_get(db, other, &got), 0, "it is searched again");
	is_int(got.judged_run, 0, "by all runs");
	is_int(db_search_settle(db, id), 0, "settle");
	search_list_done(&unsettled);
	is_int(db_search_unsettled(db, &unsettled), 0, "again");
	is_int(unsettled.n, 0, "none is left");
	ok(db_search_set_verdict(db, id, "done", "guilty", NULL) == -EEXIST, "a verdict that is none");
}

static void test_findings(void)
{
	const struct finding f = { .search_id = 1, .culprit = (char *)(uintptr_t) "2", .patch_id = (char *)(uintptr_t) "p",
				   .subject = (char *)(uintptr_t) "s", .report = (char *)(uintptr_t) "r" };
	struct mail m = { .message_id = (char *)(uintptr_t) "<a@b>", .sender = (char *)(uintptr_t) "a",
			  .recipients = (char *)(uintptr_t) "b", .message = (char *)(uintptr_t) "x\0y", .message_len = 3 };
	_cleanup_(mail_done) struct mail next = { 0 };
	int64_t id = 0, same = 0, n = 0, due = 0;

	is_int(db_finding_of_patch(db, "p", &id), 0, "no finding yet");
	is_int(db_finding_add(db, &f, 3, &id), 1, "a finding");
	is_int(db_finding_add(db, &f, 4, &same), 0, "once a search");
	is_int(same, id, "it is the same");
	is_int(db_finding_of_patch(db, "p", &same), 1, "found by its patch");
	m.finding_id = id;
	is_int(db_mail_add(db, &m, 5), 0, "its mail");
	is_int(db_mail_add(db, &m, 5), -EEXIST, "once");
	m.message_id = (char *)(uintptr_t) "<c@d>";
	is_int(db_mail_add(db, &m, 5), -EEXIST, "under any Message-ID");
	m.finding_id = 999;
	is_int(db_mail_add(db, &m, 5), -EEXIST, "no mail without a finding");
	is_int(db_mail_next(db, 10, &next), 1, "the next mail");
	ok(next.message_len == 3 && memcmp(next.message, "x\0y", 3) == 0, "byte for byte");
	is_int(db_mail_retry(db, next.id, "busy", 100), 0, "not taken");
	mail_done(&next);
	is_int(db_mail_next(db, 99, &next), 0, "not before its time");
	is_int(db_mail_queued(db, &n, &due), 0, "queued");
	ok(n == 1 && due == 100, "one, due then");
	is_int(db_mail_next(db, 100, &next), 1, "then");
	is_int(next.attempts, 1, "after one attempt");
	is_int(db_mail_sent(db, next.id, 101), 0, "sent");
	mail_done(&next);
	is_int(db_mail_next(db, 1000, &next), 0, "never again");
	is_int(db_mail_withdraw(db, id, "wrong"), 0, "what is sent cannot be withdrawn");
}

static void test_one_finding_a_patch(void)
{
	_cleanup_json_ json_t *rows = NULL;
	int64_t id = 0;

	is_int(db_finding_of_patch(db, "p", &id), 1, "a finding");
	is_int(db_finding_join(db, id, 1), 0, "its own search is known");
	is_int(db_finding_join(db, id, 2), 1, "another search ended in the same patch");
	is_int(db_finding_join(db, id, 2), 0, "once");
	is_int(db_view(db, VIEW_FINDING_SEARCHES, id, &rows), 0, "they are shown");
	is_int(json_array_size(rows), 2, "both");
	is_int(db_finding_join(db, 999, 1), 0, "a search has one finding");
	is_int(db_finding_join(db, 999, 3), -EEXIST, "no such finding");
}

static void test_words(void)
{
	struct word said = { 0 }, w = { .state = (char *)(uintptr_t) "known", .reason = (char *)(uintptr_t) "a trade-off",
					.who = (char *)(uintptr_t) "u", .at_ns = 7 };
	int64_t id = 0;

	is_int(db_finding_of_patch(db, "p", &id), 1, "a finding");
	is_int(db_word_of_finding(db, id, &said), 0, "nobody has said anything");
	is_int(db_word_add_finding(db, id, &w), 0, "a word");
	w.state = (char *)(uintptr_t) "accepted";
	is_int(db_word_add_finding(db, id, &w), 0, "another");
	is_int(db_word_of_finding(db, id, &said), 1, "the last");
	ok(str_eq(said.state, "accepted") && str_eq(said.reason, "a trade-off") && said.at_ns == 7, "counts");
	word_done(&said);
	w.state = (char *)(uintptr_t) "great";
	is_int(db_word_add_finding(db, id, &w), -EEXIST, "a word that is none");
	w.state = (char *)(uintptr_t) "wrong";
	is_int(db_word_add_finding(db, 999, &w), -ENOENT, "of no finding");
	is_int(db_word_add_tip(db, 999, &w), -ENOENT, "of no tip");
}

static void test_finding_and_mail_together(void)
{
	struct finding f = { .search_id = 2, .culprit = (char *)(uintptr_t) "2", .patch_id = (char *)(uintptr_t) "q",
			     .subject = (char *)(uintptr_t) "s", .report = (char *)(uintptr_t) "r" };
	const struct mail m = { .message_id = (char *)(uintptr_t) "<a@b>", .sender = (char *)(uintptr_t) "a",
				.recipients = (char *)(uintptr_t) "b", .message = (char *)(uintptr_t) "x", .message_len = 1 };
	struct mail mail = m;
	int64_t id = 0, found = 0;
	int r = db_begin(db);

	if (r >= 0)
		r = db_finding_add(db, &f, 3, &id);
	mail.finding_id = id;
	if (r >= 0)
		r = db_mail_add(db, &mail, 3); /* its Message-ID is taken */
	is_int(db_end(db, r), -EEXIST, "a finding whose mail cannot be stored");
	is_int(db_finding_of_patch(db, "q", &found), 0, "is not stored either");
}

static void test_refs(void)
{
	_cleanup_(tip_list_done) struct tip_list fresh = { 0 }, superseded = { 0 };
	_cleanup_(tip_done) struct tip accepted = { 0 };

	is_int(db_ref_known(db, "t", "refs/heads/m", NULL), 1, "a ref that never was is known to be gone");
	is_int(db_ref_seen(db, "t", "refs/heads/m", "1", true, 1), 1, "a ref");
	is_int(db_ref_seen(db, "t", "refs/heads/m", "1", true, 2), 0, "no news");
	is_int(db_ref_seen(db, "u", "refs/heads/m", "1", true, 2), 1, "another tree");
	is_int(db_ref_seen(db, "t", "refs/heads/side", "9", false, 2), 1, "one that is not watched");
	is_int(db_ref_seen(db, "t", "refs/heads/m", "2", true, 3), 1, "it moves");
	is_int(db_ref_seen(db, "t", "refs/heads/m", "1", true, 4), 1, "back (a forced push)");
	is_int(db_ref_seen(db, "t", "refs/heads/m", NULL, true, 5), 1, "it is gone");
	is_int(db_ref_seen(db, "t", "refs/heads/m", NULL, true, 6), 0, "once");
	is_int(db_tip_list(db, "new", &fresh), 0, "new tips");
	ok(fresh.n == 1 && str_eq(fresh.items[0].tree, "u"), "only of the ref that is there");
	is_int(db_tip_list(db, "superseded", &superseded), 0, "superseded");
	is_int(superseded.n, 3, "the three of the other, none of the one that is not watched");
	is_int(db_tip_accepted(db, "u", "refs/heads/m", &accepted), 0, "none accepted");
	is_int(db_tip_set(db, fresh.items[0].id, "accepted", "first level"), 0, "accept");
	is_int(db_tip_accepted(db, "u", "refs/heads/m", &accepted), 1, "one");
	is_str(accepted.oid, "1", "that one");
	ok(db_tip_set(db, 1, "lost", NULL) == -EEXIST, "a state that is none");
}

static void test_builds(void)
{
	struct build b = { .job_id = leased_job("build"), .oid = (char *)(uintptr_t) "1", .tree_oid = (char *)(uintptr_t) "T",
			   .arch = (char *)(uintptr_t) "x", .config = (char *)(uintptr_t) "c",
			   .toolchain = (char *)(uintptr_t) "clang", .status = (char *)(uintptr_t) "build-failed",
			   .error = (char *)(uintptr_t) "e" };
	struct build got = { 0 };
	double seconds = 0;
	char **const owned[] = { &got.oid,	 &got.tree_oid, &got.arch,	      &got.config, &got.toolchain, &got.status,
				 &got.signature, &got.kernel,	&got.unknown_options, &got.error };

	is_int(db_build_find(db, "T", "x", "c", "clang", 0, &got), 0, "no build yet");
	is_int(db_build_add(db, &b, 1), 0, "a build");
	is_int(db_build_add(db, &b, 1), -EEXIST, "one a job");
	is_int(db_build_find(db, "T", "x", "c", "gcc", 0, &got), 0, "another toolchain is another build");
	is_int(db_build_any(db, "x", &got), 0, "a failed one does not boot");
	is_int(db_build_typical_seconds(db, "x", &seconds), -ENOENT, "nor does it say how long one takes");
	b.job_id = leased_job("build 2");
	b.status = (char *)(uintptr_t) "ok";
	b.signature = (char *)(uintptr_t) "sig";
	b.seconds = 7;
	is_int(db_build_add(db, &b, 1), 0, "a second try");
	is_int(db_build_typical_seconds(db, "x", &seconds), 0, "which says");
	is_near(seconds, 7, 1e-9, "how long one takes");
	is_int(db_build_find(db, "T", "x", "c", "clang", 0, &got), 1, "found");
	is_str(got.signature, "sig", "the newest");
	is_int(got.layout, 0, "as the tree links itself");
	for (size_t i = 0; i < ARRAY_SIZE(owned); i++)
		(void)str_set(owned[i], NULL);
	struct build_trees trees = { 0 };

	is_int(db_build_trees(db, "x", &trees), 0, "all trees that were built");
	ok(trees.n == 1 && strcmp(trees.items[0], "T") == 0, "each once");
	build_trees_done(&trees);
	is_int(db_build_trees(db, "y", &trees), 0, "none of another arch");
	is_int((int)trees.n, 0, "none");
	build_trees_done(&trees);
	is_int(db_build_any(db, "x", &got), 1, "one that boots");
	for (size_t i = 0; i < ARRAY_SIZE(owned); i++)
		(void)str_set(owned[i], NULL);
	b.job_id = leased_job("build of a layout");
	b.status = (char *)(uintptr_t) "build-failed";
	b.layout = 2;
	is_int(db_build_find(db, "T", "x", "c", "clang", 2, &got), 0, "another layout is another build");
	is_int(db_build_add(db, &b, 1), 0, "it has not been built");
	is_int(db_build_find(db, "T", "x", "c", "clang", 2, &got), 1, "known");
	ok(got.layout == 2 && strcmp(got.status, "build-failed") == 0, "with its layout");
	for (size_t i = 0; i < ARRAY_SIZE(owned); i++)
		(void)str_set(owned[i], NULL);
	is_int(db_build_find(db, "T", "x", "c", "clang", 0, &got), 1, "the commit");
	is_str(got.status, "ok", "is not at fault");
	for (size_t i = 0; i < ARRAY_SIZE(owned); i++)
		(void)str_set(owned[i], NULL);
	b.job_id = leased_job("build 3");
	b.status = (char *)(uintptr_t) "infra";
	is_int(db_build_add(db, &b, 1), -EEXIST, "infra says nothing of a commit: not stored");
}

int main(void)
{
	_cleanup_(fs_rm_rf_free) char *dir = NULL;
	_cleanup_free_ char *path = NULL;

	if (fs_mkdtemp(NULL, "mmbisect-test", &dir) < 0)
		return 1;
	path = str_format("%s/test.db", dir);
	is_int(db_open(path, NULL, &db), 0, "open");
	test_jobs();
	test_runs();
	test_searches();
	test_findings();
	test_one_finding_a_patch();
	test_words();
	test_finding_and_mail_together();
	test_refs();
	test_builds();
	db = db_close(db);
	return done_testing();
}
