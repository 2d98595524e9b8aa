// SPDX-License-Identifier: GPL-2.0-or-later
#include "web/store.h"

#include "db/view.h"

void store_done(struct store *store)
{
	store->db = db_close(store->db);
}

static int open_store(struct store *store, const struct stat *st, struct error *err)
{
	_cleanup_(db_closep) struct db *db = NULL;
	int64_t version = 0;
	int r = db_open_read_only(store->path, NULL, &db);

	if (r >= 0)
		r = db_view_schema(db, &version);
	if (r == -EUCLEAN)
		return error_set(err, r, "The database file is damaged, or is no database.");
	if (r < 0)
		return error_errno(err, r, "The database cannot be opened");
	if (version == 0)
		return error_set(err, -ENOENT,
				 "The database is still empty: mmbisectd fills it when it starts.");
	store->db = TAKE_PTR(db);
	store->device = st->st_dev;
	store->inode = st->st_ino;
	return 0;
}

static int look(struct store *store, struct error *err)
{
	struct stat st;

	if (stat(store->path, &st) < 0) {
		int r = -errno;

		store_done(store);
		if (r != -ENOENT)
			return error_errno(err, r, "The database cannot be read");
		return error_set(err, r,
				 "There is no database yet: mmbisectd makes it when it starts.");
	}
	if (store->db && store->device == st.st_dev && store->inode == st.st_ino)
		return 0;
	store_done(store);
	return open_store(store, &st, err);
}

int store_get(struct store *store, struct error *err, struct db **ret)
{
	int r = look(store, err);

	if (r >= 0)
		*ret = store->db;
	return r;
}
