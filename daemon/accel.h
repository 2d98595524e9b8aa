/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_ACCEL_H
#define MMB_ACCEL_H

/*
 * Which accelerator a machine gets. "auto" means KVM where it was seen to work: /dev/kvm that opens proves nothing, so a
 * known small guest is booted to its end record under a time limit and the answer is remembered per host, kernel and QEMU.
 */
#include "daemon/engine.h"

/* "tcg" or "kvm". A probe that is needed runs here and blocks for its limit at most (once a host). */
int accel_resolve(struct engine *engine, const struct machine *machine, const char *qemu_version, struct error *err,
		  char **ret);
/* Why: for people. NULL when nothing was probed. */
int accel_reason(struct engine *engine, const char *arch, const char *qemu_version, char **ret);

#endif
