/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_WEB_STORE_H
#define MMB_WEB_STORE_H

/*
 * The database as the web server sees it: a file that may not exist yet, may vanish and may be
 * replaced while we run.
 *
 * store_get() is asked before every answer: it looks at the file again, opens it when there is one
 * (another one) and closes it when there is none. The handle belongs to the store and is good until
 * the next store_get().
 */
#include "db/db.h"

#include <sys/stat.h>

struct store {
	const char *path; /* borrowed */
	struct db *db;
	dev_t device; /* of the open file */
	ino_t inode;
};
#define STORE_INIT(p) ((struct store){.path = (p)})
void store_done(struct store *store);

/* -ENOENT: no database yet; -EUCLEAN: the file is none. `err` holds a sentence for the visitor,
 * without the path. */
int store_get(struct store *store, struct error *err, struct db **ret);

#endif
