/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_ENVIRONMENT_H
#define MMB_ENVIRONMENT_H

/* What a document says of how it was measured: machines, toolchain, QEMU, accelerator and why. */
#include "daemon/engine.h"

/* Adds `machines`, `toolchain`, `qemu` and `accelerator` to doc. 0 or -ENOMEM; what is not known is left out. */
int environment_add(struct engine *engine, const char *arch, const char *workload, bool exact, bool time, json_t *doc);

#endif
