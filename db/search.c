// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/search.h"

#include "db/query.h"
#include "lib/str.h"

#define COLUMNS                                                                                    \
	"id, tree, ref, good, bad, workload, arch, metric, class, state, verdict, culprit, document, first_parent,"  \
	" created_ns, ended_ns, claim, max_runs, judged_run, base, base_marks"

void search_done(struct search *s)
{
	char *const fields[] = { s->tree,   s->ref,   s->good,	  s->bad,     s->workload, s->arch,
				 s->metric, s->class, s->state, s->verdict, s->culprit,  s->document,
				 s->base };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		free(fields[i]);
	*s = (struct search){ 0 };
}

void search_list_done(struct search_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		search_done(&list->items[i]);
	free(list->items);
	*list = (struct search_list){ 0 };
}

static int read_search(sqlite3_stmt *q, struct search *s)
{
	char **const fields[] = { &s->tree,   &s->ref,	 &s->good,  &s->bad,	 &s->workload, &s->arch,
				  &s->metric, &s->class, &s->state, &s->verdict, &s->culprit,  &s->document };

	*s = (struct search){ .id = sqlite3_column_int64(q, 0),
			      .first_parent = sqlite3_column_int(q, 13) != 0,
			      .created_ns = sqlite3_column_int64(q, 14),
			      .ended_ns = sqlite3_column_int64(q, 15),
			      .claim = sqlite3_column_double(q, 16),
			      .max_runs = sqlite3_column_int64(q, 17),
			      .judged_run = sqlite3_column_int64(q, 18),
			      .base_marks = sqlite3_column_int64(q, 20) };
	int r = db_column_dup(q, 19, &s->base);

	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(fields); i++)
		r = db_column_dup(q, (int)i + 1, fields[i]);
	if (r < 0)
		search_done(s);
	return r < 0 ? -ENOMEM : 0;
}

int db_search_add(struct db *db, const struct search *s, uint64_t now_ns, int64_t *ret_id)
{
	int r = db_int(db, ret_id,
		       "SELECT id FROM search WHERE tree = ? AND good = ? AND bad = ? AND workload = ? AND arch = ?"
		       " AND metric = ? AND class = ? AND first_parent = ? AND state <> 'done' ORDER BY id DESC LIMIT 1",
		       "sssssssi", s->tree, s->good, s->bad, s->workload, s->arch, s->metric, s->class,
		       (int64_t)s->first_parent);

	if (r >= 0)
		return db_run(db, NULL, NULL, "UPDATE search SET max_runs = ?1 WHERE id = ?2 AND max_runs <> ?1", "ii", s->max_runs,
			      *ret_id);
	if (r != -ENOENT)
		return r;
	r = db_run(db, ret_id, NULL,
		   "INSERT INTO search (tree, ref, good, bad, workload, arch, metric, class, first_parent, created_ns, claim, max_runs)"
		   " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		   "ssssssssiidi", s->tree, s->ref, s->good, s->bad, s->workload, s->arch, s->metric, s->class,
		   (int64_t)s->first_parent, (int64_t)now_ns, s->claim, s->max_runs);
	return r < 0 ? r : 1;
}

int db_search_asked(struct db *db, const char *tree, const char *bad, const char *workload, const char *arch, const char *metric,
		    const char *class)
{
	int64_t n;
	int r = db_int(db, &n,
		       "SELECT count(*) FROM search WHERE tree = ? AND bad = ? AND workload = ? AND arch = ? AND metric = ?"
		       " AND class = ?",
		       "ssssss", tree, bad, workload, arch, metric, class);

	return r < 0 ? r : n > 0;
}

int db_search_get(struct db *db, int64_t id, struct search *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q, "SELECT " COLUMNS " FROM search WHERE id = ?", "i", id);

	if (r >= 0)
		r = db_step(db, q);
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	return read_search(q, ret);
}

static int collect(struct db *db, sqlite3_stmt *q, int r, struct search_list *ret)
{
	struct search_list list = { 0 };

	while (r >= 0 && (r = db_step(db, q)) > 0) {
		r = grow_array(&list.items, &list.capacity, list.n, sizeof(*list.items));
		if (r >= 0)
			r = read_search(q, &list.items[list.n]);
		if (r >= 0)
			list.n++;
	}
	if (r < 0) {
		search_list_done(&list);
		return r;
	}
	*ret = list;
	return 0;
}

int db_search_list(struct db *db, bool open, struct search_list *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q, "SELECT " COLUMNS " FROM search WHERE NOT ? OR state <> 'done' ORDER BY id", "i",
			 (int64_t)open);

	return collect(db, q, r, ret);
}

int db_search_unsettled(struct db *db, struct search_list *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q, "SELECT " COLUMNS " FROM search WHERE state = 'done' AND settled = 0 ORDER BY id", "");

	return collect(db, q, r, ret);
}

int db_search_settle(struct db *db, int64_t id)
{
	return db_run(db, NULL, NULL, "UPDATE search SET settled = 1 WHERE id = ?", "i", id);
}

int db_search_set_verdict(struct db *db, int64_t id, const char *state, const char *verdict, const char *culprit)
{
	return db_run(db, NULL, NULL,
		      "UPDATE search SET state = ?1, verdict = ?2, culprit = ?3, judged_run ="
		      " CASE WHEN ?1 <> 'searching' THEN (SELECT coalesce(max(id), 0) FROM run) END WHERE id = ?4",
		      "sssi", state, verdict, culprit, id);
}

int db_search_set_base(struct db *db, int64_t id, const char *base)
{
	return db_run(db, NULL, NULL,
		      "UPDATE search SET base = ?1, base_marks = (SELECT count(*) FROM search_mark WHERE search_id = ?2) WHERE id = ?2",
		      "si", base, id);
}

int db_search_end(struct db *db, int64_t id, const char *document, uint64_t now_ns)
{
	return db_run(db, NULL, NULL, "UPDATE search SET state = 'done', document = ?, ended_ns = ? WHERE id = ?", "sii",
		      document, (int64_t)now_ns, id);
}

int db_search_log(struct db *db, int64_t id, const struct search_entry *e, uint64_t now_ns)
{
	int changed = 0;
	int r = db_run(db, NULL, &changed,
		       "INSERT INTO search_log (search_id, at_ns, action, oid, reason, phase, runs, layout)"
		       " SELECT ?1, ?2, ?3, ?4, ?5, ?6, nullif(?7, 0), ?8"
		       " WHERE NOT EXISTS (SELECT 1 FROM search_log WHERE search_id = ?1 AND action = ?3 AND oid IS ?4"
		       " AND reason = ?5 AND phase IS ?6 AND runs IS nullif(?7, 0) AND layout = ?8)",
		       "iissssii", id, (int64_t)now_ns, e->action, e->oid, e->reason, e->phase, e->runs, e->layout);

	return r < 0 ? r : changed > 0;
}

void search_entries_done(struct search_entries *list)
{
	for (size_t i = 0; i < list->n; i++) {
		char *const fields[] = { list->items[i].action, list->items[i].oid, list->items[i].reason, list->items[i].phase };

		for (size_t k = 0; k < ARRAY_SIZE(fields); k++)
			free(fields[k]);
	}
	free(list->items);
	*list = (struct search_entries){ 0 };
}

int db_search_entries(struct db *db, int64_t id, struct search_entries *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	struct search_entries list = { 0 };
	int r = db_query(db, &q,
			 "SELECT action, oid, reason, phase, runs, at_ns, layout FROM search_log WHERE search_id = ? ORDER BY id", "i", id);

	while (r >= 0 && (r = db_step(db, q)) > 0) {
		struct search_entry *e;

		r = grow_array(&list.items, &list.capacity, list.n, sizeof(*list.items));
		if (r < 0)
			break;
		e = &list.items[list.n++];
		*e = (struct search_entry){ .runs = sqlite3_column_int64(q, 4), .at_ns = sqlite3_column_int64(q, 5),
					   .layout = sqlite3_column_int64(q, 6) };
		if (db_column_dup(q, 0, &e->action) < 0 || db_column_dup(q, 1, &e->oid) < 0 ||
		    db_column_dup(q, 2, &e->reason) < 0 || db_column_dup(q, 3, &e->phase) < 0)
			r = -ENOMEM;
	}
	if (r < 0) {
		search_entries_done(&list);
		return r;
	}
	*ret = list;
	return 0;
}

void search_marks_done(struct search_marks *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->items[i].oid);
	free(list->items);
	*list = (struct search_marks){ 0 };
}

int db_search_mark(struct db *db, int64_t id, const char *oid, int64_t run_order, uint64_t now_ns)
{
	int changed = 0;
	int r = db_run(db, NULL, &changed,
		       "INSERT INTO search_mark (search_id, oid, run_order, at_ns) SELECT ?1, ?2, ?3, ?4"
		       " WHERE NOT EXISTS (SELECT 1 FROM search_mark WHERE search_id = ?1 AND oid = ?2 AND run_order = ?3)",
		       "isii", id, oid, run_order, (int64_t)now_ns);

	return r < 0 ? r : changed > 0;
}

int db_search_marks(struct db *db, int64_t id, struct search_marks *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	struct search_marks list = { 0 };
	int r = db_query(db, &q, "SELECT oid, run_order FROM search_mark WHERE search_id = ? ORDER BY id", "i", id);

	while (r >= 0 && (r = db_step(db, q)) > 0) {
		r = grow_array(&list.items, &list.capacity, list.n, sizeof(*list.items));
		if (r < 0)
			break;
		list.items[list.n] = (struct search_mark){ .run_order = sqlite3_column_int64(q, 1) };
		r = db_column_dup(q, 0, &list.items[list.n++].oid);
	}
	if (r < 0) {
		search_marks_done(&list);
		return r;
	}
	*ret = list;
	return 0;
}
