/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Real, user and system time of a measured part, of the whole guest: nothing but
 * the measured part runs in it, and what the kernel does on its behalf counts.
 *
 * Not getrusage(): when a thread ends, the time since it was last put on its
 * processor is lost to its process (__exit_signal), and in a thread that lives for
 * less than a tick that is most of it: half of all, in thread-stack. The price:
 * user and system time are sampled by the tick and told in steps of 10 ms.
 */
#ifndef MMB_GUEST_USAGE_H
#define MMB_GUEST_USAGE_H

#include <stdint.h>

struct usage {
	uint64_t real_ns;
	uint64_t user_ns;
	uint64_t sys_ns;
};

/* Opens the counters once. Returns 0 or -errno. */
int usage_open(void);

/*
 * Readings at the start and at the end of a part; their cost lies outside of it.
 * The start is in phase with the tick (clock_phase).
 */
int usage_start(struct usage *u);
int usage_end(struct usage *u);

/* What was used between the two. */
struct usage usage_between(const struct usage *start, const struct usage *end);

#endif
