// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/run.h"

#include "db/query.h"

int db_series_put(struct db *db, const struct series *s)
{
	return db_run(db, NULL, NULL,
		      "INSERT INTO series (hash, text, arch, workload, class, machine) VALUES (?, ?, ?, ?, ?, ?)"
		      " ON CONFLICT DO NOTHING",
		      "ssssss", s->hash, s->text, s->arch, s->workload, s->class, s->machine);
}

void values_done(struct values *values)
{
	free(values->items);
	free(values->runs);
	*values = (struct values){ 0 };
}

static int values_add(struct values *values, double v, int64_t run)
{
	if (grow_array(&values->items, &values->capacity, values->n, sizeof(*values->items)) < 0 ||
	    grow_array(&values->runs, &values->runs_capacity, values->n, sizeof(*values->runs)) < 0)
		return -ENOMEM;
	values->items[values->n] = v;
	values->runs[values->n++] = run;
	return 0;
}

int db_run_values(struct db *db, const char *series, const char *signature, const char *metric, struct values *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	struct values values = { 0 };
	int r = db_query(db, &q,
			 "SELECT s.value, r.id FROM run r JOIN sample s ON s.run_id = r.id"
			 " WHERE r.series = ? AND r.signature = ? AND r.status = 'ok' AND s.metric = ? ORDER BY r.id",
			 "sss", series, signature, metric);

	while (r >= 0 && (r = db_step(db, q)) > 0)
		r = values_add(&values, sqlite3_column_double(q, 0), sqlite3_column_int64(q, 1));
	if (r < 0) {
		values_done(&values);
		return r;
	}
	*ret = values;
	return 0;
}

static int level_put(struct db *db, const char *series, const char *signature, const struct sample *s)
{
	/* The middle by SQL: element (n - 1) / 2 and n / 2 of the sorted values, averaged. */
	return db_run(db, NULL, NULL,
		      "INSERT OR REPLACE INTO level (series, signature, metric, n, median, low, high, unit, better, class)"
		      " WITH v AS (SELECT s.value AS value, row_number() OVER (ORDER BY s.value) - 1 AS at, count(*) OVER () AS n"
		      "  FROM run r JOIN sample s ON s.run_id = r.id"
		      "  WHERE r.series = ?1 AND r.signature = ?2 AND r.status = 'ok' AND s.metric = ?3)"
		      " SELECT ?1, ?2, ?3, max(n), avg(CASE WHEN at IN ((n - 1) / 2, n / 2) THEN value END), min(value),"
		      " max(value), ?4, ?5, ?6 FROM v HAVING count(*) > 0",
		      "ssssss", series, signature, s->metric, s->unit, s->better, s->class);
}

static int add_samples(struct db *db, int64_t id, const struct run_new *run)
{
	for (size_t i = 0; i < run->n_samples; i++) {
		const struct sample *s = &run->samples[i];
		int r = db_run(db, NULL, NULL,
			       "INSERT INTO sample (run_id, metric, value, unit, better, class) VALUES (?, ?, ?, ?, ?, ?)",
			       "isdsss", id, s->metric, s->value, s->unit, s->better, s->class);

		if (r >= 0)
			r = level_put(db, run->series, run->signature, s);
		if (r < 0)
			return r;
	}
	return 0;
}

int db_run_add(struct db *db, const struct run_new *run, uint64_t now_ns)
{
	int64_t id;
	int r = db_begin(db);

	if (r < 0)
		return r;
	r = db_run(db, &id, NULL,
		   "INSERT INTO run (job_id, series, signature, oid, status, title, error, nonce, seconds, boot_seconds, at_ns)"
		   " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		   "isssssssddi", run->job_id, run->series, run->signature, run->oid, run->status, run->title, run->error,
		   run->nonce, run->seconds, run->boot_seconds, (int64_t)now_ns);
	if (r >= 0)
		r = add_samples(db, id, run);
	return db_end(db, r);
}

int db_run_count(struct db *db, const char *series, const char *signature, struct run_counts *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q,
			 "SELECT count(*) FILTER (WHERE status = 'ok'), count(*) FILTER (WHERE status = 'boot-failed'),"
			 " count(*) FILTER (WHERE status = 'crashed'), count(*) FILTER (WHERE status = 'timeout'), count(*)"
			 " FROM run WHERE series = ? AND signature = ?",
			 "ss", series, signature);

	if (r >= 0)
		r = db_step(db, q);
	if (r < 0)
		return r;
	*ret = (struct run_counts){ .ok = sqlite3_column_int64(q, 0),
				    .boot_failed = sqlite3_column_int64(q, 1),
				    .crashed = sqlite3_column_int64(q, 2),
				    .timeout = sqlite3_column_int64(q, 3) };
	ret->other = sqlite3_column_int64(q, 4) - ret->ok - ret->boot_failed - ret->crashed - ret->timeout;
	return 0;
}

int db_run_count_until(struct db *db, const char *series, const char *signature, int64_t run_order, int64_t *ret)
{
	return db_int(db, ret, "SELECT count(*) FROM run WHERE series = ? AND signature = ? AND status = 'ok' AND id <= ?", "ssi",
		      series, signature, run_order);
}

int db_run_last_title(struct db *db, const char *series, const char *signature, char **ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q,
			 "SELECT coalesce(title, error, status) FROM run WHERE series = ? AND signature = ? AND status <> 'ok'"
			 " ORDER BY id DESC LIMIT 1",
			 "ss", series, signature);

	if (r >= 0)
		r = db_step(db, q);
	if (r <= 0)
		return r;
	return db_column_dup(q, 0, ret);
}

void endings_done(struct endings *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->items[i].status);
		free(list->items[i].text);
	}
	free(list->items);
	*list = (struct endings){ 0 };
}

int db_run_endings(struct db *db, const char *series, const char *signature, int64_t last_run, struct endings *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	_cleanup_(endings_done) struct endings list = { 0 };
	int r = db_query(db, &q,
			 "SELECT status, CASE WHEN status = 'ok' THEN '' ELSE coalesce(title, error, '') END AS text, count(*), max(job_id)"
			 " FROM run WHERE series = ?1 AND signature = ?2 AND (?3 = 0 OR id <= ?3) GROUP BY status, text ORDER BY min(id)",
			 "ssi", series, signature, last_run);

	while (r >= 0 && (r = db_step(db, q)) > 0) {
		struct ending *x;

		r = grow_array(&list.items, &list.capacity, list.n, sizeof(*list.items));
		if (r < 0)
			break;
		x = &list.items[list.n++];
		*x = (struct ending){ .runs = sqlite3_column_int64(q, 2), .job_id = sqlite3_column_int64(q, 3) };
		if (db_column_dup(q, 0, &x->status) < 0 || db_column_dup(q, 1, &x->text) < 0)
			r = -ENOMEM;
	}
	if (r < 0)
		return r;
	*ret = list;
	list = (struct endings){ 0 };
	return 0;
}

int db_series_of_search(struct db *db, int64_t search_id, char **ret_hash, char **ret_text)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q,
			 "SELECT e.hash, e.text FROM search s JOIN series e ON e.arch = s.arch AND e.workload = s.workload"
			 " AND e.class = s.class JOIN run r ON r.series = e.hash LEFT JOIN job j ON j.id = r.job_id"
			 " WHERE s.id = ? ORDER BY j.search_id IS s.id DESC, r.id DESC LIMIT 1",
			 "i", search_id);

	if (r >= 0)
		r = db_step(db, q);
	if (r <= 0)
		return r;
	if (db_column_dup(q, 0, ret_hash) < 0 || (ret_text && db_column_dup(q, 1, ret_text) < 0))
		return -ENOMEM;
	return 1;
}

int db_run_typical_seconds(struct db *db, const char *series, double *ret)
{
	return db_middle_seconds(db, ret,
				 DB_MIDDLE_SECONDS("SELECT seconds FROM run WHERE series = ? AND status = 'ok' ORDER BY id DESC LIMIT 64"),
				 series);
}

void level_list_done(struct level_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->items[i].metric);
		free(list->items[i].unit);
		free(list->items[i].better);
		free(list->items[i].class);
	}
	free(list->items);
	*list = (struct level_list){ 0 };
}

const struct level *level_list_find(const struct level_list *list, const char *metric)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->items[i].metric, metric) == 0)
			return &list->items[i];
	return NULL;
}

int db_level_list(struct db *db, const char *series, const char *signature, struct level_list *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	struct level_list list = { 0 };
	int r = db_query(db, &q,
			 "SELECT metric, unit, better, class, n, median, low, high FROM level"
			 " WHERE series = ? AND signature = ? ORDER BY metric",
			 "ss", series, signature);

	while (r >= 0 && (r = db_step(db, q)) > 0) {
		struct level *l;

		r = grow_array(&list.items, &list.capacity, list.n, sizeof(*list.items));
		if (r < 0)
			break;
		l = &list.items[list.n++];
		*l = (struct level){ .n = sqlite3_column_int64(q, 4),
				     .median = sqlite3_column_double(q, 5),
				     .low = sqlite3_column_double(q, 6),
				     .high = sqlite3_column_double(q, 7) };
		if (db_column_dup(q, 0, &l->metric) < 0 || db_column_dup(q, 1, &l->unit) < 0 ||
		    db_column_dup(q, 2, &l->better) < 0 || db_column_dup(q, 3, &l->class) < 0)
			r = -ENOMEM;
	}
	if (r < 0) {
		level_list_done(&list);
		return r;
	}
	*ret = list;
	return 0;
}

static int rebuild_levels(struct db *db)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_run(db, NULL, NULL, "DELETE FROM level", "");

	if (r < 0)
		return r;
	r = db_query(db, &q,
		     "SELECT DISTINCT r.series, r.signature, s.metric, s.unit, s.better, s.class"
		     " FROM run r JOIN sample s ON s.run_id = r.id",
		     "");
	while (r >= 0 && (r = db_step(db, q)) > 0) {
		const struct sample s = { .metric = (const char *)sqlite3_column_text(q, 2),
					  .unit = (const char *)sqlite3_column_text(q, 3),
					  .better = (const char *)sqlite3_column_text(q, 4),
					  .class = (const char *)sqlite3_column_text(q, 5) };

		r = level_put(db, (const char *)sqlite3_column_text(q, 0), (const char *)sqlite3_column_text(q, 1), &s);
	}
	return r;
}

int db_level_rebuild(struct db *db)
{
	int r = db_begin(db);

	if (r < 0)
		return r;
	return db_end(db, rebuild_levels(db));
}

int db_probe_add(struct db *db, const char *host, const char *arch, const char *accel, const char *reason, uint64_t now_ns)
{
	return db_run(db, NULL, NULL, "INSERT INTO probe (host, arch, accel, reason, at_ns) VALUES (?, ?, ?, ?, ?)", "ssssi",
		      host, arch, accel, reason, (int64_t)now_ns);
}

int db_probe_find(struct db *db, const char *host, const char *arch, char **ret_accel, char **ret_reason)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q, "SELECT accel, reason FROM probe WHERE host = ? AND arch = ? ORDER BY id DESC LIMIT 1", "ss",
			 host, arch);

	if (r >= 0)
		r = db_step(db, q);
	if (r <= 0)
		return r;
	if (db_column_dup(q, 0, ret_accel) < 0 || (ret_reason && db_column_dup(q, 1, ret_reason) < 0))
		return -ENOMEM;
	return 1;
}
