// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/db.h"

#include "db/query.h"
#include "lib/str.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>

int db_errno(const struct db *db, int sqlite_code)
{
	/* The shared memory file of the WAL has no word of its own for a full disk. */
	if ((sqlite_code & 0xff) == SQLITE_IOERR && db->sqlite && sqlite3_system_errno(db->sqlite) == ENOSPC)
		return -ENOSPC;
	switch (sqlite_code & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
		return 0;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_CONSTRAINT:
		return -EEXIST;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EUCLEAN;
	case SQLITE_CANTOPEN:
		return -ENOENT;
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return -EACCES;
	default:
		return -EIO;
	}
}

const char *db_error_text(struct db *db)
{
	return db->sqlite ? sqlite3_errmsg(db->sqlite) : "not open";
}

/* recursive_triggers: or REPLACE would delete append-only rows without asking their triggers. */
#define OPEN_PRAGMAS "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA recursive_triggers = ON;"

static int open_file(struct db *db, const char *path, int flags, struct error *err)
{
	int rc = sqlite3_open_v2(path, &db->sqlite, flags | SQLITE_OPEN_NOMUTEX, NULL);

	if (rc == SQLITE_OK) {
		(void)sqlite3_extended_result_codes(db->sqlite, 1);
		(void)sqlite3_busy_timeout(db->sqlite, 5000);
		rc = sqlite3_exec(db->sqlite, OPEN_PRAGMAS, NULL, NULL, NULL);
	}
	if (rc != SQLITE_OK)
		return error_set(err, db_errno(db, rc), "database %s: %s", path, db_error_text(db));
	return 0;
}

/* SQLite's own locks last for a statement; the writer is one process for its whole life. */
static int lock_writer(struct db *db, const char *path, struct error *err)
{
	_cleanup_free_ char *lock = str_format("%s.lock", path);

	if (!lock)
		return error_errno(err, -ENOMEM, "database %s", path);
	db->lock_fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (db->lock_fd < 0)
		return error_errno(err, -errno, "database lock %s", lock);
	if (flock(db->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return error_set(err, errno == EWOULDBLOCK ? -EBUSY : -errno,
				 "database %s is in use by another mmbisect", path);
	return 0;
}

int db_open(const char *path, struct error *err, struct db **ret)
{
	_cleanup_(db_closep) struct db *db = calloc(1, sizeof(*db));
	int r, rc;

	if (!db)
		return error_errno(err, -ENOMEM, "database %s", path);
	db->lock_fd = -1;
	r = lock_writer(db, path, err);
	if (r < 0)
		return r;
	r = open_file(db, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
	if (r < 0)
		return r;
	r = db_check_schema(db, err, NULL); /* before anything is written */
	if (r < 0) {
		(void)error_prefix(err, "database %s", path);
		return r;
	}
	rc = sqlite3_exec(db->sqlite, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;", NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		return error_set(err, db_errno(db, rc), "database %s: %s", path, db_error_text(db));
	r = db_migrate(db, err);
	if (r < 0) {
		(void)error_prefix(err, "database %s", path);
		return r;
	}
	*ret = TAKE_PTR(db);
	return 0;
}

int db_open_read_only(const char *path, struct error *err, struct db **ret)
{
	_cleanup_(db_closep) struct db *db = calloc(1, sizeof(*db));
	int r;

	if (!db)
		return error_errno(err, -ENOMEM, "database %s", path);
	db->lock_fd = -1;
	r = open_file(db, path, SQLITE_OPEN_READONLY, err);
	if (r < 0)
		return r;
	(void)sqlite3_exec(db->sqlite, "PRAGMA query_only = ON;", NULL, NULL, NULL);
	*ret = TAKE_PTR(db);
	return 0;
}

struct db *db_close(struct db *db)
{
	if (!db)
		return NULL;
	for (size_t i = 0; i < db->n_statements; i++)
		(void)sqlite3_finalize(db->statements[i].stmt);
	free(db->statements);
	(void)sqlite3_close_v2(db->sqlite);
	(void)close_fd(db->lock_fd);
	free(db);
	return NULL;
}

int db_begin(struct db *db)
{
	int rc;

	if (db->depth == 0) {
		rc = sqlite3_exec(db->sqlite, "BEGIN IMMEDIATE", NULL, NULL, NULL);
		if (rc != SQLITE_OK)
			return db_errno(db, rc);
		db->broken = false;
	}
	db->depth++;
	return 0;
}

int db_end(struct db *db, int r)
{
	int rc;

	if (r < 0)
		db->broken = true;
	if (--db->depth > 0)
		return r;
	if (db->broken) {
		(void)sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
		return r < 0 ? r : -ECANCELED;
	}
	rc = sqlite3_exec(db->sqlite, "COMMIT", NULL, NULL, NULL);
	if (rc != SQLITE_OK) {
		r = db_errno(db, rc);
		(void)sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
	}
	return r;
}

static int cached_statement(struct db *db, const char *sql, sqlite3_stmt **ret)
{
	sqlite3_stmt *stmt;
	int rc;

	for (size_t i = 0; i < db->n_statements; i++)
		if (db->statements[i].sql == sql && !sqlite3_stmt_busy(db->statements[i].stmt)) {
			*ret = db->statements[i].stmt;
			return 0;
		}
	rc = sqlite3_prepare_v3(db->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL);
	if (rc != SQLITE_OK)
		return db_errno(db, rc);
	if (grow_array(&db->statements, &db->statements_capacity, db->n_statements, sizeof(*db->statements)) < 0) {
		(void)sqlite3_finalize(stmt);
		return -ENOMEM;
	}
	db->statements[db->n_statements++] = (struct statement){ sql, stmt };
	*ret = stmt;
	return 0;
}

static int bind(struct db *db, sqlite3_stmt *stmt, const char *types, va_list ap)
{
	int rc = SQLITE_OK, at = 1;

	for (const char *t = types; *t && rc == SQLITE_OK; t++, at++) {
		if (*t == 's') {
			rc = sqlite3_bind_text(stmt, at, va_arg(ap, const char *), -1, SQLITE_TRANSIENT);
		} else if (*t == 'i') {
			rc = sqlite3_bind_int64(stmt, at, va_arg(ap, int64_t));
		} else if (*t == 'd') {
			rc = sqlite3_bind_double(stmt, at, va_arg(ap, double));
		} else {
			const void *data = va_arg(ap, const void *);
			size_t len = va_arg(ap, size_t);

			rc = sqlite3_bind_blob64(stmt, at, data, len, SQLITE_TRANSIENT);
		}
	}
	return db_errno(db, rc);
}

static int vquery(struct db *db, sqlite3_stmt **ret, const char *sql, const char *types, va_list ap)
{
	sqlite3_stmt *stmt;
	int r = cached_statement(db, sql, &stmt);

	if (r < 0)
		return r;
	r = bind(db, stmt, types, ap);
	if (r < 0) {
		db_query_end(stmt);
		return r;
	}
	*ret = stmt;
	return 0;
}

int db_query(struct db *db, sqlite3_stmt **ret, const char *sql, const char *types, ...)
{
	va_list ap;
	int r;

	va_start(ap, types);
	r = vquery(db, ret, sql, types, ap);
	va_end(ap);
	return r;
}

int db_step(struct db *db, sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	return rc == SQLITE_ROW ? 1 : db_errno(db, rc);
}

void db_query_end(sqlite3_stmt *stmt)
{
	if (!stmt)
		return;
	(void)sqlite3_reset(stmt);
	(void)sqlite3_clear_bindings(stmt);
}

int db_run(struct db *db, int64_t *ret_id, int *ret_changed, const char *sql, const char *types, ...)
{
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	va_list ap;
	int r;

	va_start(ap, types);
	r = vquery(db, &stmt, sql, types, ap);
	va_end(ap);
	if (r < 0)
		return r;
	r = db_step(db, stmt);
	if (r < 0)
		return r;
	if (ret_id)
		*ret_id = sqlite3_last_insert_rowid(db->sqlite);
	if (ret_changed)
		*ret_changed = sqlite3_changes(db->sqlite);
	return 0;
}

int db_int(struct db *db, int64_t *ret, const char *sql, const char *types, ...)
{
	_cleanup_query_ sqlite3_stmt *stmt = NULL;
	va_list ap;
	int r;

	va_start(ap, types);
	r = vquery(db, &stmt, sql, types, ap);
	va_end(ap);
	if (r < 0)
		return r;
	r = db_step(db, stmt);
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	*ret = sqlite3_column_int64(stmt, 0);
	return 0;
}

int db_middle_seconds(struct db *db, double *ret, const char *sql, const char *text)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q, sql, "s", text);

	if (r >= 0)
		r = db_step(db, q);
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	*ret = sqlite3_column_double(q, 0);
	return 0;
}

int db_column_dup(sqlite3_stmt *stmt, int column, char **ret)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);

	return str_set(ret, text);
}

int db_data_version(struct db *db, int64_t *ret)
{
	return db_int(db, ret, "PRAGMA data_version", "");
}
