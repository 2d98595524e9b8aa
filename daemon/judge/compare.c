/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/compare.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "daemon/judge/stats.h"

struct range {
	double min, max;
};

static struct range range_of(const double *values, size_t n)
{
	struct range r = {values[0], values[0]};

	for (size_t i = 1; i < n; i++) {
		r.min = fmin(r.min, values[i]);
		r.max = fmax(r.max, values[i]);
	}
	return r;
}

double judge_relative_change(double before, double after)
{
	double d = after - before;

	if (fpclassify(d) == FP_ZERO)
		return 0;
	return fpclassify(before) == FP_ZERO ? copysign(INFINITY, d) : d / fabs(before);
}

double judge_ratio(double before, double after)
{
	if (fpclassify(before) != FP_ZERO)
		return after / before;
	return fpclassify(after) == FP_ZERO ? 1 : copysign(INFINITY, after);
}

enum judge_relation judge_relation_at(const struct judge_comparison *c, enum judge_class cls,
				      enum judge_better better, double floor, double alpha)
{
	double change = judge_relative_change(c->before, c->after);
	bool above = fabs(change) > floor;

	if (above && c->p <= (cls == JUDGE_EXACT ? 0 : alpha))
		return (change > 0) == (better == JUDGE_LOWER) ? JUDGE_WORSE : JUDGE_IMPROVED;
	if (cls == JUDGE_EXACT)
		return above ? JUDGE_UNCLEAR : JUDGE_SAME;
	/* false for NAN: no interval, nothing to say */
	if (fabs(c->low - 1) <= floor && fabs(c->high - 1) <= floor)
		return JUDGE_SAME;
	return JUDGE_UNCLEAR;
}

/*
 * The interval of the ratio. Positive values: of the pairwise ratios. Others: of the pairwise
 * differences, put on the median of `before`; there is none on a median of zero, unless nothing
 * moves at all.
 */
static int ratio_interval(const double *before, const double *after, bool positive,
			  struct judge_comparison *c)
{
	double low, high;
	int r = judge_shift_interval(before, c->n_before, after, c->n_after,
				     positive ? JUDGE_SHIFT_RATIO : JUDGE_SHIFT_DIFFERENCE, 0.95,
				     &low, &high);
	if (r < 0)
		return r;

	if (!positive) {
		double x = 1 + low / c->before, y = 1 + high / c->before;

		if (fpclassify(low) == FP_ZERO && fpclassify(high) == FP_ZERO)
			x = y = 1;
		else if (fpclassify(c->before) == FP_ZERO)
			x = y = NAN;
		low = x > y ? y : x;
		high = x > y ? x : y;
	}
	c->low = isnan(low) ? NAN : fmin(low, c->ratio);
	c->high = isnan(high) ? NAN : fmax(high, c->ratio);
	return 0;
}

int judge_compare(const double *before, size_t n_before, const double *after, size_t n_after,
		  enum judge_class cls, enum judge_better better, double floor,
		  struct judge_comparison *ret)
{
	if (n_before == 0 || n_after == 0 || !(floor >= 0))
		return -EINVAL;
	if (n_before > JUDGE_SAMPLE_MAX || n_after > JUDGE_SAMPLE_MAX)
		return -E2BIG;
	if (!judge_all_finite(before, n_before) || !judge_all_finite(after, n_after))
		return -EDOM;

	struct judge_comparison c = {
		.before = judge_median(before, n_before),
		.after = judge_median(after, n_after),
		.n_before = n_before,
		.n_after = n_after,
	};
	struct range x = range_of(before, n_before), y = range_of(after, n_after);

	c.ratio = judge_ratio(c.before, c.after);
	if (cls == JUDGE_EXACT) {
		c.low = c.high = c.ratio;
		c.p = x.max < y.min || y.max < x.min ? 0 : 1;
	} else {
		int r = judge_rank_test(before, n_before, after, n_after, &c.p);
		if (r < 0)
			return r;
		r = ratio_interval(before, after, x.min > 0 && y.min > 0, &c);
		if (r < 0)
			return r;
	}
	c.relation = judge_relation_at(&c, cls, better, floor, JUDGE_ALPHA);
	*ret = c;
	return 0;
}
