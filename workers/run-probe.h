/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_RUN_PROBE_H
#define MMB_RUN_PROBE_H

/*
 * Which accelerator this host has. /dev/kvm that opens, answers its version and makes a VM can still be unable to run
 * a guest: the only proof is a known small guest that boots to its end record in time.
 */
#include "lib/error.h"
#include "lib/json.h"

struct run_probe {
	const char *arch, *kernel, *initramfs;
	unsigned limit_seconds;
};

/* {"accel":"kvm"|"tcg","reason":"…","seconds":1.2,"qemu":"7.2.22"|null}; -EINTR as run_vm(). */
int run_probe(const struct run_probe *probe, struct error *err, json_t **ret);

#endif
