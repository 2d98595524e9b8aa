/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The usual ways to find a slow commit, as far as they are known, in the same world at the same
 * cost. Private to this room and its tests.
 *
 * They are readings of what others do (JUDGE.md part A), not their code. Methods as in trial.h;
 * -ENOMEM is all that fails.
 */
#ifndef MMB_SIMULATE_RIVAL_H
#define MMB_SIMULATE_RIVAL_H

#include "daemon/simulate/trial.h"

method_run rival_repeat;   /* git bisect, `parameter` runs a step, by their median */
method_run rival_sprt;	   /* git bisect, a sequential test a step */
method_run rival_pinpoint; /* neighbours compared by ranks, more runs while it is not clear */
method_run rival_onebit;   /* posterior over commits, one bit a run */

/* Is this commit bad? Measures it; it builds. */
typedef int rival_test(struct world *w, int node, const void *arg, bool *ret_bad);

/* git's bisection between anchors that are taken for granted; the answer goes to the referee. */
int rival_bisect(struct world *w, rival_test *test, const void *arg, struct trial *ret);

/* What runs of both anchors gave. */
struct rival_ends {
	double good, bad; /* means of the clipped values */
	double sigma;	  /* spread of a run */
};

/*
 * Pairs of runs of both anchors until a Bayes factor of 20 says that bad is worse. 1: it is; 0: it
 * is not, or cannot be told in 250 pairs, and ret->outcome says which.
 */
int rival_find_ends(struct world *w, struct trial *ret, struct rival_ends *ret_ends);

/* n more runs of a node, into values. */
int rival_runs(struct world *w, int node, unsigned n, double *values);
double rival_normal(double z); /* standard normal distribution function */

#endif
