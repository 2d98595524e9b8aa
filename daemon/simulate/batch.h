/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `mmbisect simulate` prints: the judge against its bars, all methods side by side, and the
 * power curve; as text on stdout, or as rows of a document.
 *
 * A batch is the caller's; batch_done() frees its content. Errors go to err.
 */
#ifndef MMB_SIMULATE_BATCH_H
#define MMB_SIMULATE_BATCH_H

#include <jansson.h>

#include "daemon/simulate/pool.h"
#include "daemon/simulate/tally.h"
#include "lib/error.h"

struct batch {
	const struct method *method;
	uint64_t seed;
	unsigned trials; /* 0: as many as is usual */
	unsigned jobs;	 /* processes */
	bool quiet;	 /* no progress on stderr */
	bool text;	 /* rows are printed too */
	json_t *rows;
	bool missed;	       /* a bar */
	struct tally *tallies; /* one a scenario; without trials: not run yet */
	/* of the progress line */
	const char *name;
	unsigned now;
	uint64_t started_ns;
};

int batch_init(struct batch *s, struct error *err);
void batch_done(struct batch *s);

/* Scenarios that match (scenario.h); -EINVAL: none does. A missed bar is remembered in `missed`. */
int batch_scenarios(struct batch *s, const char *pattern, struct error *err);
/* The tables of all methods. */
int batch_table(struct batch *s, struct error *err);
/* Right answers and cost over the size of the change. */
int batch_power(struct batch *s, struct error *err);
/* All methods among the noise of real runs. -EINVAL: the pool has no change for the worse. */
int batch_pool(struct batch *s, const struct world_pool *pool, struct error *err);

/* Private to the room: one cell. */
int batch_run(struct batch *s, const struct world_options *world,
	       const struct trial_options *options, const char *name, const struct method *method,
	       unsigned trials, struct error *err, struct tally *ret);
/* Private: adds a row; the members it begins with are taken over, NULL is no memory. */
int batch_add(struct batch *s, json_t *row, const struct tally *t, struct error *err);

#endif
