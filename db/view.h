/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_DB_VIEW_H
#define MMB_DB_VIEW_H

/*
 * What is shown: read-only questions over several tables, answered as JSON arrays of flat objects.
 *
 * Column names become keys. Text is of strangers and is sanitised to UTF-8; a name's ending says
 *more: x_ns     nanoseconds since the epoch -> "x": "2026-11-30T15:04:05Z", or null x_flag   0 or 1
 *-> "x": true or false x_json   JSON text                   -> "x": that value, null when it is no
 *valid JSON Never writes, never holds more than VIEW_ROWS rows of a list. Negative errno as
 *everywhere in db/.
 */
#include "db/db.h"
#include "lib/json.h"

#define VIEW_ROWS 500

enum view {
	VIEW_COUNTS,	   /* one row: findings, searches, open searches, unsent mails */
	VIEW_FINDINGS,	   /* newest first, without report and document */
	VIEW_FINDING,	   /* id: finding; at most one row, with both, the state of its mail and the last word */
	VIEW_FINDING_SEARCHES, /* id: finding; the searches that ended in its patch, first one first */
	VIEW_FINDING_WORDS,    /* id: finding; what people said of it, oldest first */
	VIEW_SEARCHES,	   /* running first, then newest first, with counts of its jobs */
	VIEW_SEARCH,	   /* id: search; at most one row, with the document */
	VIEW_SEARCH_LOG,   /* id: search; the newest entries, oldest of them first */
	VIEW_SEARCH_STEPS, /* id: search; a row a commit that it touched, with the level of its
			      metric */
	VIEW_SEARCH_JOBS,  /* id: search; leased and queued jobs, in order */
	VIEW_JOBS,	   /* all that run now */
	VIEW_QUEUE,	   /* queued jobs counted by class */
	VIEW_REFS,	   /* newest event of each ref */
	VIEW_MAX,
};

/* `id` is ignored by views that take none. */
int db_view(struct db *db, enum view view, int64_t id, json_t **ret);

/* Several views of one instant go between these two. */
int db_view_begin(struct db *db);
void db_view_end(struct db *db);

/* Version of the schema in the file; 0: nothing was put into it yet. -EUCLEAN: not a database. */
int db_view_schema(struct db *db, int64_t *ret);

#endif
