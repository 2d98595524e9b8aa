/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_RUN_JOB_H
#define MMB_RUN_JOB_H

/*
 * A run job (docs/architecture.md), checked: what is in a struct run_job can go to QEMU and onto the kernel command line.
 *
 * Strings point into `object`, which the struct owns. Everything that is wrong is -EINVAL with the key's name; whether the
 * files exist is not asked here: a missing kernel is a result (infra), not a malformed job.
 */
#include "lib/error.h"
#include "lib/json.h"

enum run_class { RUN_EXACT, RUN_TIME };
enum run_accel { RUN_TCG, RUN_KVM };

struct run_job {
	json_t *object;
	const char *nonce, *arch, *kernel, *initramfs, *console;
	const char *qemu, *type, *cpu, *cmdline;
	const char *workload;
	const json_t *params; /* name -> value, both fit for the command line */
	enum run_class class;
	enum run_accel accel;
	unsigned vcpus, memory_mib, limit_seconds;
};
#define RUN_JOB_INIT ((struct run_job){ 0 })
void run_job_done(struct run_job *job);

/* Takes over `object` (also when it fails). */
int run_job_parse(json_t *object, struct error *err, struct run_job *ret);

#endif
