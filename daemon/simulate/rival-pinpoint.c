/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way of Chromium's Pinpoint, as its public code reads: tested commits are compared with their
 * neighbours by the Mann-Whitney test. Different: the commit half-way is tested too. Same: nothing.
 * In between: twice the runs for the one with fewer. "Same" is what a change of the claimed size
 * would show in one of a hundred samples of the *average* size of both, which is what makes it
 * give up early on a new commit beside an old one. All that differ from their neighbour are
 * reported. The test of Kolmogorov and Smirnov that stands beside is left out. A graph is taken
 * for a strand in its order.
 */
#include "daemon/simulate/rival.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "daemon/judge/stats.h"
#include "lib/cleanup.h"

#define BUILDS_MAX 60
#define RUNS_FIRST 10
#define RUNS_MAX 160
#define P_DIFFERENT 0.01
#define Z_ONE_IN_100 2.326
#define IQR_SIGMA 1.349
#define IQRS_MIN 0.3 /* range of its tables, in interquartile ranges, ... */
#define IQRS_MAX 4.0
#define IQRS_OFF 0.2 /* ... which it reads two rows too low */

enum relation { SAME, UNKNOWN, DIFFERENT };

struct change {
	int node;
	unsigned n;
	double values[RUNS_MAX]; /* ascending */
};

struct job {
	struct world *w;
	double claim;				/* unit of the values */
	struct change *changes[BUILDS_MAX + 2]; /* by node */
	int n, failed;
};

static int add_runs(struct job *j, struct change *c, unsigned n)
{
	int r = rival_runs(j->w, c->node, n, c->values + c->n);

	if (r < 0)
		return r;
	c->n += n;
	judge_sort(c->values, c->n);
	return 0;
}

/* Two-sided, by the normal approximation: samples are 10 and more, with few ties but all. */
static double rank_p(const struct change *a, const struct change *b)
{
	double u = 0, pairs = (double)a->n * b->n;

	for (unsigned i = 0, below = 0, upto = 0; i < b->n; i++) {
		while (below < a->n && a->values[below] < b->values[i])
			below++;
		while (upto < a->n && a->values[upto] <= b->values[i])
			upto++;
		u += (below + upto) / 2.0;
	}
	double z = (fabs(u - pairs / 2) - 0.5) / sqrt(pairs * (a->n + b->n + 1) / 12);

	return fmin(1, 2 * rival_normal(-z));
}

/* P(two values of b exceed one of a) where b is `shift` sigma higher. */
static double both_exceed(double shift)
{
	double sum = 0;

	for (int i = -120; i <= 120; i++) {
		double x = 0.05 * i;
		double above = rival_normal(shift - x);

		sum += 0.05 * exp(-x * x / 2) / sqrt(2 * M_PI) * above * above;
	}
	return sum;
}

/* The p that one of a hundred pairs of n values exceeds though they are `shift` sigma apart. */
static double same_p(double shift, double n)
{
	double one = rival_normal(shift / sqrt(2)), both = both_exceed(shift);
	double mean = n * n * (one - 0.5);
	double sd = n * sqrt(one * (1 - one) + 2 * (n - 1) * (both - one * one));
	double z = (mean - Z_ONE_IN_100 * sd) / sqrt(n * n * (2 * n + 1) / 12);

	return z <= 0 ? 1 : 2 * rival_normal(-z);
}

static double iqr(const struct change *c)
{
	return c->values[3 * c->n / 4] - c->values[c->n / 4];
}

static enum relation compare(const struct job *j, const struct change *a, const struct change *b)
{
	double p = rank_p(a, b), spread = fmax(iqr(a), iqr(b));
	double iqrs = spread > 0 ? j->claim / spread - IQRS_OFF : IQRS_MAX;

	if (p <= P_DIFFERENT)
		return DIFFERENT;
	iqrs = fmax(IQRS_MIN, fmin(IQRS_MAX, iqrs));
	return p <= same_p(iqrs * IQR_SIGMA, (a->n + b->n) / 2.0) ? UNKNOWN : SAME;
}

/* A new commit at place k; 0: it does not build, 1: added. */
static int add_change(struct job *j, int k, int node)
{
	if (!world_build(j->w, node, 0)) {
		j->failed++;
		return 0;
	}
	struct change *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->node = node;
	for (int i = j->n++; i > k; i--)
		j->changes[i] = j->changes[i - 1];
	j->changes[k] = c;
	int r = add_runs(j, c, RUNS_FIRST);

	return r < 0 ? r : 1;
}

/* The commit half-way between neighbours, or the next one to it that builds. */
static int split(struct job *j, int k)
{
	int low = j->changes[k - 1]->node, high = j->changes[k]->node;
	int middle = low + (high - low) / 2;

	for (int d = 0; d < high - low && j->n + j->failed < BUILDS_MAX; d++) {
		int node = d % 2 ? middle + (d + 1) / 2 : middle - d / 2;

		if (node <= low || node >= high || j->w->obs[node].state == JUDGE_SKIPPED)
			continue;
		int r = add_change(j, k, node);

		if (r != 0)
			return r;
	}
	return 0;
}

static int more_runs(struct job *j, struct change *a, struct change *b)
{
	struct change *c = a->n <= b->n ? a : b;

	if (c->n >= RUNS_MAX)
		return 0;
	int r = add_runs(j, c, c->n);

	return r < 0 ? r : 1;
}

/* Looks at all neighbours once. 1: something was done. */
static int explore(struct job *j)
{
	int any = 0;

	for (int k = j->n - 1; k > 0; k--) {
		enum relation relation = compare(j, j->changes[k - 1], j->changes[k]);
		int r = relation == UNKNOWN	? more_runs(j, j->changes[k - 1], j->changes[k])
			: relation == DIFFERENT ? split(j, k)
						: 0;

		if (r < 0)
			return r;
		any |= r;
	}
	return any;
}

/* One pair that differs is an answer: what lies between the two. Several are no answer. */
static int report(const struct job *j, struct trial *ret)
{
	_cleanup_free_ int *nodes = calloc((size_t)j->w->graph.dag.n, sizeof(*nodes));
	size_t n = 0;
	int pairs = 0;

	if (!nodes)
		return -ENOMEM;
	for (int k = 1; k < j->n; k++) {
		if (compare(j, j->changes[k - 1], j->changes[k]) != DIFFERENT)
			continue;
		pairs++;
		for (int i = j->changes[k - 1]->node + 1; i <= j->changes[k]->node; i++)
			nodes[n++] = i;
	}
	if (!pairs) {
		ret->outcome = OUTCOME_NOT_REPRODUCED;
		return 0;
	}
	int r = referee_judge(j->w, nodes, n, &ret->outcome);

	if (r >= 0 && pairs > 1 && ret->outcome == OUTCOME_RIGHT)
		ret->outcome = OUTCOME_WIDE;
	return r;
}

int rival_pinpoint(struct world *w, const struct trial_options *options, int parameter,
		   struct trial *ret)
{
	struct job j = {.w = w, .claim = w->options.claim};
	int r;

	(void)options;
	(void)parameter;
	if (j.claim <= 0)
		j.claim = fabs(world_total(w));
	r = add_change(&j, 0, 0);
	if (r >= 0)
		r = add_change(&j, 1, w->graph.dag.n - 1);
	do {
		if (r >= 0)
			r = explore(&j);
		ret->decisions++;
	} while (r > 0);
	if (r >= 0)
		r = report(&j, ret);
	for (int k = 0; k < j.n; k++)
		free(j.changes[k]);
	return r;
}
