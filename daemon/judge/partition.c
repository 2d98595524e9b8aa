/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/partition.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/judge/stats.h"
#include "daemon/judge/student.h"

/*
 * The loss is capped at 3 standard deviations. Two numbers that are far away cost twice that, which
 * must be more than two changes; one number must cost less than one change and a half.
 */
#define CAP 9.0
#define PENALTY 8.0
#define PRIOR_DF 10.0
#define AGREE (1.0 / 3)
#define ROUNDS 16

struct work {
	const double *x;
	size_t n;
	double alpha;
	double *weight; /* 1 / variance of each, 1 on average */
	double rate;	/* of outliers */
	double scale;	/* standard deviation of a number of weight 1, outliers apart */
	double *levels, *cost, *scratch;
	unsigned char *jumped; /* bits: n rows of n */
	size_t *best;	       /* of each row, the cheapest level */
	size_t *starts, *old_starts;
	size_t n_starts;
	double *squares, *weights; /* of each part */
	struct judge_part *parts;
};

/*
 * Spread of the differences of neighbours: steps are few, so the median does not see them. It is 0
 * when most are equal; *ret_rough sees all.
 */
static double spread_of_neighbours(struct work *w, double *ret_rough)
{
	double squares = 0;

	for (size_t i = 0; i + 1 < w->n; i++) {
		double d = w->x[i + 1] - w->x[i];

		d /= sqrt(1 / w->weight[i] + 1 / w->weight[i + 1]);
		w->scratch[i] = fabs(d);
		squares += d * d;
	}
	*ret_rough = sqrt(squares / (double)(w->n - 1));
	return judge_sort_median(w->scratch, w->n - 1) * JUDGE_MAD_TO_SD;
}

/* Weights from what is known (`within`) and what the differences show beyond it. */
static void weigh(struct work *w, const double *within)
{
	double all, known, sum = 0, rough;

	for (size_t i = 0; i < w->n; i++)
		w->weight[i] = 1;
	all = spread_of_neighbours(w, &rough);
	if (within && all > 0) {
		memcpy(w->scratch, within, w->n * sizeof(*within));
		known = judge_sort_median(w->scratch, w->n);
		for (size_t i = 0; i < w->n; i++) {
			w->weight[i] = 1 / (fmax(all * all - known, all * all / 100) + within[i]);
			sum += w->weight[i] / (double)w->n;
		}
		for (size_t i = 0; i < w->n; i++)
			w->weight[i] /= sum;
	}
}

static double loss(const struct work *w, size_t i, double level)
{
	double d = w->x[i] - level;

	return fmin(w->weight[i] * d * d, CAP * w->scale * w->scale);
}

/* cost[g]: of the cheapest partition of the first numbers that ends on level g. */
static void advance(struct work *w, size_t i, size_t n_levels)
{
	double jump = w->cost[w->best[i - 1]] + PENALTY * w->scale * w->scale;
	size_t best = 0;

	for (size_t g = 0; g < n_levels; g++) {
		size_t bit = i * w->n + g;

		if (w->cost[g] > jump) {
			w->cost[g] = jump;
			w->jumped[bit / 8] |= (unsigned char)(1u << bit % 8);
		}
		w->cost[g] += loss(w, i, w->levels[g]);
		if (w->cost[g] < w->cost[best])
			best = g;
	}
	w->best[i] = best;
}

static void cheapest_partition(struct work *w)
{
	size_t n_levels = 1, level, n = 0;

	memcpy(w->levels, w->x, w->n * sizeof(*w->x));
	judge_sort(w->levels, w->n);
	for (size_t i = 1; i < w->n; i++)
		if (w->levels[i] > w->levels[n_levels - 1])
			w->levels[n_levels++] = w->levels[i];
	memset(w->jumped, 0, w->n * w->n / 8 + 1);
	w->best[0] = 0;
	for (size_t g = 0; g < n_levels; g++) {
		w->cost[g] = loss(w, 0, w->levels[g]);
		if (w->cost[g] < w->cost[w->best[0]])
			w->best[0] = g;
	}
	for (size_t i = 1; i < w->n; i++)
		advance(w, i, n_levels);

	level = w->best[w->n - 1];
	for (size_t i = w->n - 1; i > 0; i--) {
		size_t bit = i * w->n + level;

		if (w->jumped[bit / 8] & 1u << bit % 8) {
			w->starts[n++] = i;
			level = w->best[i - 1];
		}
	}
	w->starts[n++] = 0;
	for (size_t i = 0; i < n / 2; i++) {
		size_t swap = w->starts[i];

		w->starts[i] = w->starts[n - 1 - i];
		w->starts[n - 1 - i] = swap;
	}
	w->n_starts = n;
}

static size_t end_of(const struct work *w, size_t part)
{
	return part + 1 < w->n_starts ? w->starts[part + 1] : w->n;
}

/* May number i of a part with this middle be counted? Outliers may be all on one side: clipped,
 * they would still pull. */
static bool counts(const struct work *w, size_t i, double mid)
{
	return loss(w, i, mid) < CAP * w->scale * w->scale;
}

/* The mean of a part, outliers left out unless they are most of it, and the squares about it. */
static void measure(struct work *w, size_t part)
{
	size_t first = w->starts[part], n = end_of(w, part) - first, inside = 0;
	double sum = 0, weights = 0, squares = 0, mid;

	memcpy(w->scratch, w->x + first, n * sizeof(*w->x));
	mid = judge_sort_median(w->scratch, n);
	for (size_t i = first; i < first + n; i++)
		inside += counts(w, i, mid);
	bool all = 2 * inside <= n;
	for (size_t i = first; i < first + n; i++)
		if (all || counts(w, i, mid)) {
			sum += w->weight[i] * (w->x[i] - mid);
			weights += w->weight[i];
		}
	for (size_t i = first; i < first + n; i++)
		if (all || counts(w, i, mid)) {
			double d = w->x[i] - mid - sum / weights;

			squares += w->weight[i] * d * d;
		}
	w->squares[part] = squares;
	w->weights[part] = weights;
	w->parts[part] = (struct judge_part){
		.first = first, .n = n, .n_inside = all ? n : inside, .mean = mid + sum / weights};
}

/* Spread about the levels that were found, without outliers. */
static double spread_of_parts(const struct work *w)
{
	double squares = 0, df = -(double)w->n_starts;

	for (size_t p = 0; p < w->n_starts; p++) {
		squares += w->squares[p];
		df += (double)w->parts[p].n_inside;
	}
	return sqrt(squares / fmax(1, df));
}

/* Variances of the means: of the part's own squares and, as prior, of all parts' together. */
static void weigh_parts(struct work *w)
{
	double df = -(double)w->n_starts, prior = fmax(w->scale, spread_of_parts(w)), prior_df;

	for (size_t p = 0; p < w->n_starts; p++)
		df += (double)w->parts[p].n_inside;
	df = fmax(1, df);
	prior_df = fmin(df, PRIOR_DF);
	for (size_t p = 0; p < w->n_starts; p++) {
		struct judge_part *part = &w->parts[p];
		double own = (double)part->n_inside - 1;

		part->df = fmin(prior_df + own, fmax(1, df / 2));
		part->variance = (prior_df * prior * prior + w->squares[p]) / (prior_df + own) /
				 w->weights[p];
	}
}

static void remove_cut(struct work *w, size_t cut)
{
	size_t after = w->n_starts - cut - 1;

	memmove(w->starts + cut, w->starts + cut + 1, after * sizeof(*w->starts));
	memmove(w->parts + cut, w->parts + cut + 1, after * sizeof(*w->parts));
	memmove(w->squares + cut, w->squares + cut + 1, after * sizeof(*w->squares));
	memmove(w->weights + cut, w->weights + cut + 1, after * sizeof(*w->weights));
	w->n_starts--;
	measure(w, cut - 1);
}

/*
 * How often is a number an outlier? A quarter of one is taken for granted. To be asked before cuts
 * are taken out: after that what lies between two of them would be counted too.
 */
static double outlier_rate(const struct work *w)
{
	double outliers = 0.25;

	for (size_t p = 0; p < w->n_starts; p++)
		outliers += (double)(w->parts[p].n - w->parts[p].n_inside);
	return outliers / ((double)w->n + 1);
}

/* p of a cut, for one place: no change of the mean, or the shorter part is a row of outliers that
 * agree by chance. */
static double p_of_cut(const struct work *w, size_t cut)
{
	const struct judge_part *a = &w->parts[cut - 1], *b = &w->parts[cut];
	double more = (double)(a->n < b->n ? a->n : b->n) - 1;

	return fmax(judge_part_p(a, b), w->rate * pow(w->rate * AGREE, more));
}

/* A part of one number belongs to the nearer of its neighbours. */
static size_t nearer_cut(const struct work *w, size_t part)
{
	const struct judge_part *p = &w->parts[part];

	if (part == 0 || part + 1 == w->n_starts)
		return part == 0 ? 1 : part;
	return fabs(p->mean - p[-1].mean) < fabs(p->mean - p[1].mean) ? part : part + 1;
}

/* The cut with the largest p above alpha, 0: none. */
static size_t weakest_cut(const struct work *w)
{
	double worst = w->alpha / (double)(w->n - 1);
	size_t cut = 0;

	for (size_t c = 1; c < w->n_starts; c++) {
		double p = p_of_cut(w, c);

		if (p > worst) {
			worst = p;
			cut = c;
		}
	}
	return cut;
}

static void remove_single(struct work *w)
{
	for (size_t p = 0; p < w->n_starts && w->n_starts > 1;) {
		if (w->parts[p].n > 1) {
			p++;
		} else {
			remove_cut(w, nearer_cut(w, p));
			p = p ? p - 1 : 0;
		}
	}
}

/* Where between the two parts is the cut, by their means? Each keeps two numbers. True: elsewhere.
 */
static bool move_cut(struct work *w, size_t cut)
{
	size_t first = w->starts[cut - 1], end = end_of(w, cut), old = w->starts[cut];
	double least = INFINITY, sum = 0;

	for (size_t i = first; i < end; i++)
		sum += loss(w, i, w->parts[cut].mean);
	for (size_t i = first; i + 2 < end; i++) {
		sum += loss(w, i, w->parts[cut - 1].mean) - loss(w, i, w->parts[cut].mean);
		if (i > first && (sum < least || (sum <= least && i + 1 == old))) {
			least = sum;
			w->starts[cut] = i + 1;
		}
	}
	if (w->starts[cut] == old)
		return false;
	measure(w, cut - 1);
	measure(w, cut);
	return true;
}

static bool move_cuts(struct work *w)
{
	bool moved = false;

	for (size_t cut = 1; cut < w->n_starts; cut++)
		moved |= move_cut(w, cut);
	weigh_parts(w);
	return moved;
}

/* What is taken out leaves its neighbours where they were best with it: they are moved, and asked
 * again. */
static void prune(struct work *w)
{
	size_t cut;

	for (size_t p = 0; p < w->n_starts; p++)
		measure(w, p);
	remove_single(w);
	weigh_parts(w);
	w->rate = outlier_rate(w);
	for (int round = 0; round < ROUNDS; round++) {
		while ((cut = weakest_cut(w)) > 0) {
			remove_cut(w, cut);
			weigh_parts(w);
		}
		if (!move_cuts(w))
			break;
	}
}

static void cut(struct work *w, double scale)
{
	w->scale = scale;
	cheapest_partition(w);
	prune(w);
}

/* Cuts and spread need each other: until neither moves. Without any spread the cuts explain all. */
static void settle(struct work *w, double scale)
{
	for (int round = 0; round < ROUNDS && scale > 0; round++) {
		size_t n_old = w->n_starts;
		double next;

		memcpy(w->old_starts, w->starts, n_old * sizeof(*w->starts));
		cut(w, scale);
		next = spread_of_parts(w);
		if (n_old == w->n_starts && fabs(next - scale) <= scale / 100 &&
		    memcmp(w->old_starts, w->starts, n_old * sizeof(*w->starts)) == 0)
			break;
		scale = next;
	}
}

/*
 * Most neighbours equal: either there is no noise, but for few outliers, then levels explain all;
 * or it is coarse, then what differs is all the noise there is.
 */
static void settle_all(struct work *w)
{
	double rough, scale = spread_of_neighbours(w, &rough);
	size_t outside = 0;

	cut(w, scale > 0 ? scale : rough * 1e-6);
	for (size_t p = 0; p < w->n_starts; p++)
		outside += w->parts[p].n - w->parts[p].n_inside;
	if (scale > 0)
		settle(w, scale);
	else if (outside > 1 && outside > w->n / 20)
		settle(w, rough);
}

static void work_free(struct work *w)
{
	void *const memory[] = {w->weight, w->levels, w->cost,	     w->scratch, w->jumped,
				w->best,   w->starts, w->old_starts, w->squares, w->weights};

	for (size_t i = 0; i < sizeof(memory) / sizeof(*memory); i++)
		free(memory[i]);
}

static int work_alloc(struct work *w)
{
	w->weight = calloc(w->n, sizeof(double));
	w->levels = calloc(w->n, sizeof(double));
	w->cost = calloc(w->n, sizeof(double));
	w->scratch = calloc(w->n, sizeof(double));
	w->jumped = calloc(w->n * w->n / 8 + 1, 1);
	w->best = calloc(w->n, sizeof(size_t));
	w->starts = calloc(w->n, sizeof(size_t));
	w->old_starts = calloc(w->n, sizeof(size_t));
	w->squares = calloc(w->n, sizeof(double));
	w->weights = calloc(w->n, sizeof(double));
	return w->weight && w->levels && w->cost && w->scratch && w->jumped && w->best &&
			       w->starts && w->old_starts && w->squares && w->weights
		       ? 0
		       : -ENOMEM;
}

int judge_partition(const double *x, const double *within, size_t n, double alpha,
		    struct judge_part *ret_parts, size_t *ret_n)
{
	struct work w = {.x = x, .n = n, .alpha = alpha, .n_starts = 1, .parts = ret_parts};

	if (n < 2) {
		if (n == 1)
			ret_parts[0] = (struct judge_part){
				.n = 1, .mean = x[0], .variance = NAN, .df = NAN};
		*ret_n = n;
		return 0;
	}
	int r = work_alloc(&w);
	if (r >= 0) {
		weigh(&w, within);
		settle_all(&w);
		*ret_n = w.n_starts;
	}
	work_free(&w);
	return r;
}

/* Welch and Satterthwaite. */
static double df_of_both(const struct judge_part *a, const struct judge_part *b)
{
	double both = a->variance + b->variance;

	return both * both /
	       (a->variance * a->variance / a->df + b->variance * b->variance / b->df);
}

double judge_part_p(const struct judge_part *a, const struct judge_part *b)
{
	double both = a->variance + b->variance, d = b->mean - a->mean;

	if (fpclassify(d) == FP_ZERO)
		return 1;
	if (fpclassify(both) == FP_ZERO)
		return 0;
	return judge_student_p(d / sqrt(both), df_of_both(a, b));
}

double judge_part_spread(const struct judge_part *part, double alpha)
{
	if (fpclassify(part->variance) == FP_ZERO)
		return 0;
	return sqrt(part->variance) * judge_student_quantile(alpha, part->df);
}

double judge_part_reach(const struct judge_part *a, const struct judge_part *b, double alpha)
{
	double both = a->variance + b->variance;

	if (fpclassify(both) == FP_ZERO)
		return 0;
	return sqrt(both) * judge_student_quantile(alpha, df_of_both(a, b));
}
