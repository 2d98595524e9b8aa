/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A new image against the one before, noisy classes: worse, better, the same, or run both once
 * more?
 *
 * Runs of the two are interleaved (ABBA), so that a host that drifts is no change. After each pair
 * the Bayes factor of bayes-factor.h is looked at, which may be done as often as one likes: without
 * a change, "worse" or "improved" is ever said with probability alpha at most (normal values; what
 * clipping does to it is in test-sequential.c). A change counts when it is sure and as large as the
 * practical minimum; the rest is the same when a change of that size has become unlikely.
 *
 * Measured (test-sequential.c, 1000 comparisons each, a look after each round, 250 pairs at most):
 * 0.2 to 1.1 % false alarms at alpha 0.01, also with a tenth of outliers or with drift. No change
 * and a minimum of 1, 0.5 standard deviations of a run: "same" after 31, 123 pairs on average.
 * Changes of 5, 2, 1, 0.5 deviations, the minimum half of it: found in 97 % or more after 10, 12,
 * 30, 109 pairs. With outliers and no change the budget may end first: it takes 190 pairs.
 *
 * Pure; values are borrowed. -EINVAL: an option out of range; -EDOM: a value that is not finite;
 * -E2BIG as in stats.h.
 */
#ifndef MMB_JUDGE_SEQUENTIAL_H
#define MMB_JUDGE_SEQUENTIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/judge/compare.h"

enum judge_answer {
	JUDGE_ASK_MORE, /* run each `more` times more */
	JUDGE_SAY_SAME, /* no change as large as the minimum */
	JUDGE_SAY_WORSE,
	JUDGE_SAY_IMPROVED,
	JUDGE_SAY_UNDECIDED, /* the budget is spent; `needed` runs of each would tell */
};

struct judge_sequential_options {
	enum judge_better better;
	double minimum;	 /* practical minimum, relative: 0.02 is 2 %; > 0 */
	double alpha;	 /* 0 is 0.01 */
	unsigned budget; /* pairs at most; 0 is JUDGE_SEQUENTIAL_BUDGET */
};
#define JUDGE_SEQUENTIAL_BUDGET 250

struct judge_sequential {
	enum judge_answer answer;
	unsigned more;	 /* ASK_MORE, else 0 */
	unsigned pairs;	 /* that were looked at */
	unsigned needed; /* of each, to see a change of the minimum with this spread; 0: not known
			    yet */
	double before, after; /* medians */
	double ratio;	      /* of the clipped means (geometric where all is positive) */
	double low, high;     /* of the ratio, 95 %, however often one looks; NAN: too few pairs */
	double effect;	      /* change in standard deviations of one run, NAN: not known */
	double ln_evidence;   /* ln of the Bayes factor; exp(-it) is a p that survives peeking */
	char reason[160];
};

/* The first min(n_base, n_tip) values of both, in the order they were measured. */
int judge_sequential(const double *base, size_t n_base, const double *tip, size_t n_tip,
		     const struct judge_sequential_options *opt, struct judge_sequential *ret);

/* Is the base to be run first in pair k (from 0)? ABBA. */
bool judge_base_first(unsigned k);

#endif
