/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_JOB_H
#define MMB_JOB_H

/*
 * A worker's end of its contract (docs/architecture.md): one JSON object on stdin, progress and result lines on stdout.
 *
 * Wrong jobs are told in `err` with the name of the key; the worker then prints one line and exits 2. Strings and objects
 * that are given back belong to the job object.
 */
#include "lib/error.h"
#include "lib/json.h"

#define JOB_EXIT_MALFORMED 2

/* Arranges that we are killed when our parent ends. -ESRCH when it has ended already. */
int job_die_with_parent(void);

/* Reads all of fd (bounded) as one JSON object whose member "job" is `kind`. The caller owns *ret. */
int job_read(int fd, const char *kind, struct error *err, json_t **ret);

/* Required members. Strings are not empty and hold no control characters; paths are absolute as well. */
int job_need_string(const json_t *job, const char *key, struct error *err, const char **ret);
int job_need_path(const json_t *job, const char *key, struct error *err, const char **ret);
int job_need_int(const json_t *job, const char *key, int64_t min, int64_t max, struct error *err,
		 int64_t *ret);
int job_need_object(const json_t *job, const char *key, struct error *err, const json_t **ret);
int job_need_array(const json_t *job, const char *key, struct error *err, const json_t **ret);

/* {"progress":{"phase":…,"done":…,"total":…}}; done and total are left out when total is negative. */
int job_progress(const char *phase, int64_t done, int64_t total);
/* {"result":…}; borrows the object. */
int job_result(const json_t *result);

#endif
