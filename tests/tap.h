/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_TAP_H
#define MMB_TAP_H

/*
 * TAP for the C tests: ok(), is_int(), is_str(), is_near(), then `return done_testing();` from main.
 * A failed check prints where and what; the exit status is 1 when any failed. A skip must be a skip for a reason
 * (skip()), and prove counts it as such.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int tap_n, tap_failed;

__attribute__((format(printf, 4, 5), unused)) static int tap_ok(int good, const char *file, int line, const char *format, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_n);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n");
	if (!good) {
		tap_failed++;
		printf("#   failed at %s:%d\n", file, line);
	}
	fflush(stdout);
	return good;
}

#define ok(condition, ...) tap_ok(!!(condition), __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, ...)                                                                     \
	do {                                                                                       \
		long long got_ = (long long)(got), want_ = (long long)(want);                      \
		if (!ok(got_ == want_, __VA_ARGS__))                                               \
			printf("#   got %lld, want %lld\n", got_, want_);                          \
	} while (0)
#define is_str(got, want, ...)                                                                     \
	do {                                                                                       \
		const char *got_ = (got), *want_ = (want);                                         \
		if (!ok(got_ && want_ && strcmp(got_, want_) == 0, __VA_ARGS__))                   \
			printf("#   got '%s', want '%s'\n", got_ ? got_ : "(null)",                \
			       want_ ? want_ : "(null)");                                          \
	} while (0)
#define is_near(got, want, tolerance, ...)                                                         \
	do {                                                                                       \
		double got_ = (got), want_ = (want);                                               \
		if (!ok(fabs(got_ - want_) <= (tolerance), __VA_ARGS__))                           \
			printf("#   got %.12g, want %.12g\n", got_, want_);                        \
	} while (0)
#define skip(reason, ...)                                                                          \
	do {                                                                                       \
		printf("ok %d # SKIP %s: ", ++tap_n, reason);                                      \
		printf(__VA_ARGS__);                                                               \
		printf("\n");                                                                      \
	} while (0)

__attribute__((unused)) static int done_testing(void)
{
	printf("1..%d\n", tap_n);
	return tap_failed ? 1 : 0;
}

#endif
