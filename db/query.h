/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_DB_QUERY_H
#define MMB_DB_QUERY_H

/*
 * Inside db/ only: prepared, cached statements with typed binding.
 *
 * `types` says what follows: s const char * (NULL binds NULL), i int64_t, d double, b const void * and size_t.
 *	sqlite3_stmt *q;
 *	r = db_query(db, &q, "SELECT id FROM job WHERE key = ?", "s", key);
 *	while ((r = db_step(db, q)) > 0) ...
 *	db_query_end(q);
 */
#include "db/db.h"

#include <sqlite3.h>

struct statement {
	const char *sql; /* static text: its address is the key */
	sqlite3_stmt *stmt;
};

struct db {
	sqlite3 *sqlite;
	int lock_fd;
	int depth;
	bool broken; /* an inner step failed: the outermost end rolls back */
	struct statement *statements;
	size_t n_statements, statements_capacity;
};

int db_query(struct db *db, sqlite3_stmt **ret, const char *sql, const char *types, ...);
/* 1 a row, 0 done, negative errno. */
int db_step(struct db *db, sqlite3_stmt *stmt);
void db_query_end(sqlite3_stmt *stmt);
static inline void db_query_endp(sqlite3_stmt **stmt)
{
	db_query_end(*stmt);
}
#define _cleanup_query_ _cleanup_(db_query_endp)

/* Runs a statement without rows; ret_id (may be NULL) gets the new row's id, ret_changed the number of rows changed. */
int db_run(struct db *db, int64_t *ret_id, int *ret_changed, const char *sql, const char *types, ...);
/* First column of the first row as a number; -ENOENT when there is no row. */
int db_int(struct db *db, int64_t *ret, const char *sql, const char *types, ...);

/*
 * The middle of the column "seconds" of some rows that one text selects; -ENOENT when there is none. The mean of the two middle ones for an
 * even number of them.
 */
#define DB_MIDDLE_SECONDS(rows)                                                                                           \
	"WITH v AS (SELECT seconds, row_number() OVER (ORDER BY seconds) - 1 AS at, count(*) OVER () AS n FROM (" rows ")" \
	") SELECT avg(CASE WHEN at IN ((n - 1) / 2, n / 2) THEN seconds END) FROM v HAVING count(*) > 0"
int db_middle_seconds(struct db *db, double *ret, const char *sql, const char *text);

/* Column as a new string; NULL stays NULL. 0 or -ENOMEM. */
int db_column_dup(sqlite3_stmt *stmt, int column, char **ret);

int db_errno(const struct db *db, int sqlite_code);
/* -EUCLEAN: a newer schema, or a database of another program. ret_version may be NULL. */
int db_check_schema(struct db *db, struct error *err, int64_t *ret_version);
int db_migrate(struct db *db, struct error *err);

#endif
