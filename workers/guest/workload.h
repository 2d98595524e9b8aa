/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be measured. To add a workload: a file with its `struct workload`,
 * a line in the table of workload.c, and configs/workloads/<name>.conf.
 */
#ifndef MMB_GUEST_WORKLOAD_H
#define MMB_GUEST_WORKLOAD_H

#include <stdint.h>

struct order;
struct result;

#define WORKLOAD_PARAMS_MAX 16

struct workload_param {
	const char *name;
	uint64_t value; /* when the orders do not say */
	uint64_t min, max;
};

struct workload {
	const char *name;
	const char *help;
	const struct workload_param *params;
	int n_params;
	/*
	 * Runs with the values of its parameters, in their order, in a process
	 * of its own, and writes samples after each measured part, never in it.
	 * Returns 0, or -errno after result_error().
	 */
	int (*run)(struct result *r, const uint64_t *value);
};

extern const struct workload thread_stack;

/* Runs what the orders ask for. Returns 0, or -errno after result_error(). */
int workload_run(struct result *r, const struct order *o);

#endif
