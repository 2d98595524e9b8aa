/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probabilistic bisection (Horstein 1963; Waeber, Frazier and Henderson 2013): a posterior over the
 * commits, one run of its median at a time, each run read as one bit that is wrong with a known
 * probability. A graph is taken for a strand in its order.
 */
#include "daemon/simulate/rival.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/cleanup.h"

#define STOP 0.99
#define RUNS_MAX 1500
#define FLIP_MIN 0.02 /* outliers */
#define FLIP_MAX 0.45

struct belief {
	double *p; /* of each node to be the first bad one */
	int n;
};

/* The testable node with nearly as much belief on its left, itself included, as on its right; -1.
 */
static int median_node(const struct belief *b, const struct world *w)
{
	double sum = 0, best = INFINITY;
	int node = -1;

	for (int i = 1; i < b->n - 1; i++) {
		sum += b->p[i];
		if (w->obs[i].state != JUDGE_SKIPPED && fabs(sum - 0.5) < best) {
			best = fabs(sum - 0.5);
			node = i;
		}
	}
	return node;
}

static void believe(struct belief *b, int node, bool bad, double flip)
{
	double sum = 0;

	for (int i = 1; i < b->n; i++) {
		b->p[i] *= (i <= node) == bad ? 1 - flip : flip;
		sum += b->p[i];
	}
	for (int i = 1; i < b->n; i++)
		b->p[i] /= sum;
}

/* The commits between two neighbours that build are one answer; enough belief in one ends it. */
static int answer(const struct belief *b, const struct world *w, struct trial *ret)
{
	_cleanup_free_ int *nodes = calloc((size_t)b->n, sizeof(*nodes));
	double sum = 0;
	size_t n = 0;

	if (!nodes)
		return -ENOMEM;
	for (int i = 1; i < b->n; i++) {
		sum += b->p[i];
		nodes[n++] = i;
		if (w->obs[i].state == JUDGE_SKIPPED)
			continue;
		if (sum >= STOP) {
			int r = referee_judge(w, nodes, n, &ret->outcome);

			return r < 0 ? r : 1;
		}
		sum = 0;
		n = 0;
	}
	return 0;
}

static int search(struct world *w, const struct rival_ends *ends, struct belief *b,
		  struct trial *ret)
{
	double effect = (ends->bad - ends->good) / ends->sigma, value;
	double flip = fmax(FLIP_MIN, fmin(FLIP_MAX, rival_normal(-effect / 2) + FLIP_MIN / 2));

	for (int runs = 0; runs < RUNS_MAX;) {
		int node = median_node(b, w), r = answer(b, w, ret);

		ret->decisions++;
		if (r != 0)
			return r < 0 ? r : 0;
		if (node < 0)
			break;
		if (!world_build(w, node, 0))
			continue;
		r = world_run(w, node, 0, &value);
		if (r < 0)
			return r;
		believe(b, node, value > (ends->bad + ends->good) / 2, flip);
		runs++;
	}
	ret->outcome = OUTCOME_GAVE_UP;
	return 0;
}

int rival_onebit(struct world *w, const struct trial_options *options, int parameter,
		 struct trial *ret)
{
	struct belief b = {.n = w->graph.dag.n};
	struct rival_ends ends;
	int r = rival_find_ends(w, ret, &ends);

	(void)options;
	(void)parameter;
	if (r <= 0)
		return r;
	b.p = calloc((size_t)b.n, sizeof(*b.p));
	if (!b.p)
		return -ENOMEM;
	for (int i = 1; i < b.n; i++)
		b.p[i] = 1.0 / (b.n - 1);
	r = search(w, &ends, &b, ret);
	free(b.p);
	return r;
}
