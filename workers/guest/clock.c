// SPDX-License-Identifier: GPL-2.0-or-later
#include "clock.h"

#include <time.h>

#define NS_PER_S 1000000000ULL

static uint64_t read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t clock_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_tick_ns(void)
{
	return read_ns(CLOCK_MONOTONIC_COARSE);
}

/*
 * Two kernels that do the same work reach the measured part after a different
 * number of instructions. Without this, a short part holds one tick more in one
 * of them than in the other, and the tick shows as a difference.
 */
void clock_phase(void)
{
	uint64_t tick = clock_tick_ns();

	while (clock_tick_ns() == tick)
		;
}
