/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_RUN_REPORT_H
#define MMB_RUN_REPORT_H

/*
 * The record of a run: what the event loop saw, and the result object that is made of it.
 */
#include "workers/run-host.h"
#include "workers/run-job.h"
#include "workers/run-verdict.h"

struct run_record {
	struct run_console console;
	struct run_results results;
	struct run_qmp qmp;
	struct str qemu_text;	 /* QEMU's stdout and stderr, the beginning */
	const char *start_error; /* borrowed; NULL: QEMU was started */
	uint64_t start_ns, hello_ns, end_ns, done_ns; /* monotonic; 0: did not happen */
	struct host_cpu host_begin, host_end;	      /* around the measured part */
	struct process_cpu qemu_begin, qemu_end;
	int exit_status;
	bool killed, unkillable, limit_reached, stalled;
	bool doomed; /* nothing good can come any more */
};
#define RUN_RECORD_INIT ((struct run_record){ .qemu_text = STR_INIT, .qmp = RUN_QMP_INIT, .console = { .fd = -1, .line = STR_INIT } })

/* 0 or -ENOMEM. `nonce` is borrowed. The console is opened by run_console_open(). */
int run_record_init(struct run_record *record, const char *nonce);
void run_record_done(struct run_record *record);

void run_record_measure_begin(struct run_record *record, pid_t qemu);
void run_record_measure_end(struct run_record *record, pid_t qemu);

int run_record_report(const struct run_record *record, const struct run_job *job, json_t **ret);

#endif
