/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time in the guest. On the exact machine one nanosecond is one instruction
 * (-icount shift=0), so every reading here is a count of instructions.
 * Nothing here fails: these clocks exist on every Linux.
 */
#ifndef MMB_GUEST_CLOCK_H
#define MMB_GUEST_CLOCK_H

#include <stdint.h>

/* Monotonic time. */
uint64_t clock_ns(void);

/* Monotonic time as of the last timer tick: changes when a tick was handled. */
uint64_t clock_tick_ns(void);

/* Returns right after a timer tick: where every measured part starts. */
void clock_phase(void);

#endif
