/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The search of the noisy classes. Private to this room.
 *
 * Bayesian change point on the graph, after JUDGE.md part C: which candidate is the culprit is
 * weighed with both levels, the spread of a run and of builds integrated out, on all runs so far.
 * What to do next is what tells most for its seconds: run a new commit, run one again, run an end
 * again. One answer at 0.99 is confirmed by fresh pairs of parent and culprit.
 */
#ifndef MMB_JUDGE_NOISY_H
#define MMB_JUDGE_NOISY_H

#include "daemon/judge/judge.h"

/* As judge_next(), of inputs that it has checked. */
int judge_noisy(const struct judge_dag *dag, const struct judge_obs *obs,
		const struct judge_options *opt, struct judge_decision *ret);

/* An anchor without a value ends the search before it starts: true, and the decision says why. */
bool judge_hopeless(const struct judge_obs *good, const struct judge_obs *bad,
		    struct judge_decision *d);

/* Plain bisection on one value a commit: where there is no noise. */
int judge_bisect(const struct judge_dag *dag, const struct judge_obs *obs,
		 const struct judge_options *opt, struct judge_decision *ret);

#endif
