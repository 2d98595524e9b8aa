/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/judge/partition.h"
#include "daemon/judge/stats.h"

#define PI 3.14159265358979323846
/* So many standard deviations from its level a point is a spike, as far as a partition counts. */
#define SPIKE 3.0

struct history {
	const struct judge_point *points;
	const struct judge_series_options *opt;
	double alpha;
	bool logs;
	size_t n;	 /* points with values */
	size_t *index;	 /* which of the caller's */
	double *x;	 /* its median, its logarithm if logs */
	double *within;	 /* variance of x by the spread of its values */
	double *scratch; /* room for all values */
	struct judge_part *parts;
	size_t n_parts;
	bool *worse;   /* exact: the cut at this part was for the worse */
	double *since; /* exact: value / best value of the part before */
};

static int check(const struct judge_point *points, size_t n, const struct judge_series_options *opt,
		 size_t *ret_values)
{
	size_t values = 0;

	if (n == 0 || !(opt->floor >= 0) || !(opt->alpha >= 0 && opt->alpha < 1))
		return -EINVAL;
	if (n > JUDGE_SERIES_MAX)
		return -E2BIG;
	for (size_t i = 0; i < n; i++) {
		if (!judge_all_finite(points[i].values, points[i].n))
			return -EDOM;
		if (points[i].n > JUDGE_SAMPLE_MAX)
			return -E2BIG;
		values += points[i].n;
	}
	*ret_values = values;
	return values == 0 ? -EINVAL : 0;
}

static bool all_positive(const struct judge_point *points, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!judge_all_positive(points[i].values, points[i].n))
			return false;
	return true;
}

/* Middle of all values of the points first to last, in the caller's unit. */
static double level_of(const struct history *h, size_t first, size_t last, size_t *ret_n)
{
	size_t n = 0;

	for (size_t i = first; i <= last; i++) {
		const struct judge_point *p = &h->points[h->index[i]];

		memcpy(h->scratch + n, p->values, p->n * sizeof(*p->values));
		n += p->n;
	}
	*ret_n = n;
	return judge_sort_median(h->scratch, n);
}

static void read_points(struct history *h, size_t n_points)
{
	size_t n;

	for (size_t i = 0; i < n_points; i++) {
		if (h->points[i].n == 0)
			continue;
		h->index[h->n] = i;
		h->x[h->n] = level_of(h, h->n, h->n, &n);
		if (h->logs)
			h->x[h->n] = log(h->x[h->n]);
		h->n++;
	}
}

/* The variance of each median: a spread for all points, by their values' distances; n normal ones'
 * median has pi / (2 n + pi - 2) of it, nearly. */
static bool spread_within(struct history *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++) {
		const struct judge_point *p = &h->points[h->index[i]];
		double wide = sqrt((double)p->n / ((double)p->n - 1));

		for (size_t k = 0; p->n > 1 && k < p->n; k++) {
			double x = h->logs ? log(p->values[k]) : p->values[k];

			h->scratch[n++] = fabs(x - h->x[i]) * wide;
		}
	}
	if (n == 0)
		return false;
	double sd = judge_sort_median(h->scratch, n) * JUDGE_MAD_TO_SD;
	for (size_t i = 0; i < h->n; i++) {
		double boots = (double)h->points[h->index[i]].n;

		h->within[i] = sd * sd * PI / (2 * boots + PI - 2);
	}
	return true;
}

static void exact_part(struct history *h, size_t first, bool worse, double since)
{
	h->worse[h->n_parts] = worse;
	h->since[h->n_parts] = since;
	h->parts[h->n_parts++] = (struct judge_part){.first = first};
}

/* A value ends a segment that is worse than the segment's best, or better than its first, by more
 * than the floor. */
static void exact_parts(struct history *h)
{
	bool low_is_good = h->opt->better == JUDGE_LOWER;
	double first = h->x[0], best = h->x[0];
	size_t n;

	exact_part(h, 0, false, 1);
	for (size_t i = 1; i < h->n; i++) {
		double x = h->x[i], up, down;

		if (h->index[i] == h->opt->base)
			best = x;
		up = judge_relative_change(low_is_good ? best : first, x);
		down = judge_relative_change(low_is_good ? first : best, x);
		if (up > h->opt->floor || -down > h->opt->floor) {
			bool worse = (up > h->opt->floor) == low_is_good;

			exact_part(h, i, worse, judge_ratio(worse ? best : first, x));
			first = best = x;
		}
		best = low_is_good ? fmin(best, x) : fmax(best, x);
	}
	for (size_t p = 0; p < h->n_parts; p++) {
		struct judge_part *part = &h->parts[p];

		part->n = (p + 1 < h->n_parts ? h->parts[p + 1].first : h->n) - part->first;
		part->mean = level_of(h, part->first, part->first + part->n - 1, &n);
	}
}

static int noisy_parts(struct history *h)
{
	bool known = spread_within(h);

	return judge_partition(h->x, known ? h->within : NULL, h->n, h->alpha, h->parts,
			       &h->n_parts);
}

/* An interval, in the caller's unit, that holds `value` too. */
static void put_interval(double low, double high, double value, double *ret_low, double *ret_high)
{
	*ret_low = isnan(low) ? NAN : fmin(low, value);
	*ret_high = isnan(high) ? NAN : fmax(high, value);
}

static void describe_segment(const struct history *h, const struct judge_part *part,
			     struct judge_segment *s)
{
	bool exact = h->opt->cls == JUDGE_EXACT;
	double reach = exact ? 0 : judge_part_spread(part, 0.05);
	double low = part->mean - reach, high = part->mean + reach;

	s->first = h->index[part->first];
	s->last = h->index[part->first + part->n - 1];
	s->level = level_of(h, part->first, part->first + part->n - 1, &s->n_values);
	put_interval(h->logs ? exp(low) : low, h->logs ? exp(high) : high, s->level, &s->low,
		     &s->high);
	s->back_at = -1;
}

/* How far apart are two parts, in the caller's unit, relative to the first? */
static void describe_ratio(const struct history *h, size_t k, const struct judge_segment *segments,
			   struct judge_step *step)
{
	const struct judge_part *a = &h->parts[k], *b = &h->parts[k + 1];
	double before = segments[k].level, d = b->mean - a->mean, reach;

	step->ratio = judge_ratio(before, segments[k + 1].level);
	step->low = step->high = step->ratio;
	if (h->opt->cls == JUDGE_EXACT)
		return;
	reach = judge_part_reach(a, b, 0.05);
	if (h->logs)
		put_interval(exp(d - reach), exp(d + reach), step->ratio, &step->low, &step->high);
	else if (fpclassify(before) == FP_ZERO)
		step->low = step->high = NAN;
	else
		put_interval(1 + d / before - reach / fabs(before),
			     1 + d / before + reach / fabs(before), step->ratio, &step->low,
			     &step->high);
	step->p = fmin(1, judge_part_p(a, b) * (double)(h->n - 1));
}

static bool is_worse(const struct history *h, double from, double to)
{
	return h->opt->better == JUDGE_LOWER ? to > from : to < from;
}

static bool above_floor(const struct history *h, double from, double to)
{
	return fabs(judge_relative_change(from, to)) > h->opt->floor;
}

static bool surely_apart(const struct history *h, size_t a, size_t b)
{
	return h->opt->cls == JUDGE_EXACT ||
	       judge_part_p(&h->parts[a], &h->parts[b]) * (double)(h->n - 1) <= h->alpha;
}

/* Step k against the level before, then against the best: does it count, and is it one step? */
static void relate(const struct history *h, size_t k, const struct judge_segment *segments,
		   struct judge_step *step)
{
	double before = segments[k].level, after = segments[k + 1].level,
	       best = segments[step->best].level;
	const size_t at = h->parts[k + 1].first;

	step->since_best = judge_ratio(best, after);
	if (h->opt->cls == JUDGE_EXACT) {
		step->relation = h->worse[k + 1] ? JUDGE_WORSE : JUDGE_IMPROVED;
		step->since_best = h->worse[k + 1] ? h->since[k + 1] : step->since_best;
		step->creep = h->worse[k + 1] && !above_floor(h, h->x[at - 1], h->x[at]);
		return;
	}
	if (above_floor(h, before, after))
		step->relation = is_worse(h, before, after) ? JUDGE_WORSE : JUDGE_IMPROVED;
	else if (is_worse(h, best, after) && above_floor(h, best, after) &&
		 surely_apart(h, (size_t)step->best, k + 1))
		step->relation = JUDGE_WORSE;
	step->creep = step->relation == JUDGE_WORSE && !above_floor(h, before, after);
}

/*
 * What creeps is measured against the best level since the last step that counts, or was
 * accepted: each of these is a new base line.
 */
static void describe_steps(const struct history *h, struct judge_series *s)
{
	size_t best = 0;

	for (size_t k = 0; k + 1 < h->n_parts; k++) {
		struct judge_step *step = &s->steps[k];

		*step = (struct judge_step){.before = s->segments[k].last,
					    .after = s->segments[k + 1].first,
					    .relation = JUDGE_SAME,
					    .recovered = -1};
		if (s->segments[k].last < h->opt->base || s->segments[k].first <= h->opt->base ||
		    is_worse(h, s->segments[k].level, s->segments[best].level))
			best = k;
		step->best = (int)best;
		describe_ratio(h, k, s->segments, step);
		relate(h, k, s->segments, step);
		if (step->relation == JUDGE_WORSE)
			best = k + 1;
	}
}

/* Are two segments on one level? Apart by the floor at most, or not surely and by little of the
 * step between. */
static bool same_level(const struct history *h, const struct judge_segment *segments, size_t a,
		       size_t b, double step)
{
	double d = h->parts[b].mean - h->parts[a].mean;

	if (!above_floor(h, segments[a].level, segments[b].level))
		return true;
	return h->opt->cls != JUDGE_EXACT && fabs(d) <= fabs(step) / 4 &&
	       judge_part_p(&h->parts[a], &h->parts[b]) > 0.05;
}

/* The nearest of the older levels that this is again, the latest of equals. */
static int back_at(const struct history *h, const struct judge_segment *segments, size_t j)
{
	double step = h->parts[j].mean - h->parts[j - 1].mean, nearest = INFINITY;
	int found = -1;

	for (size_t i = 0; i + 1 < j; i++) {
		double d = fabs(h->parts[j].mean - h->parts[i].mean);

		if (d <= nearest && same_level(h, segments, i, j, step)) {
			nearest = d;
			found = (int)i;
		}
	}
	return found;
}

/* What became of each step: the first later segment that is back at, or beyond, the level before.
 */
static void describe_recovery(const struct history *h, struct judge_series *s)
{
	size_t last = h->n_parts - 1;

	for (size_t j = 2; j < h->n_parts; j++)
		s->segments[j].back_at = back_at(h, s->segments, j);
	for (size_t k = 0; k < last; k++) {
		double before = h->parts[k].mean, d = h->parts[k + 1].mean - before;

		s->steps[k].left = (h->parts[last].mean - before) / d;
		for (size_t j = k + 2; j <= last && s->steps[k].recovered < 0; j++)
			if ((h->parts[j].mean - before) / d <= 0 ||
			    same_level(h, s->segments, k, j, d))
				s->steps[k].recovered = (int)j;
	}
}

/* Points further from their segment than its own spread explains. */
static void describe_spikes(const struct history *h, struct judge_series *s)
{
	for (size_t p = 0; p < h->n_parts && h->opt->cls != JUDGE_EXACT; p++) {
		const struct judge_part *part = &h->parts[p];

		for (size_t i = part->first; i < part->first + part->n; i++)
			s->spike[h->index[i]] =
				part->n > 1 &&
				fabs(h->x[i] - part->mean) >
					SPIKE * sqrt(part->variance * (double)part->n);
	}
}

static int describe(const struct history *h, size_t n_points, struct judge_series *ret)
{
	struct judge_series s = {.n_segments = h->n_parts};

	s.segments = calloc(h->n_parts, sizeof(*s.segments));
	s.steps = calloc(h->n_parts, sizeof(*s.steps));
	s.spike = calloc(n_points, sizeof(*s.spike));
	if (!s.segments || !s.steps || !s.spike) {
		judge_series_done(&s);
		return -ENOMEM;
	}
	for (size_t p = 0; p < h->n_parts; p++)
		describe_segment(h, &h->parts[p], &s.segments[p]);
	describe_steps(h, &s);
	describe_recovery(h, &s);
	describe_spikes(h, &s);
	*ret = s;
	return 0;
}

static int history_alloc(struct history *h, size_t n, size_t n_values)
{
	h->index = calloc(n, sizeof(*h->index));
	h->x = calloc(n, sizeof(*h->x));
	h->within = calloc(n, sizeof(*h->within));
	h->scratch = calloc(n_values, sizeof(*h->scratch));
	h->parts = calloc(n, sizeof(*h->parts));
	h->worse = calloc(n, sizeof(*h->worse));
	h->since = calloc(n, sizeof(*h->since));
	return h->index && h->x && h->within && h->scratch && h->parts && h->worse && h->since
		       ? 0
		       : -ENOMEM;
}

static void history_free(struct history *h)
{
	void *const memory[] = {h->index, h->x,	    h->within, h->scratch,
				h->parts, h->worse, h->since};

	for (size_t i = 0; i < sizeof(memory) / sizeof(*memory); i++)
		free(memory[i]);
}

int judge_series(const struct judge_point *points, size_t n, const struct judge_series_options *opt,
		 struct judge_series *ret)
{
	struct history h = {.points = points,
			    .opt = opt,
			    .alpha = opt->alpha > 0 ? opt->alpha : JUDGE_SERIES_ALPHA};
	size_t n_values;
	int r = check(points, n, opt, &n_values);

	if (r < 0)
		return r;
	r = history_alloc(&h, n, n_values);
	if (r >= 0) {
		h.logs = opt->cls != JUDGE_EXACT && all_positive(points, n);
		read_points(&h, n);
		if (opt->cls == JUDGE_EXACT)
			exact_parts(&h);
		else
			r = noisy_parts(&h);
	}
	if (r >= 0)
		r = describe(&h, n, ret);
	history_free(&h);
	return r;
}

void judge_series_done(struct judge_series *s)
{
	free(s->segments);
	free(s->steps);
	free(s->spike);
	*s = (struct judge_series){0};
}
