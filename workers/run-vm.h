/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_RUN_VM_H
#define MMB_RUN_VM_H

/*
 * One run of QEMU, from its start to its result object: the event loop over console, results, QMP, QEMU's stderr, its end, the
 * limit and our signals. QEMU is dead when run_vm() returns (or cannot be killed, which the result then says).
 */
#include "workers/run-job.h"

struct run_vm_hooks {
	int (*progress)(const char *phase); /* "boot", "measure"; an error ends the run. May be NULL */
	bool keep_console;		    /* else job->console is not looked at */
};

/*
 * Result: the object of the contract. -EINTR when a signal asked us to end; other errors only when we cannot go on
 * at all (no memory); what goes wrong with QEMU or the guest is a result.
 */
int run_vm(const struct run_job *job, const struct run_vm_hooks *hooks, struct error *err, json_t **ret);

#endif
