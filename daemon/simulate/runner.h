/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many trials on several processes. Each does every n-th trial and writes its results down a pipe;
 * none outlives the call. What comes out does not depend on how many there are, but for CPU times.
 *
 * Errors go to err: what fork() and a trial say, -EIO when a process ended early.
 */
#ifndef MMB_SIMULATE_RUNNER_H
#define MMB_SIMULATE_RUNNER_H

#include "daemon/simulate/tally.h"
#include "lib/error.h"

struct runner {
	const struct world_options *world;
	const struct method *method;
	const struct trial_options *options;
	uint64_t seed;
	const char *name; /* of the world: part of the seed */
	unsigned trials, jobs;
	/* After each trial, may be NULL. */
	void (*progress)(void *userdata, unsigned done);
	void *userdata;
};

int runner_run(const struct runner *runner, struct error *err, struct tally *ret);

#endif
