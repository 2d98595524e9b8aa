/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_BUILD_RUN_H
#define MMB_BUILD_RUN_H

/*
 * Runs the programs of a build one after the other: what they write goes to the job's log (bounded) and line by line to a
 * callback, and all of them together end at one deadline. When it has passed, everything that was started is killed before the call
 * returns -ETIME.
 */
#include "lib/error.h"
#include "lib/spawn.h"

struct build_run {
	int log_fd; /* owned */
	uint64_t log_bytes;
	uint64_t deadline_ns;
	unsigned limit_seconds;
	int lock_fd; /* borrowed from the slot: held open by every child, so that it is not free before they are gone; or -1 */
};
#define BUILD_RUN_INIT ((struct build_run){ .log_fd = -1, .lock_fd = -1 })

/* A line without its end (\n or \r), cut at a few thousand bytes; bytes of strangers. */
typedef void (*build_line_fn)(void *userdata, const char *line);

int build_run_open(struct build_run *run, const char *log_path, unsigned limit_seconds, struct error *err);
void build_run_done(struct build_run *run);

/* Runs to the end with stdin at /dev/null and stdout and stderr in one. The callback may be NULL. */
int build_run(struct build_run *run, const struct spawn_options *options, build_line_fn line, void *userdata,
	      struct error *err, int *ret_status);
/* -ETIME when the deadline has passed. */
int build_run_check_time(const struct build_run *run, struct error *err);
uint64_t build_run_left_ns(const struct build_run *run);

#endif
