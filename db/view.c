// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/view.h"

#include "db/query.h"
#include "lib/clock.h"

/* ?1 is the id, ?2 the most rows. */
#define CHANGE(document) "CASE WHEN json_valid(" document ") THEN json_extract(" document ", '$.change') END AS change_json"
#define MEMBER(document, key) "CASE WHEN json_valid(" document ") THEN json_extract(" document ", '$." key "') END"
#define SEARCH_COLUMNS                                                                             \
	"s.id, s.tree, s.ref, s.good, s.bad, s.workload, s.arch, s.metric, s.class, s.first_parent AS first_parent_flag,"  \
	" s.state, s.verdict, s.culprit, s.created_ns, s.ended_ns, (SELECT finding_id FROM finding_search WHERE search_id = s.id) AS finding"
#define LAST_WORD(column) "(SELECT w." column " FROM word w WHERE w.finding_id = f.id ORDER BY w.id DESC LIMIT 1)"
#define JOB_COLUMNS "id, kind, class, oid AS \"commit\", search_id AS search, state, attempts, started_ns, not_before_ns, error"

static const char *const statements[VIEW_MAX] = {
	[VIEW_COUNTS] =
		"SELECT (SELECT count(*) FROM finding) AS findings, (SELECT count(*) FROM search) AS searches,"
		" (SELECT count(*) FROM search WHERE state <> 'done') AS open_searches,"
		" (SELECT count(*) FROM mail WHERE state = 'queued') AS queued_mails"
		" WHERE ?1 IS NOT NULL AND ?2 IS NOT NULL",
	[VIEW_FINDINGS] =
		"SELECT f.id, f.search_id AS search, f.culprit, f.subject, f.fix, f.unproved, f.created_ns, s.tree, s.ref, s.workload, s.arch,"
		" s.metric, s.class, s.verdict, " CHANGE("s.document") ", " LAST_WORD("state") " AS word,"
		" (SELECT count(*) FROM finding_search WHERE finding_id = f.id) AS searches"
		" FROM finding f JOIN search s ON s.id = f.search_id WHERE ?1 IS NOT NULL ORDER BY f.id DESC LIMIT ?2",
	[VIEW_FINDING] =
		"SELECT f.id, f.search_id AS search, f.culprit, f.patch_id, f.subject, f.fix, f.unproved, f.report, f.created_ns, s.tree, s.ref,"
		" s.workload, s.arch, s.metric, s.class, s.verdict, s.document AS document_json, m.state AS mail, m.sent_ns AS mailed_ns,"
		" " LAST_WORD("state") " AS word"
		" FROM finding f JOIN search s ON s.id = f.search_id LEFT JOIN mail m ON m.finding_id = f.id"
		" WHERE f.id = ?1 LIMIT ?2",
	[VIEW_FINDING_SEARCHES] =
		"SELECT s.id, s.tree, s.ref, s.workload, s.arch, s.metric, s.class, s.verdict, s.ended_ns, " CHANGE("s.document")
		" FROM finding_search x JOIN search s ON s.id = x.search_id WHERE x.finding_id = ?1 ORDER BY s.id LIMIT ?2",
	[VIEW_FINDING_WORDS] =
		"SELECT state, reason, who, at_ns FROM word WHERE finding_id = ?1 ORDER BY id LIMIT ?2",
	[VIEW_SEARCHES] =
		"SELECT " SEARCH_COLUMNS ", " CHANGE("s.document") ", " MEMBER("s.document", "reason") " AS reason,"
		" (SELECT count(*) FROM job WHERE search_id = s.id AND state = 'leased') AS jobs_running,"
		" (SELECT count(*) FROM job WHERE search_id = s.id AND state = 'queued') AS jobs_queued,"
		" (SELECT count(*) FROM job WHERE search_id = s.id AND state IN ('done', 'failed')) AS jobs_ended"
		" FROM search s WHERE ?1 IS NOT NULL ORDER BY s.state = 'done', s.id DESC LIMIT ?2",
	[VIEW_SEARCH] =
		"SELECT " SEARCH_COLUMNS ", s.document AS document_json FROM search s WHERE s.id = ?1 LIMIT ?2",
	[VIEW_SEARCH_LOG] =
		"SELECT at_ns, action, \"commit\", reason, phase, runs FROM (SELECT *, oid AS \"commit\" FROM search_log"
		" WHERE search_id = ?1 ORDER BY id DESC LIMIT ?2) ORDER BY id",
	[VIEW_SEARCH_STEPS] =
		/* Every commit it asked for, in the order it came up; good and bad first: they are the anchors. */
		"WITH asked (oid, at) AS ("
		"  SELECT good, 0 FROM search WHERE id = ?1 UNION ALL SELECT bad, 1 FROM search WHERE id = ?1"
		"  UNION ALL SELECT oid, at_ns FROM search_log WHERE search_id = ?1 AND oid IS NOT NULL"
		"  UNION ALL SELECT oid, created_ns FROM job WHERE search_id = ?1),"
		" step (oid, at) AS (SELECT oid, min(at) FROM asked GROUP BY oid),"
		/* The newest result of each kind that fits the question. */
		" result (oid, at, build, run) AS (SELECT t.oid, t.at,"
		"  (SELECT max(b.id) FROM build b, search s WHERE s.id = ?1 AND b.oid = t.oid AND b.arch = s.arch),"
		"  (SELECT max(r.id) FROM run r JOIN series e ON e.hash = r.series JOIN search s ON s.id = ?1 AND e.arch = s.arch"
		"    AND e.workload = s.workload AND e.class = s.class WHERE r.oid = t.oid) FROM step t)"
		"SELECT x.oid AS \"commit\", x.oid = s.good AS is_good_flag, x.oid = s.bad AS is_bad_flag,"
		" b.status AS build, b.error AS build_error, b.seconds AS build_seconds, b.cached AS cached_flag,"
		" r.status AS run, coalesce(r.title, r.error) AS run_error, l.n, l.median, l.low, l.high, l.unit, l.better, l.class,"
		" (SELECT g.action FROM search_log g WHERE g.search_id = s.id AND g.oid = x.oid ORDER BY g.id DESC LIMIT 1) AS action,"
		" (SELECT g.reason FROM search_log g WHERE g.search_id = s.id AND g.oid = x.oid ORDER BY g.id DESC LIMIT 1) AS reason,"
		" EXISTS (SELECT 1 FROM job j WHERE j.search_id = s.id AND j.oid = x.oid AND j.state = 'leased') AS running_flag"
		" FROM result x JOIN search s ON s.id = ?1 LEFT JOIN build b ON b.id = x.build LEFT JOIN run r ON r.id = x.run"
		" LEFT JOIN level l ON l.series = r.series AND l.signature = r.signature AND l.metric = s.metric"
		" ORDER BY x.at LIMIT ?2",
	[VIEW_SEARCH_JOBS] =
		"SELECT " JOB_COLUMNS " FROM job WHERE search_id = ?1 AND state IN ('leased', 'queued')"
		" ORDER BY state = 'queued', priority, id LIMIT ?2",
	[VIEW_JOBS] =
		"SELECT " JOB_COLUMNS " FROM job WHERE ?1 IS NOT NULL AND state = 'leased' ORDER BY started_ns, id LIMIT ?2",
	[VIEW_QUEUE] =
		"SELECT class, count(*) AS n FROM job WHERE ?1 IS NOT NULL AND state = 'queued' GROUP BY class ORDER BY class LIMIT ?2",
	[VIEW_REFS] =
		"SELECT tree, ref, oid AS \"commit\", at_ns FROM ref_event WHERE ?1 IS NOT NULL"
		" AND id IN (SELECT max(id) FROM ref_event GROUP BY tree, ref) ORDER BY id DESC LIMIT ?2",
};

static json_t *time_value(sqlite3_stmt *q, int column)
{
	int64_t ns = sqlite3_column_int64(q, column);
	char text[32];

	return ns > 0 ? json_string(clock_iso8601((uint64_t)ns, text)) : json_null();
}

static json_t *flag_value(sqlite3_stmt *q, int column)
{
	return json_boolean(sqlite3_column_int(q, column));
}

static json_t *json_value(sqlite3_stmt *q, int column)
{
	const char *text = (const char *)sqlite3_column_text(q, column);
	json_t *value = text ? json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;

	return value ? value : json_null();
}

static json_t *plain_value(sqlite3_stmt *q, int column)
{
	switch (sqlite3_column_type(q, column)) {
	case SQLITE_INTEGER:
		return json_integer(sqlite3_column_int64(q, column));
	case SQLITE_FLOAT: {
		json_t *number = json_real(sqlite3_column_double(q, column)); /* NULL for infinity */

		return number ? number : json_null();
	}
	default:
		return json_bytes((const char *)sqlite3_column_text(q, column));
	}
}

static const struct {
	const char *suffix;
	json_t *(*value)(sqlite3_stmt *q, int column);
} conversions[] = { { "_ns", time_value }, { "_flag", flag_value }, { "_json", json_value }, { "", plain_value } };

static int add_column(json_t *row, sqlite3_stmt *q, int column)
{
	const char *name = sqlite3_column_name(q, column);
	_cleanup_free_ char *key = NULL;
	size_t i = 0;

	if (!name)
		return -ENOMEM;
	while (!str_ends(name, conversions[i].suffix))
		i++;
	key = strndup(name, strlen(name) - strlen(conversions[i].suffix));
	if (!key)
		return -ENOMEM;
	return json_object_set_new(row, key, conversions[i].value(q, column)) < 0 ? -ENOMEM : 0;
}

static int add_row(json_t *rows, sqlite3_stmt *q)
{
	_cleanup_json_ json_t *row = json_object();
	int r = row ? 0 : -ENOMEM;

	for (int i = 0; r >= 0 && i < sqlite3_column_count(q); i++)
		r = add_column(row, q, i);
	if (r < 0)
		return r;
	return json_array_append(rows, row) < 0 ? -ENOMEM : 0;
}

int db_view(struct db *db, enum view view, int64_t id, json_t **ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	_cleanup_json_ json_t *rows = json_array();
	int r;

	if (!rows)
		return -ENOMEM;
	r = db_query(db, &q, statements[view], "ii", id, (int64_t)VIEW_ROWS);
	while (r >= 0 && (r = db_step(db, q)) > 0)
		r = add_row(rows, q);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(rows);
	return 0;
}

int db_view_begin(struct db *db)
{
	return db_run(db, NULL, NULL, "BEGIN DEFERRED", "");
}

void db_view_end(struct db *db)
{
	(void)db_run(db, NULL, NULL, "COMMIT", "");
}

int db_view_schema(struct db *db, int64_t *ret)
{
	return db_int(db, ret, "PRAGMA user_version", "");
}
