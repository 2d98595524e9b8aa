/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_BUILD_ARGV_H
#define MMB_BUILD_ARGV_H

/*
 * A growing argument vector of formatted strings, always NULL terminated once something was added. Adding fails only for want of memory;
 * that is remembered, and argv_get() then gives NULL.
 */
#include "lib/cleanup.h"

struct argv {
	char **items;
	size_t n, capacity;
	bool failed;
};
#define ARGV_INIT ((struct argv){ 0 })

void argv_done(struct argv *argv);
void argv_add(struct argv *argv, const char *format, ...) _printf_(2, 3);
/* Adds copies of a list that ends with NULL. */
void argv_add_list(struct argv *argv, const char *const *list);
const char *const *argv_get(const struct argv *argv);
#define _cleanup_argv_ _cleanup_(argv_done)

#endif
