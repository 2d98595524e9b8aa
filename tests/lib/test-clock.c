// SPDX-License-Identifier: GPL-2.0-or-later
/* Dates as text, whatever the time zone and the locale. */
#include "lib/clock.h"

#include "tap.h"

#include <locale.h>

int main(void)
{
	char iso[32], mail[40];
	uint64_t a, b;

	(void)setenv("TZ", "Asia/Kolkata", 1);
	(void)setlocale(LC_ALL, "");
	is_str(clock_iso8601(UINT64_C(1785510245) * NSEC_PER_SEC + 999999999, iso), "2026-07-31T15:04:05Z", "ISO 8601");
	is_str(clock_rfc5322(UINT64_C(1785510245) * NSEC_PER_SEC, mail), "Fri, 31 Jul 2026 15:04:05 +0000", "RFC 5322");
	is_str(clock_iso8601(0, iso), "1970-01-01T00:00:00Z", "the epoch");
	is_str(clock_rfc5322(0, mail), "Thu, 1 Jan 1970 00:00:00 +0000", "the epoch in a mail");
	is_str(clock_rfc5322(UINT64_C(951782400) * NSEC_PER_SEC, mail), "Tue, 29 Feb 2000 00:00:00 +0000", "a leap day");
	ok(strlen(clock_iso8601(UINT64_MAX, iso)) < sizeof(iso) && strlen(clock_rfc5322(UINT64_MAX, mail)) < sizeof(mail),
	   "the last moment fits");
	a = now_mono_ns();
	b = now_mono_ns();
	ok(b >= a, "the monotonic clock does not go back");
	ok(now_wall_ns() > UINT64_C(1600000000) * NSEC_PER_SEC, "the wall clock is after 2020");
	return done_testing();
}
