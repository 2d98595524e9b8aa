/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_ERROR_H
#define MMB_ERROR_H

/*
 * An error that a person is told: a message that grows on its way up, beside the negative errno that functions return.
 *
 * Functions where errno alone says too little (config, git, qemu, build) take `struct error *err` as their last argument
 * before the `ret_*` outputs; it may be NULL. They set it with error_set() and return the same number; callers put context in front
 * with error_prefix(). The struct is a value: ERROR_INIT, error_done(). Libraries never log; the process's verb prints it once.
 */
#include "lib/cleanup.h"

struct error {
	int code;      /* negative errno, 0: none */
	char *message; /* NULL when out of memory or none: use error_text() */
};

#define ERROR_INIT ((struct error){ 0 })
#define _cleanup_error_ _cleanup_(error_done)

void error_done(struct error *err);
/* Returns `code` (which must be negative), so that callers can `return error_set(err, -EINVAL, "...")`. */
int error_set(struct error *err, int code, const char *format, ...) _printf_(3, 4);
/* As error_set(), with ": <strerror>" behind. */
int error_errno(struct error *err, int code, const char *format, ...) _printf_(3, 4);
/* Puts "text: " in front of the message; returns the code. */
int error_prefix(struct error *err, const char *format, ...) _printf_(2, 3);
/* Never NULL. */
const char *error_text(const struct error *err);

#endif
