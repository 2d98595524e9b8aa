// SPDX-License-Identifier: GPL-2.0-or-later
/* The database handle: opening, one writer, transactions, append-only truth, kills and full disks. */
#include "db/db.h"

#include "db/job.h"
#include "db/query.h"
#include "db/run.h"
#include "db/search.h"
#include "db/tip.h"
#include "db/view.h"
#include "lib/fs.h"
#include "lib/str.h"
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

static char *dir;

static char *in_dir(const char *name)
{
	return str_format("%s/%s", dir, name);
}

/* Runs SQL behind the program's back. */
static int raw(const char *path, const char *sql)
{
	sqlite3 *db;
	int rc = sqlite3_open(path, &db);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	(void)sqlite3_close(db);
	return rc;
}

static int64_t count(struct db *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int64_t n = -1;

	if (sqlite3_prepare_v2(db->sqlite, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
		n = sqlite3_column_int64(stmt, 0);
	(void)sqlite3_finalize(stmt);
	return n;
}

static int add_job(struct db *db, const char *key)
{
	const struct job_new job = { .kind = "run", .key = key, .class = "exact", .spec = "{}", .oid = "1" };

	return db_job_add(db, &job, 1);
}

static void put_series(struct db *db)
{
	const struct series s = { .hash = "S", .text = "t", .arch = "x86_64", .workload = "w", .class = "exact", .machine = "m" };

	is_int(db_series_put(db, &s), 0, "a series");
}

static int add_run(struct db *db, int64_t job, const char *nonce)
{
	const struct sample samples[] = { { "a", "ns", "lower", "exact", 1 }, { "b", "ns", "lower", "exact", 2 } };
	const struct run_new run = { .job_id = job, .series = "S", .signature = "sig", .oid = "1", .status = "ok",
				     .nonce = nonce, .samples = samples, .n_samples = 2 };

	return db_run_add(db, &run, 1);
}

static void test_open(void)
{
	_cleanup_free_ char *path = in_dir("open.db"), *none = in_dir("none.db"), *lost = in_dir("no/folder.db");
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(db_closep) struct db *db = NULL, *again = NULL, *reader = NULL;
	int64_t version = 0;

	is_int(db_open_read_only(none, &err, &reader), -ENOENT, "a reader makes no file");
	ok(!fs_exists(none), "indeed");
	ok(db_open(lost, &err, &db) < 0, "a folder that is not there: %s", error_text(&err));
	is_int(db_open(path, &err, &db), 0, "a new file");
	is_int(db_view_schema(db, &version), 0, "has a schema");
	ok(version >= 1, "with a number");
	is_int(add_job(db, "k"), 1, "and takes rows");
	is_int(db_open(path, &err, &again), -EBUSY, "a second writer in the same process is refused");
	ok(strstr(error_text(&err), "in use by another mmbisect"), "in words: %s", error_text(&err));
	db = db_close(db);
	is_int(db_open(path, &err, &db), 0, "opened again");
	is_int(count(db, "SELECT count(*) FROM job"), 1, "what was there is there");
	ok(!db_close(NULL), "closing nothing");
}

static void test_second_process(void)
{
	_cleanup_free_ char *path = in_dir("second.db");
	_cleanup_(db_closep) struct db *db = NULL;
	int p[2], status = 0;
	char go;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		if (db_open(path, NULL, &db) < 0)
			_exit(1);
		(void)!write(p[1], "x", 1);
		(void)pause();
		_exit(0);
	}
	ok(read(p[0], &go, 1) == 1, "another process writes");
	is_int(db_open(path, NULL, &db), -EBUSY, "we are refused");
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, &status, 0);
	is_int(db_open(path, NULL, &db), 0, "until it is killed");
	(void)close(p[0]);
	(void)close(p[1]);
}

static void test_strange_files(void)
{
	_cleanup_free_ char *newer = in_dir("newer.db"), *text = in_dir("text.db"), *other = in_dir("other.db");
	_cleanup_free_ char *versioned = in_dir("versioned.db"), *before = NULL, *after = NULL, *empty = in_dir("empty.db");
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(db_closep) struct db *db = NULL;
	static const char words[] = "this is a letter to my aunt, and no database at all, however long one looks at it; really.\n";

	is_int(db_open(newer, &err, &db), 0, "a file");
	db = db_close(db);
	is_int(raw(newer, "PRAGMA user_version = 9999"), 0, "that a newer program has had");
	is_int(db_open(newer, &err, &db), -EUCLEAN, "is refused");
	ok(strstr(error_text(&err), "9999 is newer than this program"), "in words: %s", error_text(&err));
	(void)fs_write_atomic(text, words, sizeof(words) - 1);
	is_int(db_open(text, &err, &db), -EUCLEAN, "a file that is no database: %s", error_text(&err));
	is_int(fs_read(text, 1000, &after, NULL), 0, "is read");
	is_str(after, words, "and not touched");
	is_int(raw(other, "CREATE TABLE recipe (name TEXT)"), 0, "a database of another program");
	(void)fs_read(other, 1 << 20, &before, NULL);
	is_int(db_open(other, &err, &db), -EUCLEAN, "is refused");
	ok(strstr(error_text(&err), "another program"), "in words: %s", error_text(&err));
	is_int(raw(other, "CREATE TABLE search (name TEXT)"), 0, "and not touched: there is no table of ours in it");
	is_int(raw(versioned, "CREATE TABLE recipe (name TEXT); PRAGMA user_version = 1"), 0, "one that also numbers its schema");
	is_int(db_open(versioned, &err, &db), -EUCLEAN, "is refused");
	(void)fs_write_atomic(empty, "", 0);
	is_int(db_open(empty, &err, &db), 0, "an empty file is a new database");
}

/* What an older program has written is brought up to date, and nothing of it is lost. */
static void test_migrate(void)
{
	_cleanup_free_ char *path = in_dir("old.db"), *schema = NULL, *sql = NULL;
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(search_entries_done) struct search_entries entries = { 0 };
	_cleanup_(search_done) struct search search = { 0 };
	_cleanup_(db_closep) struct db *db = NULL;

	if (fs_read("db/schema/001.sql", 1 << 20, &schema, NULL) < 0) {
		skip("db/schema/001.sql cannot be read from here", "a database of schema 1");
		return;
	}
	sql = str_format("%s\n"
			 "INSERT INTO search (tree, good, bad, workload, arch, metric, class, created_ns)"
			 " VALUES ('t', '1', '2', 'w', 'x', 'm', 'exact', 1);"
			 "INSERT INTO search_log (search_id, at_ns, action, oid, reason) VALUES (1, 1, 'measure', '1', 'b');"
			 "PRAGMA user_version = 1",
			 schema);
	is_int(raw(path, sql), SQLITE_OK, "a database of schema 1");
	is_int(db_open(path, &err, &db), 0, "is opened: %s", error_text(&err));
	is_int(db_search_get(db, 1, &search), 0, "its search");
	ok(str_eq(search.metric, "m") && fpclassify(search.claim) == FP_ZERO && search.max_runs == 0, "has what is new, at its default");
	is_int(db_search_entries(db, 1, &entries), 0, "its log");
	ok(entries.n == 1 && str_eq(entries.items[0].reason, "b") && !entries.items[0].phase && entries.items[0].runs == 0, "too");
	is_int(db_search_mark(db, 1, "1", 1, 1), 1, "and it takes marks");
}

static void test_read_only(void)
{
	_cleanup_free_ char *path = in_dir("ro.db");
	_cleanup_(db_closep) struct db *db = NULL, *reader = NULL;
	int64_t one = 0, two = 0;

	is_int(db_open(path, NULL, &db), 0, "a writer");
	is_int(db_open_read_only(path, NULL, &reader), 0, "and a reader");
	ok(add_job(reader, "k") < 0, "the reader cannot write");
	ok(db_begin(reader) < 0 || db_end(reader, 0) < 0, "nor begin to");
	is_int(db_data_version(reader, &one), 0, "the version");
	is_int(add_job(db, "k"), 1, "the writer writes");
	is_int(db_data_version(reader, &two), 0, "the version again");
	ok(one != two, "the reader sees that something changed");
	is_int(count(reader, "SELECT count(*) FROM job"), 1, "and what");
	is_int(db_begin(db), 0, "in the middle of a transaction");
	is_int(add_job(db, "k2"), 1, "of the writer");
	is_int(count(reader, "SELECT count(*) FROM job"), 1, "the reader sees the state before it");
	is_int(db_end(db, 0), 0, "and is never waited for");
}

static void test_transactions(void)
{
	_cleanup_free_ char *path = in_dir("trans.db");
	_cleanup_(db_closep) struct db *db = NULL;

	is_int(db_open(path, NULL, &db), 0, "open");
	is_int(db_begin(db), 0, "outer");
	is_int(add_job(db, "a"), 1, "one");
	is_int(db_begin(db), 0, "inner");
	is_int(add_job(db, "b"), 1, "two");
	is_int(db_end(db, 0), 0, "inner ends");
	is_int(db_end(db, 5), 5, "outer ends and hands its number on");
	is_int(count(db, "SELECT count(*) FROM job"), 2, "both are there");
	(void)db_begin(db);
	(void)add_job(db, "c");
	is_int(db_end(db, -EDOM), -EDOM, "a failed one hands its error on");
	is_int(count(db, "SELECT count(*) FROM job"), 2, "and is gone");
	(void)db_begin(db);
	(void)add_job(db, "c");
	(void)db_begin(db);
	(void)add_job(db, "d");
	is_int(db_end(db, -EDOM), -EDOM, "an inner one fails");
	(void)add_job(db, "e");
	ok(db_end(db, 0) < 0, "the outer one cannot end well any more");
	is_int(count(db, "SELECT count(*) FROM job"), 2, "and nothing of it is left");
	is_int(db_begin(db), 0, "the next");
	is_int(add_job(db, "f"), 1, "is whole");
	is_int(db_end(db, 0), 0, "again");
	is_int(count(db, "SELECT count(*) FROM job"), 3, "indeed");
}

static void test_append_only(void)
{
	static const char *const tables[] = { "ref_event", "build", "run", "sample", "series", "search_log", "search_mark", "probe" };
	_cleanup_free_ char *path = in_dir("append.db");
	_cleanup_(db_closep) struct db *db = NULL;

	is_int(db_open(path, NULL, &db), 0, "open");
	put_series(db);
	(void)add_job(db, "a");
	is_int(add_run(db, 1, "n1"), 0, "a run");
	is_int(db_probe_add(db, "host", "x86_64", "tcg", "why", 1), 0, "a probe");
	is_int(db_ref_seen(db, "t", "refs/heads/x", "1", false, 1), 1, "a ref");
	is_int(sqlite3_exec(db->sqlite,
			    "INSERT INTO build (job_id, oid, tree_oid, arch, config, toolchain, status, seconds, cached, at_ns)"
			    " VALUES (1, '1', '1', 'x', 'c', 't', 'ok', 1, 0, 1);"
			    "INSERT INTO search (tree, good, bad, workload, arch, metric, class, created_ns)"
			    " VALUES ('t', '1', '2', 'w', 'x', 'm', 'exact', 1);"
			    "INSERT INTO search_log (search_id, at_ns, action, reason) VALUES (1, 1, 'a', 'b');"
			    "INSERT INTO search_mark (search_id, oid, run_order, at_ns) VALUES (1, '1', 1, 1)",
			    NULL, NULL, NULL),
	       SQLITE_OK, "a build, a log entry and a mark");
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		_cleanup_free_ char *del = str_format("DELETE FROM %s", tables[i]);
		_cleanup_free_ char *upd = str_format("UPDATE %s SET %s = 'x'", tables[i],
						      str_eq(tables[i], "sample")	  ? "metric"
						      : str_eq(tables[i], "series")	  ? "text"
						      : str_eq(tables[i], "search_log") ? "reason"
						      : str_eq(tables[i], "ref_event")  ? "tree"
						      : str_eq(tables[i], "probe")	  ? "host"
											  : "oid");

		_cleanup_free_ char *replace = str_format("INSERT OR REPLACE INTO %s SELECT * FROM %s", tables[i], tables[i]);

		is_int(sqlite3_exec(db->sqlite, del, NULL, NULL, NULL), SQLITE_CONSTRAINT_TRIGGER, "%s: nothing is deleted",
		       tables[i]);
		is_int(sqlite3_exec(db->sqlite, upd, NULL, NULL, NULL), SQLITE_CONSTRAINT_TRIGGER, "%s: nothing is changed",
		       tables[i]);
		ok(sqlite3_exec(db->sqlite, replace, NULL, NULL, NULL) != SQLITE_OK, "%s: nothing is replaced", tables[i]);
	}
	is_int(count(db, "SELECT count(*) FROM sample"), 2, "all is as it was");
}

/* A writer that is killed in the middle of a transaction, at several places. */
static void test_killed(void)
{
	_cleanup_free_ char *path = in_dir("killed.db");
	_cleanup_(db_closep) struct db *db = NULL;

	is_int(db_open(path, NULL, &db), 0, "open");
	put_series(db);
	db = db_close(db);
	for (int round = 0; round < 6; round++) {
		int p[2], status;
		char go;
		pid_t pid;

		if (pipe2(p, O_CLOEXEC) < 0)
			return;
		pid = fork();
		if (pid == 0) {
			if (db_open(path, NULL, &db) < 0)
				_exit(1);
			(void)sqlite3_exec(db->sqlite, "PRAGMA cache_size = 1", NULL, NULL, NULL); /* spill early */
			for (int i = 0;; i++) {
				_cleanup_free_ char *key = str_format("%d-%d", round, i);

				(void)db_begin(db);
				for (int k = 0; k < 1 + round * 40; k++) {
					_cleanup_free_ char *more = str_format("%s-%d", key, k);

					(void)add_job(db, more);
				}
				(void)add_run(db, sqlite3_last_insert_rowid(db->sqlite), key);
				if (i == round)
					(void)!write(p[1], "x", 1);
				if (i >= round && round % 2)
					(void)pause();
				(void)db_end(db, 0);
			}
		}
		ok(read(p[0], &go, 1) == 1, "round %d: a writer at work", round);
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, &status, 0);
		(void)close(p[0]);
		(void)close(p[1]);
		is_int(db_open(path, NULL, &db), 0, "killed; opened again");
		is_int(count(db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1, "whole");
		ok(count(db, "SELECT count(*) FROM sample") == 2 * count(db, "SELECT count(*) FROM run"),
		   "every run with both its samples");
		is_int(count(db, "SELECT count(*) FROM run r WHERE NOT EXISTS (SELECT 1 FROM job WHERE id = r.job_id)"), 0,
		       "and its job");
		db = db_close(db);
	}
}

static void test_full(void)
{
	_cleanup_free_ char *mnt = in_dir("mnt"), *path = in_dir("mnt/full.db"), *big = NULL;
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(db_closep) struct db *db = NULL;
	int64_t before = -1;
	int r = 0;

	(void)fs_mkdir_p(mnt, 0755);
	if (mount("tmpfs", mnt, "tmpfs", 0, "size=1m") < 0) {
		skip(strerror(errno), "a full disk needs a mount");
		return;
	}
	is_int(db_open(path, &err, &db), 0, "a database on a disk of 1 MiB: %s", error_text(&err));
	put_series(db);
	big = calloc(1, 20000);
	if (big)
		memset(big, 'x', 19999);
	for (int i = 0; i < 500 && r >= 0; i++) {
		_cleanup_free_ char *key = str_format("key %d", i), *nonce = str_format("n%d", i);
		const struct job_new job = { .kind = "run", .key = key, .class = "exact", .spec = big, .oid = "1" };

		before = count(db, "SELECT count(*) FROM job");
		r = db_begin(db);
		if (r < 0)
			break;
		r = db_job_add(db, &job, 1);
		if (r >= 0)
			r = add_run(db, sqlite3_last_insert_rowid(db->sqlite), nonce);
		r = db_end(db, r);
	}
	is_int(r, -ENOSPC, "the disk is full");
	ok(before > 3, "after some rows");
	is_int(count(db, "SELECT count(*) FROM job"), before, "nothing half is left");
	is_int(count(db, "SELECT count(*) FROM run"), before, "of the run");
	is_int(count(db, "SELECT count(*) FROM sample"), 2 * before, "nor of its samples");
	is_int(count(db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1, "whole");
	db = db_close(db);
	(void)mount("tmpfs", mnt, "tmpfs", MS_REMOUNT, "size=8m");
	is_int(db_open(path, &err, &db), 0, "with room again it opens: %s", error_text(&err));
	is_int(count(db, "SELECT count(*) FROM run"), before, "with all that was stored");
	is_int(add_job(db, "later"), 1, "and takes more");
	db = db_close(db);
	(void)umount(mnt);
}

static void test_full_at_start(void)
{
	_cleanup_free_ char *mnt = in_dir("mnt2"), *path = in_dir("mnt2/new.db");
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(db_closep) struct db *db = NULL;

	(void)fs_mkdir_p(mnt, 0755);
	if (mount("tmpfs", mnt, "tmpfs", 0, "size=16k") < 0) {
		skip(strerror(errno), "a full disk needs a mount");
		return;
	}
	is_int(db_open(path, &err, &db), -ENOSPC, "no room for the schema: %s", error_text(&err));
	(void)mount("tmpfs", mnt, "tmpfs", MS_REMOUNT, "size=8m");
	is_int(db_open(path, &err, &db), 0, "with room it is made: %s", error_text(&err));
	db = db_close(db);
	(void)umount(mnt);
}

int main(void)
{
	_cleanup_(fs_rm_rf_free) char *scratch = NULL;

	if (fs_mkdtemp(NULL, "mmbisect-test", &scratch) < 0)
		return 1;
	dir = scratch;
	test_open();
	test_second_process();
	test_strange_files();
	test_migrate();
	test_read_only();
	test_transactions();
	test_append_only();
	test_killed();
	test_full();
	test_full_at_start();
	return done_testing();
}
