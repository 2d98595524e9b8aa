/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_DB_JOB_H
#define MMB_DB_JOB_H

/*
 * The queue. A job is queued, leased by a process for a time, and ends done, failed or cancelled. Its key says what it is
 * for: there is at most one unfinished job of a key, so asking twice is harmless.
 */
#include "db/db.h"

struct job {
	int64_t id;
	char *kind, *key, *class, *spec, *oid, *state, *error;
	int64_t search_id; /* 0: none */
	int64_t attempts;
	int64_t not_before_ns, started_ns;
};

struct job_list {
	struct job *items;
	size_t n, capacity;
};
void job_list_done(struct job_list *list);

struct job_new {
	const char *kind, *key, *class, *spec, *oid;
	int64_t search_id; /* 0: none */
	int priority;
};

/* Adds a job unless an unfinished one of that key exists. 1 added, 0 was there. */
int db_job_add(struct db *db, const struct job_new *job, uint64_t now_ns);
/* Queued jobs whose time has come, in order, and leased ones, by state. */
int db_job_list(struct db *db, const char *state, struct job_list *ret);
int db_job_lease(struct db *db, int64_t id, const char *owner, uint64_t now_ns, uint64_t until_ns);
int db_job_renew(struct db *db, int64_t id, uint64_t until_ns);
/* state: done, failed or cancelled. -ESTALE when the job is not leased (any more). */
int db_job_end(struct db *db, int64_t id, const char *state, const char *error, uint64_t now_ns);
/* Back to the queue, not to be started before not_before_ns. */
int db_job_retry(struct db *db, int64_t id, const char *error, uint64_t not_before_ns);
/* Whatever is leased goes back to the queue: for the only writer, at its start. Returns how many. */
int db_job_release_all(struct db *db);
/* Unfinished jobs of a search are cancelled. */
int db_job_cancel_search(struct db *db, int64_t search_id, uint64_t now_ns);
/* How many jobs of this key ended failed since then. */
int db_job_failures(struct db *db, const char *key, uint64_t since_ns, int64_t *ret, char **ret_last_error);
/* Unfinished jobs whose key starts with prefix ("": all). */
int db_job_unfinished(struct db *db, const char *prefix, int64_t *ret);

/* Those of a search. */
int db_job_unfinished_search(struct db *db, int64_t search_id, int64_t *ret);
/* Queued jobs whose key starts with prefix are cancelled: what they are for is known by now. Not so those of a search for a
 * failure, which counts how often it comes. */
int db_job_cancel_prefix(struct db *db, const char *prefix, uint64_t now_ns);

/* What a search has cost so far: finished jobs of the kind, and their seconds. */
struct job_cost {
	int64_t builds, cached_builds, boots;
	double build_seconds, run_seconds;
};
int db_job_cost(struct db *db, int64_t search_id, struct job_cost *ret);
/* Median-ish expectation: mean seconds of the last 8 finished jobs of a class; -ENOENT when there is none. */
int db_job_typical_seconds(struct db *db, const char *class, double *ret);

#endif
