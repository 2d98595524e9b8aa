/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_BUILD_SIGNATURE_H
#define MMB_BUILD_SIGNATURE_H

/*
 * The signature of an image: SHA-256 over what of a vmlinux is loaded and executed.
 *
 * It covers entry, load segments and each allocated section with name, address, size, flags and content. It leaves out notes
 * (build ids) and the source line numbers in __bug_table, which move when a comment above a WARN_ON() grows: two kernels with one signature execute
 * the same instructions on the same data. The file is bytes of strangers: every offset is checked against its size.
 */
#include "lib/error.h"
#include "lib/hash.h"

/* fd: a regular file, read with pread(). -EBADMSG when it is no little-endian ELF file with loaded sections. */
int signature_of_elf(int fd, struct error *err, char ret[HASH_HEX_LEN + 1]);

#endif
