/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_RUN_VERDICT_H
#define MMB_RUN_VERDICT_H

/*
 * From what was seen of a run to its status; pure, so that every combination can be tested.
 *
 * In order, the first that holds:
 *   ok           the result channel is complete, and the kernel did not cry (BUG, oops) before the end record
 *   infra        QEMU did not start, or could not build the machine
 *   boot-failed  a crash, the end or the limit before init said hello; or a file that QEMU does not take for a kernel
 *   crashed      the same after hello: the console's or pvpanic's crash; the workload's own error ("workload: ...");
 *                a guest that ended without its end record
 *   timeout      the limit was reached after hello
 *   infra        the host did not let QEMU run; QEMU itself died; the result channel was not what it must be
 */
#include "workers/run-console.h"
#include "workers/run-qmp.h"
#include "workers/run-results.h"

struct run_facts {
	const struct run_console *console;
	const struct run_results *results;
	const struct run_qmp *qmp;
	const char *start_error; /* why there was no QEMU at all, or NULL */
	const char *qemu_text;	 /* what it said on stderr, may be empty */
	int exit_status;	 /* of QEMU, as child_wait() gives it; meaningless when killed */
	bool killed;		 /* by us */
	bool unkillable;
	bool limit_reached;
	bool stalled; /* host_stalled() */
	unsigned limit_seconds;
};

struct run_verdict {
	const char *status;
	const char *class; /* of a crash: panic oops bug workload end; else NULL */
	char *title, *error; /* may be NULL */
};
void run_verdict_done(struct run_verdict *verdict);
#define _cleanup_run_verdict_ _cleanup_(run_verdict_done)

/* 0 or -ENOMEM. */
int run_verdict_find(const struct run_facts *facts, struct run_verdict *ret);

#endif
