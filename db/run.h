/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_DB_RUN_H
#define MMB_DB_RUN_H

/*
 * Runs and their samples. A series is everything of a result's identity but the image signature; samples are only ever read
 * by (series, signature), so that different identities cannot meet.
 */
#include "db/db.h"

struct series {
	const char *hash, *text, *arch, *workload, *class, *machine;
};
int db_series_put(struct db *db, const struct series *series);

struct sample {
	const char *metric, *unit, *better, *class;
	double value;
};

struct run_new {
	int64_t job_id;
	const char *series, *signature, *oid, *status, *title, *error, *nonce;
	double seconds, boot_seconds;
	const struct sample *samples; /* only with status ok */
	size_t n_samples;
};
/* Records a run with all its samples and brings the derived levels up to date: one transaction. */
int db_run_add(struct db *db, const struct run_new *run, uint64_t now_ns);

/* How the runs of an image in a series ended. */
struct run_counts {
	int64_t ok, boot_failed, crashed, timeout, other;
};
int db_run_count(struct db *db, const char *series, const char *signature, struct run_counts *ret);
/* Its runs that ended well, up to this one. */
int db_run_count_until(struct db *db, const char *series, const char *signature, int64_t run_order, int64_t *ret);
/* The newest crash title or error among the runs that did not end ok; NULL when there is none. */
int db_run_last_title(struct db *db, const char *series, const char *signature, char **ret);

/* The ways in which runs of an image ended, in the order of their first runs. */
struct ending {
	char *status, *text; /* text: title of a crash, else what the run said of its end; "" when ok */
	int64_t runs, job_id; /* the job of the newest of them */
};
struct endings {
	struct ending *items;
	size_t n, capacity;
};
void endings_done(struct endings *endings);
/* Of runs up to and with `last_run` (0: all). */
int db_run_endings(struct db *db, const char *series, const char *signature, int64_t last_run, struct endings *ret);

/* Values of one metric, in the order they were measured. */
struct values {
	double *items;
	int64_t *runs; /* the run of each: ids grow with time, over all series */
	size_t n, capacity, runs_capacity;
};
void values_done(struct values *values);
int db_run_values(struct db *db, const char *series, const char *signature, const char *metric, struct values *ret);

/* The newest series of a question in which a search had runs, or anybody: 1 found, 0 none. *ret_text may be asked for. */
int db_series_of_search(struct db *db, int64_t search_id, char **ret_hash, char **ret_text);
/* Median seconds of the last ok runs of a series. -ENOENT: there is none yet. */
int db_run_typical_seconds(struct db *db, const char *series, double *ret);

/* Derived: one row a metric of an image in a series. */
struct level {
	char *metric, *unit, *better, *class;
	int64_t n;
	double median, low, high;
};
struct level_list {
	struct level *items;
	size_t n, capacity;
};
void level_list_done(struct level_list *list);
/* The level of a metric, NULL when there is none. Borrowed. */
const struct level *level_list_find(const struct level_list *list, const char *metric);
int db_level_list(struct db *db, const char *series, const char *signature, struct level_list *ret);
/* Throws the derived rows away and makes them anew from the samples. */
int db_level_rebuild(struct db *db);

/* Accelerator probes. 1 found, 0 none. */
int db_probe_add(struct db *db, const char *host, const char *arch, const char *accel, const char *reason, uint64_t now_ns);
int db_probe_find(struct db *db, const char *host, const char *arch, char **ret_accel, char **ret_reason);

#endif
