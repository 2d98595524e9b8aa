// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/build.h"

#include "db/query.h"

#define COLUMNS                                                                                    \
	"id, job_id, oid, tree_oid, arch, config, toolchain, status, signature, kernel, unknown_options, error,"   \
	" seconds, cached, layout"

void db_build_done(struct build *b)
{
	free(b->oid);
	free(b->tree_oid);
	free(b->arch);
	free(b->config);
	free(b->toolchain);
	free(b->status);
	free(b->signature);
	free(b->kernel);
	free(b->unknown_options);
	free(b->error);
	*b = (struct build){ 0 };
}

int db_build_add(struct db *db, const struct build *b, uint64_t now_ns)
{
	return db_run(db, NULL, NULL,
		      "INSERT INTO build (job_id, oid, tree_oid, arch, config, toolchain, status, signature, kernel,"
		      " unknown_options, error, seconds, cached, at_ns, layout)"
		      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		      "issssssssssdiii", b->job_id, b->oid, b->tree_oid, b->arch, b->config, b->toolchain, b->status,
		      b->signature, b->kernel, b->unknown_options, b->error, b->seconds, (int64_t)b->cached,
		      (int64_t)now_ns, (int64_t)b->layout);
}

static int read_build(struct db *db, sqlite3_stmt *q, struct build *ret)
{
	struct build b = { 0 };
	char **const fields[] = { &b.oid,	&b.tree_oid, &b.arch,		 &b.config, &b.toolchain, &b.status,
				  &b.signature, &b.kernel,   &b.unknown_options, &b.error };
	int r = db_step(db, q);

	if (r <= 0)
		return r;
	b.id = sqlite3_column_int64(q, 0);
	b.job_id = sqlite3_column_int64(q, 1);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (db_column_dup(q, (int)i + 2, fields[i]) < 0) {
			db_build_done(&b);
			return -ENOMEM;
		}
	b.seconds = sqlite3_column_double(q, 12);
	b.cached = sqlite3_column_int(q, 13) != 0;
	b.layout = sqlite3_column_int(q, 14);
	*ret = b;
	return 1;
}

int db_build_find(struct db *db, const char *tree_oid, const char *arch, const char *config, const char *toolchain,
		  int layout, struct build *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q,
			 "SELECT " COLUMNS " FROM build WHERE tree_oid = ? AND arch = ? AND config = ? AND toolchain = ?"
			 " AND layout = ? ORDER BY id DESC LIMIT 1",
			 "ssssi", tree_oid, arch, config, toolchain, (int64_t)layout);

	return r < 0 ? r : read_build(db, q, ret);
}

int db_build_failed_job(struct db *db, const char *tree_oid, const char *arch, int64_t *ret)
{
	int r = db_int(db, ret,
		       "SELECT job_id FROM build WHERE tree_oid = ? AND arch = ? AND status = 'build-failed' AND layout = 0 ORDER BY id DESC LIMIT 1",
		       "ss", tree_oid, arch);

	return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

int db_build_any(struct db *db, const char *arch, struct build *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	int r = db_query(db, &q,
			 "SELECT " COLUMNS " FROM build WHERE arch = ? AND status = 'ok' ORDER BY id DESC LIMIT 1", "s",
			 arch);

	return r < 0 ? r : read_build(db, q, ret);
}

void build_trees_done(struct build_trees *trees)
{
	for (size_t i = 0; i < trees->n; i++)
		free(trees->items[i]);
	free(trees->items);
	*trees = (struct build_trees){ 0 };
}

int db_build_trees(struct db *db, const char *arch, struct build_trees *ret)
{
	_cleanup_query_ sqlite3_stmt *q = NULL;
	struct build_trees list = { 0 };
	int r = db_query(db, &q, "SELECT DISTINCT tree_oid FROM build WHERE arch = ? ORDER BY tree_oid", "s", arch);

	while (r >= 0 && (r = db_step(db, q)) > 0) {
		r = grow_array(&list.items, &list.capacity, list.n, sizeof(*list.items));
		if (r < 0)
			break;
		list.items[list.n] = NULL;
		r = db_column_dup(q, 0, &list.items[list.n++]);
	}
	if (r < 0) {
		build_trees_done(&list);
		return r;
	}
	*ret = list;
	return 0;
}

int db_build_typical_seconds(struct db *db, const char *arch, double *ret)
{
	return db_middle_seconds(db, ret,
				 DB_MIDDLE_SECONDS("SELECT seconds FROM build WHERE arch = ? AND status = 'ok' AND cached = 0 AND layout = 0 ORDER BY id DESC LIMIT 32"),
				 arch);
}
