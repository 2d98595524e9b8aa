/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_RUN_RESULTS_H
#define MMB_RUN_RESULTS_H

/*
 * The result channel's host end (docs/architecture.md): lines of a stranger in, checked samples out.
 *
 * The first thing that is wrong is kept in `bad`, and nothing after it is believed. What comes behind the end record
 * is not looked at.
 */
#include "lib/json.h"

#define RUN_RECORDS_MAX 4096
#define RUN_RESULT_LINE_MAX 4096

struct run_results {
	const char *nonce; /* borrowed */
	struct json_lines lines;
	json_t *samples; /* array of {"metric","value","unit","better"} */
	int64_t next_n;
	bool hello, measuring, ended;
	int64_t exit_status;
	char *workload_error; /* from an error record: sanitised, one line */
	char *bad;
};

/* 0 or -ENOMEM. */
int run_results_init(struct run_results *results, const char *nonce);
void run_results_done(struct run_results *results);
#define _cleanup_run_results_ _cleanup_(run_results_done)

/* Takes bytes as they come. 0 or -ENOMEM: all else is in the struct. */
int run_results_feed(struct run_results *results, const char *data, size_t len);

/* Whether the run is complete and to be believed: end record, right count, exit 0, nothing wrong before it. */
bool run_results_good(const struct run_results *results);

/* Whether values of a unit depend on the speed of the host: "ns", "us/call", "MB/s". */
bool run_unit_is_time(const char *unit);

#endif
