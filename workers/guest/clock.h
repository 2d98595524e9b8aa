/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time in the guest. On the exact machine one nanosecond is one instruction
 * (-icount shift=0), so every reading here is a count of instructions.
 * Nothing here fails: these clocks exist on every Linux.
 */
#ifndef MMB_GUEST_CLOCK_H
#define MMB_GUEST_CLOCK_H

#include <stdint.h>

struct usage {
	uint64_t real_ns;
	uint64_t user_ns;
	uint64_t sys_ns;
};

/* Monotonic time. */
uint64_t clock_ns(void);

/* Monotonic time as of the last timer tick: changes when a tick was handled. */
uint64_t clock_tick_ns(void);

/* Returns right after a timer tick: where every measured part starts. */
void clock_phase(void);

/* Time and processor time of this process so far, ended threads included. */
struct usage usage_now(void);

/* What was used between two readings. */
struct usage usage_between(const struct usage *before, const struct usage *after);

#endif
