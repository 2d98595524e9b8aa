// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/clock.h"

#include <stdio.h>
#include <time.h>

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts;

	(void)clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

uint64_t now_mono_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t now_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

const char *clock_iso8601(uint64_t wall_ns, char out[32])
{
	time_t t = (time_t)(wall_ns / NSEC_PER_SEC);
	struct tm tm;

	if (!gmtime_r(&t, &tm) || strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		(void)snprintf(out, 32, "unknown");
	return out;
}

const char *clock_rfc5322(uint64_t wall_ns, char out[40])
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t t = (time_t)(wall_ns / NSEC_PER_SEC);
	struct tm tm = { 0 };

	(void)gmtime_r(&t, &tm);
	(void)snprintf(out, 40, "%.3s, %d %.3s %d %02d:%02d:%02d +0000", days + 3 * (tm.tm_wday % 7),
		       tm.tm_mday, months + 3 * (tm.tm_mon % 12), tm.tm_year + 1900, tm.tm_hour,
		       tm.tm_min, tm.tm_sec);
	return out;
}
