/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rank statistics of two small samples: median, Mann-Whitney test, Hodges-Lehmann interval.
 *
 * All values must be finite: callers check with judge_all_finite(). Samples are borrowed and never
 * changed. Functions fail with -EINVAL (an empty sample), -E2BIG (more than JUDGE_SAMPLE_MAX
 * values) or -ENOMEM. Sources: Mann and Whitney 1947; Hollander, Wolfe, Chicken, "Nonparametric
 * Statistical Methods", 3rd ed., 4.1 (test, ties) and 4.3 (interval).
 */
#ifndef MMB_JUDGE_STATS_H
#define MMB_JUDGE_STATS_H

#include <stdbool.h>
#include <stddef.h>

#define JUDGE_SAMPLE_MAX 4096

/* Up to this many values in both samples together the test enumerates; counts stay below 2^53. */
#define JUDGE_EXACT_MAX 50

/* The median absolute deviation of a normal sample is this part of its standard deviation, inverted. */
#define JUDGE_MAD_TO_SD 1.4826

bool judge_all_finite(const double *values, size_t n);
bool judge_all_positive(const double *values, size_t n);

/* Ascending. */
void judge_sort(double *values, size_t n);

/* Middle value, or the mean of the two middle ones; NAN for an empty sample. Unit of the values. */
double judge_median(const double *values, size_t n);
/* The same of values that may be sorted on the way: quicker for many. */
double judge_sort_median(double *values, size_t n);

/* The point below which a share p, 0 < p < 1, of a standard normal distribution lies. */
double judge_normal_quantile(double p);

/*
 * Two-sided p of the Mann-Whitney test: twice the smaller tail, at most 1. Up to JUDGE_EXACT_MAX
 * values the permutation distribution of the sum of midranks (so ties are exact too), above it the
 * normal approximation with correction for ties and continuity.
 */
int judge_rank_test(const double *a, size_t n_a, const double *b, size_t n_b, double *ret_p);

/* The smallest p that samples of these sizes can reach: 2 / (n_a + n_b choose n_a). */
double judge_rank_test_min_p(size_t n_a, size_t n_b);

/* How the distance between two values is measured. */
enum judge_shift {
	JUDGE_SHIFT_DIFFERENCE /* b - a */,
	JUDGE_SHIFT_RATIO /* b / a, all positive */
};

/*
 * Confidence interval of the shift from a to b, from the order statistics of all n_a * n_b pairwise
 * shifts, covering at least `confidence`. Both ends are NAN when the samples are too few for it
 * (0.95 needs 4 and 4).
 */
int judge_shift_interval(const double *a, size_t n_a, const double *b, size_t n_b,
			 enum judge_shift shift, double confidence, double *ret_low,
			 double *ret_high);

#endif
