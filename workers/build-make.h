/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_BUILD_MAKE_H
#define MMB_BUILD_MAKE_H

/*
 * The two uses of a tree's make: to configure it, and to compile it. Both run in the sandbox, in the slot's warm O= tree.
 * BUILD_FAILED is the tree's fault, everything else the host's.
 */
#include "workers/build-config.h"
#include "workers/build-sandbox.h"

struct build {
	struct build_job job;
	struct build_run run;
	struct slot slot;
	struct config_request request;
	char config_hash[HASH_HEX_LEN + 1];
	char *toolchain;
	json_t *unknown_options; /* asked for, not known to this tree */
};
void build_done(struct build *b);
#define _cleanup_build_ _cleanup_(build_done)

/* Brings /obj/.config to the request; does nothing when no file that configures has changed since the last time. */
int build_configure(struct build *b, struct error *err);
int build_compile(struct build *b, struct error *err);
/* The final .config, checked against the request. */
int build_final_config(struct build *b, struct error *err, char **ret);

/* make and the arguments that every call has; for build-configure.c and build-compile.c. */
void build_add_make(const struct build *b, struct argv *argv, bool configures);
/* Runs argv in the sandbox; a failure becomes a verdict. `line` may be NULL. *ret_sure as verdict_is_sure(). */
int build_step(struct build *b, const struct argv *argv, build_line_fn line, void *userdata, struct error *err,
	       bool *ret_sure);

#endif
