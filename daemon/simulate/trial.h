/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One search of a world by one method, and what became of it.
 *
 * A method asks the world for builds and runs until it has an answer, which the referee weighs. A
 * trial is a plain value. Negative errno: -ENOMEM, and what judge_next() says of wrong input.
 */
#ifndef MMB_SIMULATE_TRIAL_H
#define MMB_SIMULATE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/simulate/referee.h"
#include "daemon/simulate/world.h"

extern const char *const outcome_names[OUTCOME_N];

struct trial {
	enum outcome outcome;
	bool partial;	       /* the rest of the change is said to have another cause */
	bool claimed;	       /* came to name a commit, before it was confirmed */
	bool claim_right;      /* that one is a culprit */
	double answer_seconds; /* of machines, until the answer was confirmed */
	double seconds;	       /* of machines, all: with the top-up that explains the rest */
	double wall;	       /* seconds on as many slots as the world has */
	unsigned builds, runs, decisions;
	unsigned differs;    /* decisions that came out otherwise after a restart */
	double cpu, cpu_max; /* seconds of the decisions: all, the longest */
	unsigned number;
};

struct trial_options {
	double restart; /* share of decisions at which the asker is killed and starts anew */
	bool eager;	/* asks after each run, not when the whole batch is there */
	unsigned most;	/* decisions after which it is BROKEN; 0 is 20000 */
	FILE *trace;	/* NULL: none; each decision and its reason */
};

/* Fills in outcome, partial and claims; trial_run() does the rest. */
typedef int method_run(struct world *w, const struct trial_options *options, int parameter,
		       struct trial *ret);

struct method {
	const char *name, *help;
	method_run *run;
	int parameter; /* runs a step, for instance */
};

extern const struct method methods[];
extern const size_t n_methods;
const struct method *method_find(const char *name);

int trial_run(const struct world_options *world, const struct method *method,
	      const struct trial_options *options, uint64_t seed, const char *name, unsigned number,
	      struct trial *ret);

method_run method_judge;

#endif
