/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two samples of equal size, a change between them or none: the evidence, however often one looks.
 *
 * The Bayes factor of the two-sample t statistic (Goenen, Johnson, Lu, Westfall 2005, "The Bayesian
 * two-sample t test"): a change of N(0, g) standard deviations of one value against none, g = 1.
 * Mean and spread have the right Haar prior, so it is the likelihood ratio of the t statistic and,
 * with normal values, a test martingale (Hendriksen, de Heide, Gruenwald 2021): without a change it
 * ever reaches 1/a with probability a at most. Looking after each pair costs nothing.
 *
 * Plain functions of numbers; nothing fails. Values must be finite.
 */
#ifndef MMB_JUDGE_BAYES_FACTOR_H
#define MMB_JUDGE_BAYES_FACTOR_H

#include <stddef.h>

/*
 * Natural logarithm of the factor. delta: difference of the means; se: its standard error, that is
 * s sqrt(2 / pairs) with the pooled s of 2 pairs - 2 degrees of freedom. Below two pairs, and for
 * NAN, 0: nothing known. se 0 is the limit: of no change when delta is 0 too, else of an endless t.
 *
 *   n = pairs / 2, df = 2 pairs - 2, t = delta / se
 *   -1/2 ln(1 + n) + (df + 1)/2 [ln(1 + t^2 / df) - ln(1 + t^2 / (df (1 + n)))]
 */
double judge_ln_bayes_factor(double delta, double se, unsigned pairs);

/*
 * Half of the interval of delta that holds the true change with probability 1 - alpha however often
 * one looks: the changes whose factor, for delta without them, stays below 1 / alpha. INFINITY
 * while there are too few pairs to leave out any.
 */
double judge_bayes_reach(double se, unsigned pairs, double alpha);

/*
 * Natural logarithm of the likelihood of a change of m against none. Below ln 0.01 nothing as large
 * as m is worth waiting for (futility). m and delta have the sign of the change asked for; 0 when
 * nothing is known, -INFINITY or INFINITY when se is 0.
 */
double judge_ln_against_none(double m, double delta, double se);
#define JUDGE_LN_FUTILE (-4.605170185988091)

/* Pairs that tell a change of this size from none with 0.1 % error each way: 2 (3.3 sd / change)^2. 0: no number of them. */
unsigned judge_pairs_needed(double change, double sd);

/* What the two above need. */
struct judge_difference {
	double delta; /* mean of b - mean of a */
	double se;    /* NAN below two pairs */
	double sd;    /* of one value, pooled, NAN below two pairs */
	unsigned pairs;
};

/*
 * Of the first `pairs` values of both. Each value is first clipped to 2.5 spreads about the median
 * of its side, the spread being 1.4826 times the median of all absolute distances from these
 * medians, sqrt(n / (n - 1)) wider: one boot in thirty is an outlier, and a mean holds none.
 * When that spread is 0, nothing is clipped. Quadratic; no memory. pairs 0: delta NAN.
 */
struct judge_difference judge_clipped_difference(const double *a, const double *b, unsigned pairs);

#endif
