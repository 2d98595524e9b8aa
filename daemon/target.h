/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_TARGET_H
#define MMB_TARGET_H

/*
 * The identity of a result (DESIGN.md): (image signature, arch, config, toolchain, workload + parameters + version, machine).
 * A target is all of it but the signature; its text is stored with the series and its hash keys it.
 */
#include "daemon/engine.h"

/* Loads, resolves (accelerator, vCPUs, guest) and registers a target; the same one again on a second call. */
int target_get(struct engine *engine, const char *arch, const char *workload, const char *class, struct error *err,
	       const struct target **ret);
void target_free_all(struct engine *engine);

/* Hash of the kernel config that is asked for: base target and all fragments of the arch. */
int target_config(struct engine *engine, const char *arch, struct error *err, char ret[65]);
/* The fragments of an arch, in merge order, as a JSON array of paths. */
int target_fragments(struct engine *engine, const char *arch, struct error *err, json_t **ret);

/*
 * Whether a queued job is still what would be asked for today: 1 yes, 0 it is of another toolchain, config or guest.
 * -ESTALE: the tools or files have changed under this process, which must start anew before it measures on.
 */
int target_job_current(struct engine *engine, const json_t *spec, struct error *err);

/* The worker's `machine` and `workload` objects. */
int target_job_parts(const struct target *target, json_t **ret_machine, json_t **ret_workload);

/* "clang 14.0.6, ld.lld 14.0.6, make 4.3", asked of the tools themselves. -ENOENT with the name of a missing one. */
int toolchain_text(struct error *err, char **ret);
/* First "N.N.N" in the output of `program --version`. */
int program_version(const char *program, struct error *err, char **ret);

#endif
