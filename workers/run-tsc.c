// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/run-tsc.h"

#include <errno.h>

#ifdef __x86_64__
#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

#define SPAN_NS 20000000u
#define TRIES 16

struct instant {
	uint64_t ns, tsc;
};

static uint64_t now_ns(void)
{
	struct timespec ts = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Both clocks at one time: of some tries the one that was interrupted least. */
static struct instant read_both(void)
{
	struct instant best = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = __rdtsc(), ns = now_ns(), after = __rdtsc();

		if (after - before >= least)
			continue;
		least = after - before;
		best = (struct instant){ .ns = ns, .tsc = before + (after - before) / 2 };
	}
	return best;
}

int run_tsc_khz(unsigned *ret)
{
	static unsigned khz;
	const struct timespec span = { .tv_nsec = SPAN_NS };
	struct instant a, b;

	if (!khz) {
		a = read_both();
		while (clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL) == EINTR)
			;
		b = read_both();
		khz = (unsigned)((b.tsc - a.tsc) * 1000000u / (b.ns - a.ns));
	}
	*ret = khz;
	return 0;
}
#else
int run_tsc_khz(unsigned *ret)
{
	(void)ret;
	return -EOPNOTSUPP;
}
#endif
