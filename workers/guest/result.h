/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's end of the result channel: one JSON object a line, each with the
 * job's nonce and a running number (docs/architecture.md, "The result channel").
 *
 * The writer lives in memory that is shared with the workload's process, so that
 * the numbering goes on whichever of the two writes. A write that fails is
 * remembered in `failed`: there is no other way out to tell it by, and the host
 * sees the missing record.
 */
#ifndef MMB_GUEST_RESULT_H
#define MMB_GUEST_RESULT_H

#include <stdint.h>

#define RESULT_NONCE_MAX 64

struct result {
	int fd;
	int failed; /* first -errno of a write, or 0 */
	uint64_t records;
	char nonce[RESULT_NONCE_MAX + 1];
};

/* A writer on `fd`, which stays the caller's. NULL when memory is out. */
struct result *result_new(int fd, const char *nonce);

/* "init is alive" and "the measured part begins"; the latter returns once sent. */
void result_hello(struct result *r);
void result_measure(struct result *r);

/* One sample. Lower is better for all that the guest measures so far. */
void result_sample(struct result *r, const char *metric, double value, const char *unit);

/* Why there will be no (more) samples; printable ASCII of `fmt` only. */
void result_error(struct result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The last record; returns once it has left the guest. */
void result_end(struct result *r, int exit_status);

#endif
