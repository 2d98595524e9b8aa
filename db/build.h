/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_DB_BUILD_H
#define MMB_DB_BUILD_H

/* What became of building a tree for an arch with a config and a toolchain. Append-only; commits of equal tree share it. */
#include "db/db.h"

struct build {
	int64_t id, job_id;
	char *oid, *tree_oid, *arch, *config, *toolchain;
	char *status; /* ok, build-failed */
	char *signature, *kernel, *unknown_options, *error;
	double seconds;
	bool cached;
	int layout; /* 0: as the tree links itself */
};
void db_build_done(struct build *build);

/* Records the end of a build job; the caller ends the job in the same transaction. */
int db_build_add(struct db *db, const struct build *build, uint64_t now_ns);
/* The newest of a tree in a layout: 1 found, 0 none. */
int db_build_find(struct db *db, const char *tree_oid, const char *arch, const char *config, const char *toolchain,
		  int layout, struct build *ret);
/* The job of the newest build of a tree, as it links itself, that failed: 1 found, 0 none. */
int db_build_failed_job(struct db *db, const char *tree_oid, const char *arch, int64_t *ret);

/* All trees that a build is known of, sorted, each once. */
struct build_trees {
	char **items;
	size_t n, capacity;
};
void build_trees_done(struct build_trees *trees);
int db_build_trees(struct db *db, const char *arch, struct build_trees *ret);

/* Median seconds of an arch's last builds that were not answered from the store. -ENOENT: there is none yet. */
int db_build_typical_seconds(struct db *db, const char *arch, double *ret);
/* Any image that boots on this arch, newest first: for the accelerator probe. 1 found, 0 none. */
int db_build_any(struct db *db, const char *arch, struct build *ret);

#endif
