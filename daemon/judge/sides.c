/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/sides.h"

#include <errno.h>
#include <math.h>

#include "daemon/judge/stats.h"

bool judge_unusable(const struct judge_obs *obs)
{
	if (obs->state == JUDGE_SLOW)
		return false;
	return obs->state == JUDGE_SKIPPED || !judge_all_finite(obs->values, obs->n_values);
}

/* Geometric mean where both are positive (a cost moves by factors), else the arithmetic one. */
static double half_way(double a, double b)
{
	return a > 0 && b > 0 ? sqrt(a) * sqrt(b) : a / 2 + b / 2;
}

int judge_reader_init(const struct judge_obs *good, const struct judge_obs *bad,
		      const struct judge_options *opt, struct judge_reader *ret)
{
	struct judge_reader reader = {.by_limit = false};

	if (judge_unusable(good) || good->state == JUDGE_SLOW || good->n_values == 0)
		return -ENODATA;
	if (bad->state == JUDGE_SLOW) {
		reader.by_limit = true;
		*ret = reader;
		return 0;
	}
	if (judge_unusable(bad) || bad->n_values == 0)
		return -ENODATA;

	double g = judge_median(good->values, good->n_values);
	double b = judge_median(bad->values, bad->n_values);
	reader.bad_is_high = opt->better == JUDGE_LOWER;
	if (reader.bad_is_high ? b <= g : b >= g)
		return -ENODATA;
	reader.threshold = half_way(g, b);
	*ret = reader;
	return 0;
}

enum judge_side judge_reader_side(const struct judge_reader *reader, const struct judge_obs *obs)
{
	if (judge_unusable(obs))
		return JUDGE_SIDE_SKIP;
	if (obs->state == JUDGE_SLOW)
		return JUDGE_SIDE_BAD;
	if (obs->n_values == 0)
		return JUDGE_SIDE_UNKNOWN;
	if (reader->by_limit)
		return JUDGE_SIDE_GOOD;

	double m = judge_median(obs->values, obs->n_values);
	bool bad = reader->bad_is_high ? m >= reader->threshold : m <= reader->threshold;
	return bad ? JUDGE_SIDE_BAD : JUDGE_SIDE_GOOD;
}

enum judge_side judge_side(const struct judge_obs *obs, int node, int n,
			   const struct judge_options *opt)
{
	struct judge_reader reader;

	if (node < 0 || node >= n)
		return JUDGE_SIDE_UNKNOWN;
	if (judge_unusable(&obs[node]))
		return JUDGE_SIDE_SKIP;
	if (judge_reader_init(&obs[0], &obs[n - 1], opt, &reader) < 0)
		return JUDGE_SIDE_UNKNOWN;
	if (node == 0)
		return JUDGE_SIDE_GOOD;
	if (node == n - 1)
		return JUDGE_SIDE_BAD;
	return judge_reader_side(&reader, &obs[node]);
}
