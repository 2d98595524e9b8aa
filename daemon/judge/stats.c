/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

bool judge_all_finite(const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(values[i]))
			return false;
	return true;
}

bool judge_all_positive(const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(values[i] > 0))
			return false;
	return true;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void judge_sort(double *values, size_t n)
{
	if (n > 1)
		qsort(values, n, sizeof(*values), by_value);
}

/* The value that would stand at place k of the sorted sample. Quadratic, but cannot fail. */
static double order_statistic(const double *values, size_t n, size_t k)
{
	for (size_t i = 0; i < n; i++) {
		size_t less = 0, equal = 0;

		for (size_t j = 0; j < n; j++) {
			less += values[j] < values[i];
			equal += !(values[j] < values[i]) && !(values[j] > values[i]);
		}
		if (less <= k && k < less + equal)
			return values[i];
	}
	return NAN;
}

double judge_median(const double *values, size_t n)
{
	if (n == 0)
		return NAN;
	if (n % 2)
		return order_statistic(values, n, n / 2);
	/* halves first: the sum of two large values may overflow */
	return order_statistic(values, n, n / 2 - 1) / 2 + order_statistic(values, n, n / 2) / 2;
}

double judge_sort_median(double *values, size_t n)
{
	if (n == 0)
		return NAN;
	judge_sort(values, n);
	return n % 2 ? values[n / 2] : values[n / 2 - 1] / 2 + values[n / 2] / 2;
}

static int check_sizes(size_t n_a, size_t n_b)
{
	if (n_a == 0 || n_b == 0)
		return -EINVAL;
	return n_a > JUDGE_SAMPLE_MAX || n_b > JUDGE_SAMPLE_MAX ? -E2BIG : 0;
}

/* Twice the midrank of `x` in a and b together: an integer, so that ties need no rounding. */
static int doubled_rank(double x, const double *a, size_t n_a, const double *b, size_t n_b)
{
	int less = 0, equal = 0;

	for (size_t i = 0; i < n_a; i++) {
		less += a[i] < x;
		equal += a[i] <= x && a[i] >= x;
	}
	for (size_t i = 0; i < n_b; i++) {
		less += b[i] < x;
		equal += b[i] <= x && b[i] >= x;
	}
	return 2 * less + equal + 1;
}

/*
 * How many choices of k of the n doubled ranks have the sum s? An array for s from 0 to *ret_max,
 * the caller's to free, NULL without memory. The usual dynamic programme over items; the sum of all
 * n doubled ranks is n (n + 1).
 */
static double *count_sums(const int *ranks, size_t n, size_t k, size_t *ret_max)
{
	size_t max = n * (n + 1), row = max + 1;
	double *ways = calloc((k + 1) * row, sizeof(*ways));

	if (!ways)
		return NULL;
	ways[0] = 1;
	for (size_t i = 0; i < n; i++)
		for (size_t j = k; j > 0; j--) {
			const double *from = ways + (j - 1) * row;
			double *to = ways + j * row;

			for (size_t s = (size_t)ranks[i]; s <= max; s++)
				to[s] += from[s - (size_t)ranks[i]];
		}
	for (size_t s = 0; s <= max; s++)
		ways[s] = ways[k * row + s];
	*ret_max = max;
	return ways;
}

/* P by enumeration; `ranks` are those of a, then those of b. */
static int exact_p(const int *ranks, size_t n_a, size_t n, double *ret_p)
{
	/* the smaller sample's sum says the same and is cheaper */
	bool first = n_a <= n - n_a;
	size_t k = first ? n_a : n - n_a, sum = 0, max;
	double below = 0, above = 0, all = 0;
	double *ways = count_sums(ranks, n, k, &max);

	if (!ways)
		return -ENOMEM;
	for (size_t i = 0; i < k; i++)
		sum += (size_t)ranks[first ? i : n_a + i];
	for (size_t s = 0; s <= max; s++) {
		all += ways[s];
		below += s <= sum ? ways[s] : 0;
		above += s >= sum ? ways[s] : 0;
	}
	free(ways);
	*ret_p = fmin(1, 2 * fmin(below, above) / all);
	return 0;
}

/* P by the normal approximation: Hollander et al., 4.1, (4.9) and (4.10), ties in the variance. */
static double normal_p(const int *ranks, size_t n_a, size_t n)
{
	double mean = (double)n_a * ((double)n + 1), sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		double d = ranks[i] - ((double)n + 1);

		squares += d * d;
		sum += i < n_a ? ranks[i] : 0;
	}
	/* variance of a sum of n_a drawn without replacement, in doubled ranks */
	double nd = (double)n, na = (double)n_a;
	double variance = na * (nd - na) / (nd * (nd - 1)) * squares;
	if (variance <= 0)
		return 1;
	/* half a rank of continuity is one doubled rank */
	double z = fmax(0, fabs(sum - mean) - 1) / sqrt(variance);
	return fmin(1, erfc(z / sqrt(2)));
}

int judge_rank_test(const double *a, size_t n_a, const double *b, size_t n_b, double *ret_p)
{
	int r = check_sizes(n_a, n_b);
	if (r < 0)
		return r;

	int *ranks = calloc(n_a + n_b, sizeof(*ranks));
	if (!ranks)
		return -ENOMEM;
	for (size_t i = 0; i < n_a + n_b; i++)
		ranks[i] = doubled_rank(i < n_a ? a[i] : b[i - n_a], a, n_a, b, n_b);
	if (n_a + n_b <= JUDGE_EXACT_MAX)
		r = exact_p(ranks, n_a, n_a + n_b, ret_p);
	else
		*ret_p = normal_p(ranks, n_a, n_a + n_b);
	free(ranks);
	return r;
}

double judge_rank_test_min_p(size_t n_a, size_t n_b)
{
	double p = 2;

	for (size_t i = 1; i <= n_a; i++)
		p *= (double)i / (double)(n_b + i);
	return fmin(1, p);
}

/* erfc, bisected. */
double judge_normal_quantile(double p)
{
	double low = -40, high = 40;

	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (erfc(-middle / sqrt(2)) / 2 < p)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/*
 * How many pairwise shifts to leave out at each end for two-sided error `alpha`: the largest c with
 * P(U <= c - 1) <= alpha / 2, 0 when there is none. U is half of the doubled rank sum above its
 * minimum.
 */
static int pairs_to_leave(size_t n_a, size_t n_b, double alpha, size_t *ret_count)
{
	size_t n = n_a + n_b, k = n_a < n_b ? n_a : n_b, max, count = 0;
	int ranks[JUDGE_EXACT_MAX];

	if (n > JUDGE_EXACT_MAX) {
		double ab = (double)n_a * (double)n_b;

		*ret_count = (size_t)fmax(
			0, floor(ab / 2 + judge_normal_quantile(alpha / 2) * sqrt(ab * ((double)n + 1) / 12)));
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		ranks[i] = 2 * ((int)i + 1);
	double *ways = count_sums(ranks, n, k, &max), all = 0, tail = 0;
	if (!ways)
		return -ENOMEM;
	for (size_t s = 0; s <= max; s++)
		all += ways[s];
	for (size_t s = k * (k + 1); s <= max; s += 2, count++) {
		tail += ways[s];
		if (tail / all > alpha / 2)
			break;
	}
	free(ways);
	*ret_count = count;
	return 0;
}

int judge_shift_interval(const double *a, size_t n_a, const double *b, size_t n_b,
			 enum judge_shift shift, double confidence, double *ret_low,
			 double *ret_high)
{
	size_t leave, pairs = n_a * n_b;
	int r = check_sizes(n_a, n_b);
	if (r < 0)
		return r;
	r = pairs_to_leave(n_a, n_b, 1 - confidence, &leave);
	if (r < 0)
		return r;
	if (leave == 0) {
		*ret_low = *ret_high = NAN;
		return 0;
	}

	double *shifts = calloc(pairs, sizeof(*shifts));
	if (!shifts)
		return -ENOMEM;
	for (size_t i = 0; i < n_a; i++)
		for (size_t j = 0; j < n_b; j++)
			shifts[i * n_b + j] =
				shift == JUDGE_SHIFT_RATIO ? b[j] / a[i] : b[j] - a[i];
	judge_sort(shifts, pairs);
	*ret_low = shifts[leave - 1];
	*ret_high = shifts[pairs - leave];
	free(shifts);
	return 0;
}
