/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_DB_H
#define MMB_DB_H

/*
 * The database handle: one SQLite file in WAL mode, one writer (held by a lock file beside it), any number of readers.
 *
 * All SQL is static text inside db/. Failures come back as negative errno: -ENOSPC full disk, -EBUSY locked, -EEXIST
 * constraint, -EUCLEAN damaged or foreign file, -EIO else; db_error_text() has SQLite's words. Nothing here logs.
 */
#include "lib/cleanup.h"
#include "lib/error.h"

struct db;

/* Opens for writing: creates the file and brings the schema up to date. -EBUSY when another process is the writer. */
int db_open(const char *path, struct error *err, struct db **ret);
/* Opens an existing file for reading only. */
int db_open_read_only(const char *path, struct error *err, struct db **ret);
struct db *db_close(struct db *db);
DEFINE_CLEANUP(struct db *, db_close);
const char *db_error_text(struct db *db);

/*
 * Transactions nest: only the outermost begin and end touch the disk.
 *	int r = db_begin(db); ...; return db_end(db, r);      commits when r >= 0, else rolls all of it back; returns r or the error
 */
int db_begin(struct db *db);
int db_end(struct db *db, int r);

/* A number that changes whenever another connection changed the file. */
int db_data_version(struct db *db, int64_t *ret);

#endif
