/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/confirm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "daemon/judge/layouts.h"

#define PAIRS_LEAST 3
#define SMALLER 0.7
#define CLIP 2.5
/* A residual change counts from here on: in standard errors, and as a share of the whole. */
#define REST_Z 4.0
#define REST_SHARE 0.2
#define REST_RUNS 6
#define SURE_ENOUGH 0.12

/* ln((1 - beta) / alpha) with both 2 %. */
static double boundary(void)
{
	return log(49);
}

/* The nearest testable ancestor along first parents; the good anchor at last. */
static int testable_ancestor(const struct evidence *e, int node)
{
	while (node > 0 && !posterior_testable(e, node)) {
		int first = e->dag->parent_start[node];

		node = first < e->dag->parent_start[node + 1] ? e->dag->parents[first] : 0;
	}
	return node > 0 ? node : 0;
}

static void add_parent(struct confirm *c, int node)
{
	for (int i = 0; i < c->n_parents; i++)
		if (c->parent[i] == node)
			return;
	if (c->n_parents < CONFIRM_PARENTS_MAX)
		c->parent[c->n_parents++] = node;
}

/* What lies just outside of the atom. */
static void find_parents(const struct evidence *e, const struct posterior *p, int leader, struct confirm *c)
{
	const struct judge_dag *dag = e->dag;

	for (int i = 1; i <= leader; i++) {
		int end = judge_dag_parents_end(dag, i, e->opt->first_parent);

		if (p->atom[i] != leader || (i != leader && p->mass[i] <= 0))
			continue;
		for (int k = dag->parent_start[i]; k < end; k++) {
			int parent = dag->parents[k];

			if (parent <= 0 || p->atom[parent] != leader)
				add_parent(c, testable_ancestor(e, parent));
		}
	}
	if (c->n_parents == 0)
		add_parent(c, 0);
}

/*
 * The culprit itself, if it can be run. A commit that cannot is a candidate of its own where several build on it: then all of its
 * nearest testable descendants must be bad, for one alone may be so by itself.
 */
static int find_witnesses(const struct evidence *e, int culprit, struct confirm *c)
{
	const struct judge_dag *dag = e->dag;
	unsigned char *behind = calloc((size_t)dag->n, 1); /* the culprit, with nothing testable in between */

	if (!behind)
		return -ENOMEM;
	for (int i = culprit; i < dag->n && c->n_witnesses < CONFIRM_WITNESSES_MAX; i++) {
		int end = judge_dag_parents_end(dag, i, e->opt->first_parent);
		bool has = i == culprit;

		for (int k = dag->parent_start[i]; k < end; k++)
			has |= dag->parents[k] >= culprit && behind[dag->parents[k]];
		if (has && posterior_testable(e, i))
			c->witness[c->n_witnesses++] = i;
		else
			behind[i] = has;
	}
	free(behind);
	return 0;
}

static double clip(double y, double low, double high)
{
	return fmin(fmax(y, low), high);
}

/* Where layouts matter (opt->layouts > 1), runs alone do not confirm. */
static enum confirm_state with_layouts(const struct evidence *e, const struct posterior *p, const struct run *a,
				       const struct run *b, int pairs)
{
	static const enum confirm_state states[] = {
		[LAYOUTS_MORE] = CONFIRM_MORE, [LAYOUTS_STAYS] = CONFIRM_YES, [LAYOUTS_GOES] = CONFIRM_NO};

	if (!e->opt->jitter || e->opt->layouts < 2)
		return CONFIRM_YES;
	/* the model's lambda ends where no sane build would be; here it must not */
	return states[layouts_look(a, pairs, b, pairs, e->sigma, fmax(p->sigma * p->sigma * p->lambda, layouts_spread2(e)),
				   SMALLER * p->step)];
}

/* One parent: the test after each pair; *settled: order of the run that ended it. */
static enum confirm_state test_pairs(const struct evidence *e, const struct posterior *p, const struct run *a, int n_a,
				     const struct run *b, int n_b, double middle, int64_t *settled, bool *ret_moves)
{
	double step = fmax(p->step, 0), d = SMALLER * step, reach = step / 2 + CLIP * e->sigma, llr = 0;
	double variance = 2 * p->sigma * p->sigma * (1 + p->lambda);
	enum confirm_state state;

	for (int k = 0; k < n_a && k < n_b; k++) {
		double difference = clip(b[k].y, middle - reach, middle + reach) -
				    clip(a[k].y, middle - reach, middle + reach);

		llr += d * (difference - d / 2) / variance;
		if (k + 1 < PAIRS_LEAST || fabs(llr) < boundary())
			continue;
		state = llr > 0 ? with_layouts(e, p, a, b, k + 1) : CONFIRM_NO;
		if (state == CONFIRM_MORE)
			continue;
		*settled = a[k].order > b[k].order ? a[k].order : b[k].order;
		*ret_moves |= state == CONFIRM_NO && llr > 0;
		return state;
	}
	return step > 0 ? CONFIRM_MORE : CONFIRM_NO;
}

static double middle_level(const struct evidence *e)
{
	return (evidence_level(e, 0, INT64_MIN).mean + evidence_level(e, e->dag->n - 1, INT64_MIN).mean) / 2;
}

/* One parent against one witness, into *c. */
static int look_at_pair(const struct evidence *e, const struct posterior *p, const struct judge_mark *mark, int i, int k,
			struct confirm *c)
{
	struct run *a = NULL, *b = NULL;
	int64_t settled = mark->order;
	enum confirm_state state;
	int n_a = evidence_runs(e, c->parent[i], mark->order, &a);
	int n_b = n_a < 0 ? n_a : evidence_runs(e, c->witness[k], mark->order, &b);

	if (n_b >= 0) {
		c->fresh[i] = n_a;
		c->fresh[c->n_parents + k] = n_b;
		state = test_pairs(e, p, a, n_a, b, n_b, middle_level(e), &settled, &c->moves);
		if (state == CONFIRM_NO || (state == CONFIRM_MORE && c->state == CONFIRM_YES))
			c->state = state;
		if (settled > c->settled)
			c->settled = settled;
	}
	free(a);
	free(b);
	return n_b < 0 ? n_b : 0;
}

int confirm_look(const struct evidence *e, const struct posterior *p, const struct judge_mark *mark, struct confirm *ret)
{
	struct confirm c = {.state = CONFIRM_YES, .settled = mark->order};
	int r = find_witnesses(e, mark->node, &c);

	find_parents(e, p, mark->node, &c);
	for (int i = 0; r >= 0 && i < c.n_parents; i++)
		for (int k = 0; r >= 0 && k < c.n_witnesses; k++)
			r = look_at_pair(e, p, mark, i, k, &c);
	if (r < 0)
		return r;
	*ret = c;
	return 0;
}

/* Variance of a level's estimate, with that of the builds it was taken on. */
static double variance_of(const struct evidence *e, const struct posterior *p, const struct level *l)
{
	return e->sigma * e->sigma * (1.0 / fmax(l->n, 1) + p->lambda / fmax(l->cells, 1));
}

/* Is the change from a to b, that should be none, one? More runs are asked for while that cannot be said. */
static bool is_rest(const struct evidence *e, const struct posterior *p, int a, int b, double total, int *ret_want)
{
	struct level x = evidence_level(e, a, INT64_MIN), y = evidence_level(e, b, INT64_MIN);
	double change = y.mean - x.mean, se = sqrt(variance_of(e, p, &x) + variance_of(e, p, &y));
	bool few, large;

	*ret_want = -1;
	if (e->same[a] == e->same[b] || x.n == 0 || y.n == 0)
		return false;
	few = x.n < REST_RUNS || y.n < REST_RUNS;
	large = fabs(change) > REST_SHARE * fabs(total);
	if (few || se > SURE_ENOUGH * fabs(total) || (large && fabs(change) < REST_Z * se))
		*ret_want = x.n < y.n ? a : b;
	return !few && large && fabs(change) > REST_Z * se;
}

struct explained confirm_explain(const struct evidence *e, const struct posterior *p, int culprit, int parent)
{
	int bad_node = e->dag->n - 1;
	struct level good = evidence_level(e, 0, INT64_MIN), bad = evidence_level(e, bad_node, INT64_MIN);
	struct level before = evidence_level(e, parent, INT64_MIN), after = evidence_level(e, culprit, INT64_MIN);
	double total = bad.mean - good.mean, part = after.mean - before.mean, se;
	struct explained x = {.share = part / total};

	/* Errors of numerator and denominator are taken as independent: a little wide where runs are shared. */
	se = sqrt(variance_of(e, p, &before) + variance_of(e, p, &after) +
		  x.share * x.share * (variance_of(e, p, &good) + variance_of(e, p, &bad))) / fabs(total);
	x.low = x.share - 1.96 * se;
	x.high = x.share + 1.96 * se;
	x.more_before = is_rest(e, p, 0, parent, total, &x.wants[0]);
	x.more_after = is_rest(e, p, culprit, bad_node, total, &x.wants[1]);
	return x;
}
