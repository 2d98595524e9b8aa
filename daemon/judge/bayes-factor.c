/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/bayes-factor.h"

#include <math.h>

#include "daemon/judge/stats.h"

#define CLIP 2.5

double judge_ln_bayes_factor(double delta, double se, unsigned pairs)
{
	if (pairs < 2 || isnan(delta) || isnan(se))
		return 0;

	double n = pairs / 2.0, df = 2.0 * pairs - 2;
	double none = -log1p(n) / 2;
	if (fpclassify(delta) == FP_ZERO)
		return none;

	double t2 = delta / se * (delta / se);
	if (!isfinite(t2)) /* both logarithms grow alike, log(1 + n) apart */
		return none + (df + 1) / 2 * log1p(n);
	return none + (df + 1) / 2 * (log1p(t2 / df) - log1p(t2 / (df * (1 + n))));
}

double judge_bayes_reach(double se, unsigned pairs, double alpha)
{
	if (pairs < 2)
		return INFINITY;

	/* 1 + u = k (1 + u / (1 + n)), u = t^2 / df */
	double n = pairs / 2.0, df = 2.0 * pairs - 2;
	double k = exp(2 / (df + 1) * (log1p(n) / 2 - log(alpha)));
	if (k >= 1 + n)
		return INFINITY;
	return se * sqrt(df * (k - 1) / (1 - k / (1 + n)));
}

double judge_ln_against_none(double m, double delta, double se)
{
	double gain = m * (delta - m / 2);

	if (isnan(gain) || isnan(se) || fpclassify(gain) == FP_ZERO)
		return 0;
	return gain / (se * se);
}

unsigned judge_pairs_needed(double change, double sd)
{
	double n = 2 * pow(3.3 * sd / change, 2);

	return change > 0 && sd > 0 && n < 1e9 ? (unsigned)ceil(n) : 0;
}

/*
 * The k-th smallest (from 0) absolute distance of both samples from their medians, by counting: no
 * memory, cannot fail.
 */
static double distance_at(const double *a, double mid_a, const double *b, double mid_b, unsigned n,
			  unsigned k)
{
	for (unsigned i = 0; i < 2 * n; i++) {
		double x = i < n ? fabs(a[i] - mid_a) : fabs(b[i - n] - mid_b);
		unsigned less = 0, equal = 0;

		for (unsigned j = 0; j < 2 * n; j++) {
			double y = j < n ? fabs(a[j] - mid_a) : fabs(b[j - n] - mid_b);

			less += y < x;
			equal += y <= x && y >= x;
		}
		if (less <= k && k < less + equal)
			return x;
	}
	return NAN;
}

/* Mean and sum of squares about it, clipped. */
static double clipped_mean(const double *values, unsigned n, double mid, double reach,
			   double *ret_squares)
{
	double sum = 0, squares = 0;

	for (unsigned i = 0; i < n; i++)
		sum += fmax(-reach, fmin(reach, values[i] - mid)) / n;
	for (unsigned i = 0; i < n; i++) {
		double d = fmax(-reach, fmin(reach, values[i] - mid)) - sum;

		squares += d * d;
	}
	*ret_squares = squares;
	return mid + sum;
}

struct judge_difference judge_clipped_difference(const double *a, const double *b, unsigned pairs)
{
	struct judge_difference d = {.delta = NAN, .se = NAN, .sd = NAN, .pairs = pairs};
	double n = pairs, squares_a, squares_b;

	if (pairs == 0)
		return d;
	if (pairs == 1) {
		d.delta = b[0] - a[0];
		return d;
	}

	double mid_a = judge_median(a, pairs), mid_b = judge_median(b, pairs);
	double spread = (distance_at(a, mid_a, b, mid_b, pairs, pairs - 1) +
			 distance_at(a, mid_a, b, mid_b, pairs, pairs)) /
			2 * JUDGE_MAD_TO_SD * sqrt(n / (n - 1));
	/* most values equal: a coarse metric, whose others are no outliers */
	double reach = spread > 0 ? CLIP * spread : INFINITY;
	double mean_a = clipped_mean(a, pairs, mid_a, reach, &squares_a);
	double mean_b = clipped_mean(b, pairs, mid_b, reach, &squares_b);

	d.delta = mean_b - mean_a;
	d.sd = sqrt((squares_a + squares_b) / (2 * n - 2));
	d.se = d.sd * sqrt(2 / n);
	return d;
}
