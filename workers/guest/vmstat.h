/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event counters of /proc/vmstat around a measured part: taking one only reads
 * into memory that is there already; parsing waits until the part is over.
 */
#ifndef MMB_GUEST_VMSTAT_H
#define MMB_GUEST_VMSTAT_H

struct result;

#define VMSTAT_SIZE 16384

struct vmstat {
	char text[VMSTAT_SIZE];
};

/* Opens the counters once. Returns 0 or -errno. */
int vmstat_open(void);

/* Takes a reading. Returns 0 or -errno. */
int vmstat_take(struct vmstat *v);

/*
 * Writes what happened in between: thp_*, pgfault, pgmajfault, as vmstat.<name>.
 * Counters that this kernel does not have are left out.
 */
void vmstat_write(struct result *r, const struct vmstat *before, const struct vmstat *after);

#endif
