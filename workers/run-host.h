/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_RUN_HOST_H
#define MMB_RUN_HOST_H

/*
 * What the host did meanwhile: its processors' time (/proc/stat) and that of one process with its threads.
 */
#include "lib/cleanup.h"

#include <sys/types.h>

struct host_cpu {
	uint64_t total, busy, steal; /* clock ticks since boot, all processors */
};

struct process_cpu {
	uint64_t used_ns;  /* user and system time of all threads */
	uint64_t delay_ns; /* runnable, but waiting for a processor, all threads */
	bool stopped;	   /* by a signal */
};

/* -errno; *ret is untouched then. */
int host_cpu_read(struct host_cpu *ret);
int process_cpu_read(pid_t pid, struct process_cpu *ret);

/* The clock ticks of /proc/stat in nanoseconds. */
uint64_t host_tick_ns(void);

/*
 * Whether a run that reached its limit did so because the host did not let it run: QEMU got next to no processor time,
 * and it was stopped, waited for a processor most of the time, or we ourselves were late for most of it.
 * (Little processor time alone is no stall: a guest that halts for ever needs none.)
 */
bool host_stalled(const struct process_cpu *qemu, uint64_t wall_ns, uint64_t late_ns);

#endif
