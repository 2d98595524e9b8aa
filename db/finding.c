// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/finding.h"

#include "db/query.h"

#define COLUMNS "id, search_id, culprit, patch_id, subject, fix, report, unproved, created_ns"

void finding_done(struct finding *f)
{
	free(f->culprit);
	free(f->patch_id);
	free(f->subject);
	free(f->fix);
	free(f->report);
	free(f->unproved);
	*f = (struct finding){ 0 };
}

void finding_list_done(struct finding_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		finding_done(&list->items[i]);
	free(list->items);
	*list = (struct finding_list){ 0 };
}

void mail_done(struct mail *m)
{
	free(m->message_id);
	free(m->sender);
	free(m->recipients);
	free(m->message);
	*m = (struct mail){ 0 };
}

int db_finding_add(struct db *db, const struct finding *f, uint64_t now_ns, int64_t *ret_id)
{
	int r = db_int(db, ret_id, "SELECT finding_id FROM finding_search WHERE search_id = ?", "i", f->search_id);

	if (r != -ENOENT)
		return r;
	r = db_begin(db);
	if (r < 0)
		return r;
	r = db_run(db, ret_id, NULL,
		   "INSERT INTO finding (search_id, culprit, patch_id, subject, fix, report, unproved, created_ns)"
		   " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		   "issssssi", f->search_id, f->culprit, f->patch_id, f->subject, f->fix, f->report, f->unproved, (int64_t)now_ns);
	if (r >= 0)
		r = db_finding_join(db, *ret_id, f->search_id);
	r = db_end(db, r);
	return r < 0 ? r : 1;
}

int db_finding_join(struct db *db, int64_t finding_id, int64_t search_id)
{
	int changed = 0;
	int r = db_run(db, NULL, &changed, "INSERT INTO finding_search (search_id, finding_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
		       "ii", search_id, finding_id);

	return r < 0 ? r : changed > 0;
}

int db_finding_prove(struct db *db, int64_t finding_id, const struct finding *f)
{
	int changed = 0;
	int r = db_run(db, NULL, &changed,
		       "UPDATE finding SET unproved = NULL, search_id = ?, culprit = ?, subject = ?, fix = ?, report = ?"
		       " WHERE id = ? AND unproved IS NOT NULL",
		       "issssi", f->search_id, f->culprit, f->subject, f->fix, f->report, finding_id);

	return r < 0 ? r : changed > 0;
}

static int read_finding(sqlite3_stmt *q, struct finding *f)
{
	char **const fields[] = { &f->culprit, &f->patch_id, &f->subject, &f->fix, &f->report, &f->unproved };

	*f = (struct finding){ .id = sqlite3_column_int64(q, 0),
			       .search_id = sqlite3_column_int64(q, 1),
			       .created_ns = sqlite3_column_int64(q, 8) };
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (db_column_dup(q, (int)i + 2, fields[i]) < 0) {
			finding_done(f);
			return -ENOMEM;
		}
	return 0;
}

int db_finding_list(struct db *db, struct finding_list *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	struct finding_list list = { 0 };
	int r = db_query(db, &q, "SELECT " COLUMNS " FROM finding ORDER BY id DESC", "");

	while (r >= 0 && (r = db_step(db, q)) > 0) {
		r = grow_array(&list.items, &list.capacity, list.n, sizeof(*list.items));
		if (r >= 0)
			r = read_finding(q, &list.items[list.n]);
		if (r >= 0)
			list.n++;
	}
	if (r < 0) {
		finding_list_done(&list);
		return r;
	}
	*ret = list;
	return 0;
}

int db_finding_get(struct db *db, int64_t id, struct finding *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q, "SELECT " COLUMNS " FROM finding WHERE id = ?", "i", id);

	if (r >= 0)
		r = db_step(db, q);
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	return read_finding(q, ret);
}

int db_finding_of_patch(struct db *db, const char *patch_id, int64_t *ret_id)
{
	int r = db_int(db, ret_id, "SELECT id FROM finding WHERE patch_id = ? ORDER BY id LIMIT 1", "s", patch_id);

	return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

int db_mail_add(struct db *db, const struct mail *m, uint64_t now_ns)
{
	return db_run(db, NULL, NULL,
		      "INSERT INTO mail (finding_id, message_id, sender, recipients, message, created_ns)"
		      " VALUES (?, ?, ?, ?, ?, ?)",
		      "isssbi", m->finding_id, m->message_id, m->sender, m->recipients, (const void *)m->message,
		      m->message_len, (int64_t)now_ns);
}

int db_mail_next(struct db *db, uint64_t now_ns, struct mail *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	struct mail m = { 0 };
	int r = db_query(db, &q,
			 "SELECT id, finding_id, attempts, message_id, sender, recipients, message FROM mail"
			 /* further away than any pause: written before the clock was set back */
			 " WHERE state = 'queued' AND (next_ns <= ?1 OR next_ns > ?1 + 7200000000000) ORDER BY id LIMIT 1",
			 "i", (int64_t)now_ns);

	if (r >= 0)
		r = db_step(db, q);
	if (r <= 0)
		return r;
	m.id = sqlite3_column_int64(q, 0);
	m.finding_id = sqlite3_column_int64(q, 1);
	m.attempts = sqlite3_column_int64(q, 2);
	m.message_len = (size_t)sqlite3_column_bytes(q, 6);
	m.message = calloc(1, m.message_len + 1);
	if (!m.message || db_column_dup(q, 3, &m.message_id) < 0 || db_column_dup(q, 4, &m.sender) < 0 ||
	    db_column_dup(q, 5, &m.recipients) < 0) {
		mail_done(&m);
		return -ENOMEM;
	}
	if (m.message_len)
		memcpy(m.message, sqlite3_column_blob(q, 6), m.message_len);
	*ret = m;
	return 1;
}

int db_mail_sent(struct db *db, int64_t id, uint64_t now_ns)
{
	return db_run(db, NULL, NULL,
		      "UPDATE mail SET state = 'sent', attempts = attempts + 1, error = NULL, sent_ns = ? WHERE id = ?", "ii",
		      (int64_t)now_ns, id);
}

int db_mail_retry(struct db *db, int64_t id, const char *error, uint64_t next_ns)
{
	return db_run(db, NULL, NULL,
		      "UPDATE mail SET state = CASE WHEN ?2 = 0 THEN 'failed' ELSE 'queued' END, attempts = attempts + 1,"
		      " error = ?1, next_ns = ?2 WHERE id = ?3 AND state = 'queued'", /* not withdrawn in the meantime */
		      "sii", error, (int64_t)next_ns, id);
}

int db_mail_withdraw(struct db *db, int64_t finding_id, const char *why)
{
	int changed = 0;
	int r = db_run(db, NULL, &changed, "UPDATE mail SET state = 'failed', error = ? WHERE finding_id = ? AND state = 'queued'",
		       "si", why, finding_id);

	return r < 0 ? r : changed > 0;
}

int db_mail_queued(struct db *db, int64_t *ret_n, int64_t *ret_next_ns)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q, "SELECT count(*), coalesce(min(next_ns), 0) FROM mail WHERE state = 'queued'", "");

	if (r >= 0)
		r = db_step(db, q);
	if (r < 0)
		return r;
	*ret_n = sqlite3_column_int64(q, 0);
	*ret_next_ns = sqlite3_column_int64(q, 1);
	return 0;
}
