/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many trials of one method in one world, added up, and held against a bar.
 *
 * Plain values. A tally of no trial has means of 0.
 */
#ifndef MMB_SIMULATE_TALLY_H
#define MMB_SIMULATE_TALLY_H

#include "daemon/simulate/scenario.h"

#define TALLY_MISSED_MAX 160

struct tally {
	unsigned trials, outcomes[OUTCOME_N];
	unsigned flagged, claims, claims_wrong, differs;
	double cost, cost2, cost_all,
		wall; /* sums of seconds; cost2 of squares; cost: of the answer */
	double builds, runs, decisions, cpu;
	double cpu_max; /* longest decision, seconds */
};

void tally_add(struct tally *tally, const struct trial *t);

double tally_percent(const struct tally *tally, enum outcome outcome);
double tally_mean(const struct tally *tally, double sum);
double tally_cost_error(const struct tally *tally); /* standard error of the mean cost */
double tally_cpu_ms(const struct tally *tally);	    /* mean of a decision */

/*
 * Names what is missed in `ret_missed`, of TALLY_MISSED_MAX bytes, "" for nothing. cost_of: mean
 * cost of the scenario that the bar's ratio refers to, 0: not known. True when all is met.
 */
bool tally_meets(const struct tally *tally, const struct bar *bar, double cost_of,
		 char *ret_missed);
/*
 * Of fewer trials than a bar is meant for, that miss it: would one that is met show such counts, or such a mean cost, in less than one
 * case of twenty? What may not happen once contradicts it as well.
 */
bool tally_contradicts(const struct tally *tally, const struct bar *bar);

#endif
