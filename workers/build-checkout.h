/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_BUILD_CHECKOUT_H
#define MMB_BUILD_CHECKOUT_H

/*
 * Brings a slot's work tree to a commit, and asks git about it.
 *
 * git runs on the slot's own git folder, with the repository's objects as an alternate: no config, hook, filter, index or ref of the
 * repository takes part, and nothing in it is written. Files whose content is the same keep their time, so that make leaves them alone.
 */
#include "workers/build-slot.h"

int checkout(struct slot *slot, const struct build_job *job, struct build_run *run, struct error *err);
/* Runs git (argv without "git") on the checked out tree and gives back its output. */
int checkout_ask(const struct slot *slot, const char *const *argv, struct error *err, int *ret_status,
		 char **ret_out);

#endif
