// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/tip.h"

#include "db/query.h"
#include "lib/conf.h"
#include "lib/str.h"

#define COLUMNS "id, tree, ref, oid, state, reason, at_ns"

void tip_done(struct tip *tip)
{
	free(tip->tree);
	free(tip->ref);
	free(tip->oid);
	free(tip->state);
	free(tip->reason);
	*tip = (struct tip){ 0 };
}

void tip_list_done(struct tip_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		tip_done(&list->items[i]);
	free(list->items);
	*list = (struct tip_list){ 0 };
}

static int read_tip(sqlite3_stmt *q, struct tip *tip)
{
	char **const fields[] = { &tip->tree, &tip->ref, &tip->oid, &tip->state, &tip->reason };

	*tip = (struct tip){ .id = sqlite3_column_int64(q, 0), .at_ns = sqlite3_column_int64(q, 6) };
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (db_column_dup(q, (int)i + 1, fields[i]) < 0) {
			tip_done(tip);
			return -ENOMEM;
		}
	return 0;
}

int db_ref_known(struct db *db, const char *tree, const char *ref, const char *oid)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q, "SELECT oid FROM ref_event WHERE tree = ? AND ref = ? ORDER BY id DESC LIMIT 1", "ss", tree,
			 ref);

	if (r >= 0)
		r = db_step(db, q);
	if (r <= 0)
		return r < 0 ? r : oid == NULL;
	return str_eq((const char *)sqlite3_column_text(q, 0), oid);
}

int db_ref_live(struct db *db, const char *tree, char ***ret, size_t *ret_n)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	char **list = calloc(1, sizeof(*list));
	size_t n = 0, capacity = 1;
	int r = list ? db_query(db, &q,
				"SELECT ref FROM ref_event WHERE oid IS NOT NULL AND id IN"
				" (SELECT max(id) FROM ref_event WHERE tree = ? GROUP BY ref)",
				"s", tree)
		     : -ENOMEM;

	while (r >= 0 && (r = db_step(db, q)) > 0) {
		r = grow_array(&list, &capacity, n + 1, sizeof(*list));
		if (r < 0)
			break;
		list[n] = list[n + 1] = NULL;
		r = db_column_dup(q, 0, &list[n]);
		if (r >= 0)
			n++;
	}
	if (r < 0) {
		strv_free(list);
		return r;
	}
	*ret = list;
	*ret_n = n;
	return 0;
}

int db_tip_any(struct db *db, const char *tree, const char *ref)
{
	int64_t n;
	int r = db_int(db, &n, "SELECT count(*) FROM tip WHERE tree = ? AND ref = ?", "ss", tree, ref);

	return r < 0 ? r : n > 0;
}

/* A new tip replaces one that still waits. */
static int add_tip(struct db *db, const char *tree, const char *ref, const char *oid, uint64_t now_ns)
{
	int r = db_run(db, NULL, NULL,
		       "UPDATE tip SET state = 'superseded', reason = 'a newer tip was pushed'"
		       " WHERE tree = ? AND ref = ? AND state = 'new'",
		       "ss", tree, ref);

	if (r >= 0 && oid)
		r = db_run(db, NULL, NULL, "INSERT INTO tip (tree, ref, oid, state, at_ns) VALUES (?, ?, ?, 'new', ?)", "sssi",
			   tree, ref, oid, (int64_t)now_ns);
	return r;
}

int db_ref_seen(struct db *db, const char *tree, const char *ref, const char *oid, bool watched, uint64_t now_ns)
{
	int known = db_ref_known(db, tree, ref, oid), any = watched && oid ? db_tip_any(db, tree, ref) : 1, r;

	if (known < 0 || any < 0)
		return MIN(known, any);
	if (known && any)
		return 0;
	r = db_begin(db);
	if (r < 0)
		return r;
	if (!known)
		r = db_run(db, NULL, NULL, "INSERT INTO ref_event (tree, ref, oid, at_ns) VALUES (?, ?, ?, ?)", "sssi", tree, ref,
			   oid, (int64_t)now_ns);
	if (r >= 0 && watched)
		r = add_tip(db, tree, ref, oid, now_ns);
	r = db_end(db, r);
	return r < 0 ? r : 1;
}

static int collect(struct db *db, sqlite3_stmt *q, int r, struct tip_list *ret)
{
	struct tip_list list = { 0 };

	while (r >= 0 && (r = db_step(db, q)) > 0) {
		r = grow_array(&list.items, &list.capacity, list.n, sizeof(*list.items));
		if (r >= 0)
			r = read_tip(q, &list.items[list.n]);
		if (r >= 0)
			list.n++;
	}
	if (r < 0) {
		tip_list_done(&list);
		return r;
	}
	*ret = list;
	return 0;
}

int db_ref_heads(struct db *db, struct tip_list *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q,
			 "SELECT 0, e.tree, e.ref, e.oid, '', '', e.at_ns FROM ref_event e WHERE e.oid IS NOT NULL"
			 " AND e.id IN (SELECT max(id) FROM ref_event GROUP BY tree, ref)"
			 " AND EXISTS (SELECT 1 FROM tip t WHERE t.tree = e.tree AND t.ref = e.ref) ORDER BY e.id",
			 "");

	return collect(db, q, r, ret);
}

int db_tip_list(struct db *db, const char *state, struct tip_list *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q, "SELECT " COLUMNS " FROM tip WHERE state = ? ORDER BY id", "s", state);

	return collect(db, q, r, ret);
}

int db_tip_find(struct db *db, const char *prefix, struct tip_list *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q, "SELECT " COLUMNS " FROM tip WHERE substr(oid, 1, length(?1)) = ?1 ORDER BY id LIMIT 100", "s",
			 prefix);

	return collect(db, q, r, ret);
}

int db_tip_history(struct db *db, const char *tree, const char *ref, struct tip_list *ret, size_t *ret_base)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int64_t base = 0;
	int r = db_query(db, &q,
			 "SELECT " COLUMNS " FROM (SELECT " COLUMNS " FROM tip WHERE tree = ? AND ref = ? AND state = 'accepted'"
			 " ORDER BY id DESC LIMIT 200) ORDER BY id",
			 "ss", tree, ref);

	r = collect(db, q, r, ret);
	if (r < 0)
		return r;
	r = db_int(db, &base,
		   "SELECT coalesce(max(t.id), 0) FROM tip t JOIN word w ON w.tip_id = t.id WHERE t.tree = ? AND t.ref = ?"
		   " AND w.state = 'accepted'",
		   "ss", tree, ref);
	*ret_base = 0;
	for (size_t i = 0; r >= 0 && i < ret->n; i++)
		if (ret->items[i].id <= base)
			*ret_base = i;
	if (r < 0)
		tip_list_done(ret);
	return r;
}

int db_tip_begin_runs(struct db *db, int64_t id, int64_t *ret_order)
{
	int r = db_run(db, NULL, NULL,
		       "UPDATE tip SET run_order = (SELECT coalesce(max(id), 0) FROM run) WHERE id = ? AND run_order IS NULL", "i",
		       id);

	return r < 0 ? r : db_int(db, ret_order, "SELECT run_order FROM tip WHERE id = ?", "i", id);
}

int db_tip_accepted(struct db *db, const char *tree, const char *ref, struct tip *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q,
			 "SELECT " COLUMNS " FROM tip WHERE tree = ? AND ref = ? AND state = 'accepted' ORDER BY id DESC LIMIT 1",
			 "ss", tree, ref);

	if (r >= 0)
		r = db_step(db, q);
	if (r <= 0)
		return r;
	r = read_tip(q, ret);
	return r < 0 ? r : 1;
}

int db_tip_set(struct db *db, int64_t id, const char *state, const char *reason)
{
	return db_run(db, NULL, NULL, "UPDATE tip SET state = ?, reason = ? WHERE id = ?", "ssi", state, reason, id);
}

int db_tip_searched(struct db *db, const char *tree, const char *ref)
{
	int64_t n;
	int r = db_int(db, &n, "SELECT count(*) FROM tip WHERE tree = ? AND ref = ? AND state = 'searched'", "ss", tree, ref);

	return r < 0 ? r : n > 0;
}

int db_tip_release(struct db *db)
{
	return db_run(db, NULL, NULL,
		      "UPDATE tip SET state = 'accepted', reason = 'its searches are over' WHERE state = 'searched' AND NOT EXISTS"
		      " (SELECT 1 FROM search s WHERE s.tree = tip.tree AND s.bad = tip.oid AND s.settled = 0)",
		      "");
}
