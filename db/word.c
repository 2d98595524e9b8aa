// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/word.h"

#include "db/query.h"

void word_done(struct word *w)
{
	free(w->state);
	free(w->reason);
	free(w->who);
	*w = (struct word){ 0 };
}

int db_word_add_finding(struct db *db, int64_t finding_id, const struct word *w)
{
	int changed = 0;
	int r = db_run(db, NULL, &changed,
		       "INSERT INTO word (finding_id, state, reason, who, at_ns) SELECT id, ?, ?, ?, ? FROM finding WHERE id = ?",
		       "sssii", w->state, w->reason, w->who, w->at_ns, finding_id);

	return r < 0 ? r : changed ? 0 : -ENOENT;
}

int db_word_add_tip(struct db *db, int64_t tip_id, const struct word *w)
{
	int changed = 0;
	int r = db_run(db, NULL, &changed,
		       "INSERT INTO word (tip_id, state, reason, who, at_ns) SELECT id, ?, ?, ?, ? FROM tip WHERE id = ?", "sssii",
		       w->state, w->reason, w->who, w->at_ns, tip_id);

	return r < 0 ? r : changed ? 0 : -ENOENT;
}

#define FINDINGS_OF                                                                                \
	"(SELECT x.finding_id FROM finding_search x JOIN search s ON s.id = x.search_id WHERE s.tree = ?1 AND s.bad = ?2)"

int db_word_add_findings_of(struct db *db, const char *tree, const char *bad, const struct word *w)
{
	int r = db_begin(db);

	if (r < 0)
		return r;
	r = db_run(db, NULL, NULL,
		   "INSERT INTO word (finding_id, state, reason, who, at_ns) SELECT id, ?3, ?4, ?5, ?6 FROM finding WHERE id IN " FINDINGS_OF,
		   "sssssi", tree, bad, w->state, w->reason, w->who, w->at_ns);
	if (r >= 0)
		r = db_run(db, NULL, NULL, "UPDATE mail SET state = 'failed', error = ?3 WHERE state = 'queued' AND finding_id IN " FINDINGS_OF,
			   "sss", tree, bad, w->state);
	return db_end(db, r);
}

static int read_word(struct db *db, sqlite3_stmt *q, int r, struct word *ret)
{
	struct word w = { 0 };

	if (r >= 0)
		r = db_step(db, q);
	if (r <= 0)
		return r;
	w.at_ns = sqlite3_column_int64(q, 3);
	if (db_column_dup(q, 0, &w.state) < 0 || db_column_dup(q, 1, &w.reason) < 0 || db_column_dup(q, 2, &w.who) < 0) {
		word_done(&w);
		return -ENOMEM;
	}
	*ret = w;
	return 1;
}

int db_word_of_finding(struct db *db, int64_t finding_id, struct word *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q, "SELECT state, reason, who, at_ns FROM word WHERE finding_id = ? ORDER BY id DESC LIMIT 1", "i",
			 finding_id);

	return read_word(db, q, r, ret);
}

int db_word_of_tip(struct db *db, const char *tree, const char *oid, struct word *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q,
			 "SELECT w.state, w.reason, w.who, w.at_ns FROM word w JOIN tip t ON t.id = w.tip_id"
			 " WHERE t.tree = ? AND t.oid = ? ORDER BY w.id DESC LIMIT 1",
			 "ss", tree, oid);

	return read_word(db, q, r, ret);
}
