/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_CLOCK_H
#define MMB_CLOCK_H

/* Times are uint64_t nanoseconds in names that end in _ns. Durations and deadlines use the monotonic clock, which does
 * not jump; the wall clock is only for dates that a person reads. */
#include <stdint.h>

#define NSEC_PER_SEC UINT64_C(1000000000)
#define NSEC_PER_MSEC UINT64_C(1000000)

uint64_t now_mono_ns(void); /* CLOCK_MONOTONIC */
uint64_t now_wall_ns(void); /* CLOCK_REALTIME */

/* "2026-11-30T15:04:05Z"; out holds at least 32 bytes. */
const char *clock_iso8601(uint64_t wall_ns, char out[32]);
/* RFC 5322: "Mon, 30 Nov 2026 15:04:05 +0000"; out holds at least 40 bytes. English names whatever the locale. */
const char *clock_rfc5322(uint64_t wall_ns, char out[40]);

#endif
