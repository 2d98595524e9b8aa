/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_BUILD_TOOLCHAIN_H
#define MMB_BUILD_TOOLCHAIN_H

/* The programs that a build needs, and the versions that become part of a result's identity. */
#include "lib/error.h"

/* -ENOENT and "ld.lld not found" when a program is missing. *ret: "clang 14.0.6, ld.lld 14.0.6, make 4.3". */
int toolchain_probe(struct error *err, char **ret);
/* $PATH inside of the sandbox: those of our entries that it can see. NULL when out of memory. */
char *toolchain_sandbox_path(void);

#endif
