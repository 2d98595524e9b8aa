// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/job.h"

#include "db/query.h"
#include "lib/clock.h"

static void job_done(struct job *job)
{
	free(job->kind);
	free(job->key);
	free(job->class);
	free(job->spec);
	free(job->oid);
	free(job->state);
	free(job->error);
}

void job_list_done(struct job_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		job_done(&list->items[i]);
	free(list->items);
	*list = (struct job_list){ 0 };
}

int db_job_add(struct db *db, const struct job_new *job, uint64_t now_ns)
{
	int changed = 0;
	int r = db_run(db, NULL, &changed,
		       "INSERT INTO job (kind, key, class, spec, oid, search_id, priority, created_ns)"
		       " SELECT ?1, ?2, ?3, ?4, ?5, nullif(?6, 0), ?7, ?8"
		       " WHERE NOT EXISTS (SELECT 1 FROM job WHERE key = ?2 AND state IN ('queued', 'leased'))",
		       "sssssiii", job->kind, job->key, job->class, job->spec, job->oid, job->search_id,
		       (int64_t)job->priority, (int64_t)now_ns);

	return r < 0 ? r : changed > 0;
}

static int read_job(sqlite3_stmt *q, struct job *job)
{
	*job = (struct job){ .id = sqlite3_column_int64(q, 0),
			     .search_id = sqlite3_column_int64(q, 8),
			     .attempts = sqlite3_column_int64(q, 9),
			     .not_before_ns = sqlite3_column_int64(q, 10),
			     .started_ns = sqlite3_column_int64(q, 11) };
	char **const fields[] = { &job->kind, &job->key, &job->class, &job->spec, &job->oid, &job->state, &job->error };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (db_column_dup(q, (int)i + 1, fields[i]) < 0) {
			job_done(job);
			return -ENOMEM;
		}
	return 0;
}

int db_job_list(struct db *db, const char *state, struct job_list *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	struct job_list list = { 0 };
	int r = db_query(db, &q,
			 "SELECT id, kind, key, class, spec, oid, state, error, search_id, attempts, not_before_ns, started_ns"
			 " FROM job WHERE state = ? ORDER BY priority, id",
			 "s", state);

	while (r >= 0 && (r = db_step(db, q)) > 0) {
		r = grow_array(&list.items, &list.capacity, list.n, sizeof(*list.items));
		if (r >= 0)
			r = read_job(q, &list.items[list.n]);
		if (r >= 0)
			list.n++;
	}
	if (r < 0) {
		job_list_done(&list);
		return r;
	}
	*ret = list;
	return 0;
}

int db_job_lease(struct db *db, int64_t id, const char *owner, uint64_t now_ns, uint64_t until_ns)
{
	int changed = 0;
	int r = db_run(db, NULL, &changed,
		       "UPDATE job SET state = 'leased', lease_owner = ?, started_ns = ?, lease_until_ns = ?,"
		       " attempts = attempts + 1 WHERE id = ? AND state = 'queued'",
		       "siii", owner, (int64_t)now_ns, (int64_t)until_ns, id);

	return r < 0 ? r : changed ? 0 : -ESTALE;
}

int db_job_renew(struct db *db, int64_t id, uint64_t until_ns)
{
	return db_run(db, NULL, NULL, "UPDATE job SET lease_until_ns = ? WHERE id = ? AND state = 'leased'", "ii",
		      (int64_t)until_ns, id);
}

int db_job_end(struct db *db, int64_t id, const char *state, const char *error, uint64_t now_ns)
{
	int changed = 0;
	int r = db_run(db, NULL, &changed,
		       "UPDATE job SET state = ?, error = ?, ended_ns = ?, lease_owner = NULL, lease_until_ns = NULL"
		       " WHERE id = ? AND state = 'leased'",
		       "ssii", state, error, (int64_t)now_ns, id);

	return r < 0 ? r : changed ? 0 : -ESTALE;
}

int db_job_retry(struct db *db, int64_t id, const char *error, uint64_t not_before_ns)
{
	return db_run(db, NULL, NULL,
		      "UPDATE job SET state = 'queued', error = ?, not_before_ns = ?, lease_owner = NULL,"
		      " lease_until_ns = NULL WHERE id = ? AND state = 'leased'",
		      "sii", error, (int64_t)not_before_ns, id);
}

int db_job_release_all(struct db *db)
{
	int changed = 0;
	int r = db_run(db, NULL, &changed,
		       "UPDATE job SET state = 'queued', lease_owner = NULL, lease_until_ns = NULL,"
		       " attempts = attempts - 1 WHERE state = 'leased'",
		       "");

	return r < 0 ? r : changed;
}

int db_job_cancel_search(struct db *db, int64_t search_id, uint64_t now_ns)
{
	return db_run(db, NULL, NULL,
		      "UPDATE job SET state = 'cancelled', ended_ns = ? WHERE search_id = ? AND state = 'queued'", "ii",
		      (int64_t)now_ns, search_id);
}

int db_job_failures(struct db *db, const char *key, uint64_t since_ns, int64_t *ret, char **ret_last_error)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q,
			 "SELECT count(*), max(id), error FROM job WHERE key = ? AND state = 'failed' AND ended_ns BETWEEN ? AND ?",
			 "sii", key, (int64_t)since_ns, (int64_t)now_wall_ns());

	if (r >= 0)
		r = db_step(db, q);
	if (r < 0)
		return r;
	if (ret_last_error) {
		r = db_column_dup(q, 2, ret_last_error);
		if (r < 0)
			return r;
	}
	*ret = sqlite3_column_int64(q, 0);
	return 0;
}

int db_job_unfinished(struct db *db, const char *prefix, int64_t *ret)
{
	return db_int(db, ret,
		      "SELECT count(*) FROM job WHERE state IN ('queued', 'leased') AND substr(key, 1, length(?1)) = ?1", "s",
		      prefix);
}

int db_job_unfinished_search(struct db *db, int64_t search_id, int64_t *ret)
{
	return db_int(db, ret, "SELECT count(*) FROM job WHERE state IN ('queued', 'leased') AND search_id = ?", "i", search_id);
}

int db_job_cancel_prefix(struct db *db, const char *prefix, uint64_t now_ns)
{
	return db_run(db, NULL, NULL,
		      "UPDATE job SET state = 'cancelled', ended_ns = ? WHERE state = 'queued' AND substr(key, 1, length(?2)) = ?2"
		      " AND NOT EXISTS (SELECT 1 FROM search s WHERE s.id = job.search_id AND s.metric = 'status')",
		      "is", (int64_t)now_ns, prefix);
}

int db_job_cost(struct db *db, int64_t search_id, struct job_cost *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q,
			 "SELECT count(b.id), coalesce(sum(b.cached), 0), count(r.id),"
			 " coalesce(sum(b.seconds), 0), coalesce(sum(r.seconds), 0)"
			 " FROM job j LEFT JOIN build b ON b.job_id = j.id LEFT JOIN run r ON r.job_id = j.id"
			 " WHERE j.search_id = ?",
			 "i", search_id);

	if (r >= 0)
		r = db_step(db, q);
	if (r < 0)
		return r;
	*ret = (struct job_cost){ .builds = sqlite3_column_int64(q, 0) - sqlite3_column_int64(q, 1),
				  .cached_builds = sqlite3_column_int64(q, 1),
				  .boots = sqlite3_column_int64(q, 2),
				  .build_seconds = sqlite3_column_double(q, 3),
				  .run_seconds = sqlite3_column_double(q, 4) };
	return 0;
}

int db_job_typical_seconds(struct db *db, const char *class, double *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q,
			 "SELECT count(*), avg(seconds) FROM (SELECT (ended_ns - started_ns) / 1e9 AS seconds FROM job"
			 " WHERE class = ? AND state = 'done' ORDER BY id DESC LIMIT 8)",
			 "s", class);

	if (r >= 0)
		r = db_step(db, q);
	if (r < 0)
		return r;
	if (sqlite3_column_int64(q, 0) == 0)
		return -ENOENT;
	*ret = sqlite3_column_double(q, 1);
	return 0;
}
