/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The named worlds of the simulation, and the bar that the judge must meet in each.
 *
 * Constant tables. B1 to B16 are the bars of docs/architecture.md, "The simulation"; "B6-64" and
 * the like are parts of one bar. What is 0 in a bar asks for nothing.
 */
#ifndef MMB_SIMULATE_SCENARIO_H
#define MMB_SIMULATE_SCENARIO_H

#include "daemon/simulate/trial.h"

#define SCENARIO_TRIALS 300
#define BAR_NONE 1e-9 /* a bar of zero */

/* Shares in percent of the trials, means over the trials. */
struct bar {
	double right, not_reproduced, answered; /* at least; answered: named a commit or a set */
	double wrong, claim_wrong;		/* at most */
	double cost, cost_all; /* mean, at most: of the answer, and with the rest explained */
	double builds, runs_over_builds;    /* mean, at most */
	const char *cost_of;		    /* scenario whose mean cost is 1 ... */
	double cost_ratio;		    /* ... and this times that is the most */
	double flagged_least, flagged_most; /* partial */
	double cpu_ms;			    /* a decision, mean */
	double differs;			    /* decisions after a restart */
};

struct scenario {
	const char *id, *help;
	struct world_options world;
	struct bar bar;
	struct trial_options options;
	unsigned trials; /* 0: SCENARIO_TRIALS */
};

extern const struct scenario scenarios[];
extern const size_t n_scenarios;

/* Is this one meant by `pattern`: NULL (all with a bar), its id, or what stands before a '-' of it?
 */
bool scenario_matches(const struct scenario *s, const char *pattern);
const struct scenario *scenario_find(const char *id);
bool scenario_has_bar(const struct scenario *s); /* capital B: the others are for comparison */

#endif
