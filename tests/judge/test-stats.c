/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rank statistics and judge_compare(): against scipy's numbers, by hand, and on values that bite.
 */
#include <errno.h>
#include <math.h>

#include "daemon/judge/compare.h"
#include "daemon/judge/stats.h"
#include "tap.h"

#define LEN(a) (sizeof(a) / sizeof(*(a)))

static const struct vector {
	size_t n_a, n_b;
	double a[40], b[40], p, low, high;
} vectors[] = {
#include "rank-vectors.h"
};

static int near(double got, double expect)
{
	return isnan(expect) ? isnan(got) : fabs(got - expect) <= 1e-9 * fmax(1, fabs(expect));
}

static void test_vectors(void)
{
	for (size_t i = 0; i < LEN(vectors); i++) {
		const struct vector *v = &vectors[i];
		double p = -1, back = -1, low = -1, high = -1;
		int r = judge_rank_test(v->a, v->n_a, v->b, v->n_b, &p);

		ok(r == 0 && near(p, v->p), "p of vector %zu: %.15g", i, p);
		r = judge_rank_test(v->b, v->n_b, v->a, v->n_a, &back);
		ok(r == 0 && near(back, p), "the same with the samples swapped");
		r = judge_shift_interval(v->a, v->n_a, v->b, v->n_b, JUDGE_SHIFT_DIFFERENCE, 0.95,
					 &low, &high);
		ok(r == 0 && near(low, v->low) && near(high, v->high),
		   "interval of vector %zu: %g %g", i, low, high);
	}
}

static void test_median(void)
{
	const double odd[] = {9, 1, 5}, even[] = {4, 1, 3, 2}, ties[] = {2, 2, 1, 2},
		     huge[] = {1.7e308, 1.7e308};

	ok(near(judge_median(odd, 3), 5), "median of an odd sample");
	ok(near(judge_median(even, 4), 2.5), "median of an even sample");
	ok(near(judge_median(ties, 4), 2), "median with ties");
	ok(judge_median(huge, 2) > 1e308 && isfinite(judge_median(huge, 2)), "no overflow");
	ok(isnan(judge_median(NULL, 0)), "an empty sample has none");
	ok(near(judge_rank_test_min_p(5, 5), 2.0 / 252), "5 v 5 reach 0.0079");
	ok(near(judge_rank_test_min_p(3, 3), 0.1), "3 v 3 reach 0.1");
	ok(near(judge_rank_test_min_p(1, 1), 1), "1 v 1 reach 1");
}

static void test_exact(void)
{
	const double a[] = {5709}, b[] = {166997}, c[] = {5710}, same[] = {1, 1}, spread[] = {1, 3},
		     two[] = {2};
	struct judge_comparison x;

	is_int(judge_compare(a, 1, b, 1, JUDGE_EXACT, JUDGE_LOWER, 0.002, &x), 0,
	       "one value a side");
	ok(x.relation == JUDGE_WORSE && near(x.ratio, 166997.0 / 5709) && x.p <= 0,
	   "29 times is worse");
	ok(near(x.low, x.ratio) && near(x.high, x.ratio), "an exact ratio has no width");
	judge_compare(a, 1, b, 1, JUDGE_EXACT, JUDGE_HIGHER, 0.002, &x);
	ok(x.relation == JUDGE_IMPROVED, "the other direction");
	judge_compare(b, 1, a, 1, JUDGE_EXACT, JUDGE_LOWER, 0.002, &x);
	ok(x.relation == JUDGE_IMPROVED, "and back");
	judge_compare(a, 1, c, 1, JUDGE_EXACT, JUDGE_LOWER, 0.002, &x);
	ok(x.relation == JUDGE_SAME && x.p <= 0, "below the floor");
	judge_compare(a, 1, c, 1, JUDGE_EXACT, JUDGE_LOWER, 0, &x);
	ok(x.relation == JUDGE_WORSE, "a floor of zero lets all through");
	judge_compare(same, 2, same, 2, JUDGE_EXACT, JUDGE_LOWER, 0, &x);
	ok(x.relation == JUDGE_SAME && x.p >= 1 && x.n_before == 2, "the same values are the same");
	judge_compare(same, 2, spread, 2, JUDGE_EXACT, JUDGE_LOWER, 0.1, &x);
	ok(x.relation == JUDGE_UNCLEAR, "exact values that overlap prove nothing");
	judge_compare(spread, 2, two, 1, JUDGE_EXACT, JUDGE_LOWER, 0.1, &x);
	ok(x.relation == JUDGE_SAME, "equal medians are the same");
}

static void test_noisy(void)
{
	const double a[] = {1.0, 1.1, 1.2, 1.05, 1.15}, b[] = {4.3, 5.3, 4.8, 4.9, 4.5};
	const double c[] = {4.4, 5.0, 4.7, 4.9, 4.6}, flat[] = {7, 7, 7, 7, 7};
	struct judge_comparison x;

	judge_compare(a, 5, b, 5, JUDGE_TIME, JUDGE_LOWER, 0.02, &x);
	ok(x.relation == JUDGE_WORSE && near(x.p, 2.0 / 252), "5 v 5 apart: p = %.4f", x.p);
	ok(x.low > 3 && x.low <= x.ratio && x.ratio <= x.high && x.high < 6,
	   "interval %.2f to %.2f", x.low, x.high);
	judge_compare(a, 5, b, 5, JUDGE_COUNT, JUDGE_HIGHER, 0.02, &x);
	ok(x.relation == JUDGE_IMPROVED, "higher is better here");
	judge_compare(b, 5, c, 5, JUDGE_TIME, JUDGE_LOWER, 0.02, &x);
	ok(x.relation == JUDGE_UNCLEAR, "what 5 runs cannot tell is unclear, not the same");
	judge_compare(flat, 5, flat, 5, JUDGE_TIME, JUDGE_LOWER, 0.02, &x);
	ok(x.relation == JUDGE_SAME && x.p >= 1 && near(x.low, 1) && near(x.high, 1),
	   "no spread: the same");
	judge_compare(a, 3, b, 3, JUDGE_TIME, JUDGE_LOWER, 0.02, &x);
	ok(x.relation == JUDGE_UNCLEAR && isnan(x.low) && isnan(x.high),
	   "3 v 3 have no 95 %% interval");
	judge_compare(a, 5, b, 5, JUDGE_TIME, JUDGE_LOWER, 10, &x);
	ok(x.relation == JUDGE_SAME, "sure, but within a floor of 1000 %%");
	judge_compare(a, 3, b, 3, JUDGE_TIME, JUDGE_LOWER, 0.02, &x);
	ok(judge_relation_at(&x, JUDGE_TIME, JUDGE_LOWER, 0.02, 0.1) == JUDGE_WORSE,
	   "at another level");
}

/* Medians of two-valued samples jump; the interval of the pairwise ratios alone would be 1 to 1 or
 * more. */
static void test_two_modes(void)
{
	double a[20], b[20];
	struct judge_comparison x;

	for (int i = 0; i < 20; i++) {
		a[i] = i < 9 ? 1 : 2;
		b[i] = i < 11 ? 1 : 2;
	}
	judge_compare(a, 20, b, 20, JUDGE_TIME, JUDGE_LOWER, 0.02, &x);
	ok(near(x.ratio, 0.5) && near(x.low, 0.5) && near(x.high, 1),
	   "the interval holds the ratio: %g %g %g", x.low, x.ratio, x.high);
	judge_compare(b, 20, a, 20, JUDGE_TIME, JUDGE_LOWER, 0.02, &x);
	ok(near(x.ratio, 2) && near(x.low, 1) && near(x.high, 2), "and the other way round");
}

static void test_values_that_bite(void)
{
	const double zero[] = {0, 0, 0, 0, 0}, one[] = {1, 1, 2, 1, 1},
		     neg[] = {-10, -11, -9, -10, -10};
	const double lower[] = {-20, -21, -22, -20, -20}, bad[] = {1, NAN}, inf[] = {INFINITY},
		     tiny[] = {5e-324};
	const double huge[] = {1.7e308}, minus_huge[] = {-1.7e308};
	struct judge_comparison x = {.p = 42};

	judge_compare(zero, 5, one, 5, JUDGE_COUNT, JUDGE_LOWER, 0.5, &x);
	ok(x.relation == JUDGE_WORSE && isinf(x.ratio),
	   "from zero to something is above every floor");
	judge_compare(zero, 5, zero, 5, JUDGE_COUNT, JUDGE_LOWER, 0.5, &x);
	ok(x.relation == JUDGE_SAME && near(x.ratio, 1), "zero to zero is the same");
	judge_compare(zero, 1, zero, 1, JUDGE_EXACT, JUDGE_LOWER, 0, &x);
	ok(x.relation == JUDGE_SAME, "exact zeros too");
	judge_compare(one, 5, zero, 5, JUDGE_COUNT, JUDGE_LOWER, 0.5, &x);
	ok(x.relation == JUDGE_IMPROVED && near(x.ratio, 0), "from something to zero");
	judge_compare(neg, 5, lower, 5, JUDGE_TIME, JUDGE_LOWER, 0.1, &x);
	ok(x.relation == JUDGE_IMPROVED && x.low <= x.ratio && x.ratio <= x.high,
	   "negative values: %g %g %g", x.low, x.ratio, x.high);
	judge_compare(tiny, 1, huge, 1, JUDGE_EXACT, JUDGE_LOWER, 0.1, &x);
	ok(x.relation == JUDGE_WORSE, "overflow of the ratio");
	judge_compare(minus_huge, 1, huge, 1, JUDGE_TIME, JUDGE_LOWER, 0.1, &x);
	ok(x.relation == JUDGE_UNCLEAR, "overflow of the difference");

	x.p = 42;
	is_int(judge_compare(bad, 2, one, 5, JUDGE_TIME, JUDGE_LOWER, 0, &x), -EDOM,
	       "NAN is refused");
	is_int(judge_compare(one, 5, inf, 1, JUDGE_EXACT, JUDGE_LOWER, 0, &x), -EDOM,
	       "so is infinity");
	is_int(judge_compare(one, 0, one, 5, JUDGE_TIME, JUDGE_LOWER, 0, &x), -EINVAL,
	       "an empty sample");
	is_int(judge_compare(one, 5, one, 5, JUDGE_TIME, JUDGE_LOWER, NAN, &x), -EINVAL,
	       "a floor of NAN");
	is_int(judge_compare(one, 5, one, 5, JUDGE_TIME, JUDGE_LOWER, -1, &x), -EINVAL,
	       "a negative floor");
	is_int(judge_compare(one, JUDGE_SAMPLE_MAX + 1, one, 5, JUDGE_TIME, JUDGE_LOWER, 0, &x),
	       -E2BIG, "too many values");
	ok(x.p > 41, "the output is untouched on failure");
}

int main(void)
{
	test_median();
	test_vectors();
	test_exact();
	test_noisy();
	test_two_modes();
	test_values_that_bite();
	return done_testing();
}
