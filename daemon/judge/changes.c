/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/changes.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/judge/recovery.h"
#include "daemon/judge/search.h"
#include "daemon/judge/sides.h"
#include "daemon/judge/stats.h"

/* Shares of the whole change, see changes.h: of the difference, of the factor's logarithm. */
#define SHARE_OF_DIFFERENCE 0.02
#define SHARE_OF_FACTOR 0.1

/* A change as what it does to the commits above it. Both are kept: changes of parallel branches may add up or multiply. */
struct effect {
	int node;
	int change; /* its place in `changes`; -1: too small to be one */
	double factor, shift;
};

/* One call, while it looks. */
struct look {
	const struct judge_dag *dag;
	const struct judge_obs *obs;
	const struct judge_options *opt;
	struct judge_decision *d;
	unsigned char *above;	/* a byte a node: ancestor-or-self of the one that is looked at */
	double *level;	       /* a node each; NAN: none */
	bool factors;	       /* all levels are positive */
	struct effect *effects; /* as many as a node each */
	size_t n_effects;
	struct judge_change *changes; /* those of the effects that count */
	size_t n_changes;
};

static void look_done(struct look *l)
{
	free(l->above);
	free(l->level);
	free(l->effects);
	for (size_t i = 0; i < l->n_changes; i++)
		free(l->changes[i].nodes);
	free(l->changes);
}

/* A commit that overran its limit has no level: it can be no more used than one that does not build. */
static double level_of(const struct judge_obs *o)
{
	if (judge_unusable(o) || o->state == JUDGE_SLOW || o->n_values == 0)
		return NAN;
	return judge_median(o->values, o->n_values);
}

static int look_init(const struct judge_dag *dag, const struct judge_obs *obs,
		     const struct judge_options *opt, struct judge_decision *d, struct look *l)
{
	size_t n = (size_t)dag->n;

	l->dag = dag;
	l->obs = obs;
	l->opt = opt;
	l->d = d;
	l->factors = true;
	l->above = calloc(n, 1);
	l->level = calloc(n, sizeof(*l->level));
	l->effects = calloc(n, sizeof(*l->effects));
	l->changes = calloc(n, sizeof(*l->changes));
	if (!l->above || !l->level || !l->effects || !l->changes)
		return -ENOMEM;
	for (int i = 0; i < dag->n; i++) {
		l->level[i] = level_of(&obs[i]);
		if (l->level[i] <= 0)
			l->factors = false;
	}
	return 0;
}

static void look_above(const struct look *l, int node)
{
	judge_dag_above(l->dag, node, l->opt->first_parent, l->above);
}

/* Is the step from one level to the other one that counts? */
static bool counts(const struct look *l, double from, double to)
{
	double good = l->level[0], whole = l->level[l->dag->n - 1];

	if (fabs(judge_relative_change(from, to)) <= l->opt->floor)
		return false;
	if (fabs(to - from) > SHARE_OF_DIFFERENCE * fabs(whole - good))
		return true;
	return l->factors && fabs(log(to / from)) > SHARE_OF_FACTOR * fabs(log(whole / good));
}

/* Of a change that is one of several commits: are some of them, but not the last one, in `above`? */
static bool is_partly(const struct look *l, const struct effect *e)
{
	const struct judge_change *c = e->change < 0 ? NULL : &l->changes[e->change];

	for (size_t i = 0; c && i + 1 < c->n_nodes; i++)
		if (l->above[c->nodes[i]])
			return !l->above[e->node];
	return false;
}

/* What the changes among the ancestors of a node, which `above` holds, make of the good anchor's level. */
static struct effect expected(const struct look *l, bool partly)
{
	struct effect all = {.factor = 1, .shift = 0};

	for (size_t i = 0; i < l->n_effects; i++)
		if (l->above[l->effects[i].node] || (partly && is_partly(l, &l->effects[i]))) {
			all.factor *= l->effects[i].factor;
			all.shift += l->effects[i].shift;
		}
	all.factor *= l->level[0];
	all.shift += l->level[0];
	return all;
}

static bool is_explained(const struct look *l, const struct effect *expected, double level)
{
	return (l->factors && !counts(l, expected->factor, level)) || !counts(l, expected->shift, level);
}

/* Ancestors of what has the level that is expected of it have no change that nobody knows of. */
static void rule_out(const struct look *l, int node, const struct judge_sub *sub, enum judge_side *sides)
{
	for (int i = 1; i < l->dag->n; i++) {
		if (i == node || isnan(l->level[i]))
			continue;
		look_above(l, i);
		struct effect e = expected(l, false);
		if (l->above[node] || !is_explained(l, &e, l->level[i]))
			continue;
		for (int k = 1; k < sub->n - 1; k++)
			if (l->above[sub->node[k]])
				sides[k] = JUDGE_SIDE_GOOD;
	}
}

/* The nearest measured commit before the candidates. */
static int measured_before(const struct look *l, const struct judge_sub *sub, const struct judge_search *s)
{
	for (int i = s->n_candidates ? s->candidates[s->n_candidates - 1] - 1 : 0; i > 0; i--)
		if (!isnan(l->level[sub->node[i]]))
			return sub->node[i];
	return 0;
}

/* The search behind a node whose level nothing explains; numbers are those of the whole graph. */
static int search_behind(const struct look *l, int node, struct judge_search *ret)
{
	struct judge_sub sub;
	unsigned char *in = calloc((size_t)l->dag->n, 1);
	enum judge_side *sides = calloc((size_t)l->dag->n, sizeof(*sides));
	int r = in && sides ? 0 : -ENOMEM;

	for (int i = 0; r == 0 && i <= node; i++)
		in[i] = i == 0 || l->above[i];
	if (r == 0)
		r = judge_sub_init(l->dag, l->opt->first_parent, in, &sub);
	free(in);
	if (r < 0) {
		free(sides);
		return r;
	}
	/* All that was measured before is explained, so it lies on the other side. */
	for (int i = 0; i < sub.n; i++) {
		const struct judge_obs *o = &l->obs[sub.node[i]];

		if (!isnan(l->level[sub.node[i]]))
			sides[i] = JUDGE_SIDE_GOOD;
		else if (judge_unusable(o) || o->state == JUDGE_SLOW)
			sides[i] = JUDGE_SIDE_SKIP;
	}
	rule_out(l, node, &sub, sides);
	struct judge_dag part = {sub.n, sub.parent_start, sub.parents};
	r = judge_search_run(&part, false, sides, ret);
	if (r == 0)
		ret->last_good = measured_before(l, &sub, ret);
	for (int i = 0; r == 0 && i < ret->n_candidates; i++)
		ret->candidates[i] = sub.node[ret->candidates[i]];
	if (r == 0) {
		ret->first_bad = sub.node[ret->first_bad];
		ret->pick = ret->pick < 0 ? -1 : sub.node[ret->pick];
	}
	free(sides);
	judge_sub_done(&sub);
	return r;
}

static bool is_left(const struct look *l, const struct judge_search *s, int node)
{
	for (int i = 0; i < s->n_candidates - 1; i++)
		if (s->candidates[i] == node)
			return l->obs[node].state == JUDGE_UNTESTED && l->obs[node].n_values == 0;
	return false;
}

static bool is_change(const struct look *l, int node)
{
	for (size_t i = 0; i < l->n_changes; i++)
		if (l->changes[i].node == node)
			return true;
	return false;
}

/*
 * A hint tells more than the middle: next to a commit that one names, its parent; behind a change that was
 * reverted, the commit that did it. -1: no hint.
 */
static int pick_by_hint(const struct look *l, const struct judge_search *s)
{
	for (size_t i = 0; i < l->opt->n_hints; i++) {
		const struct judge_hint *h = &l->opt->hints[i];
		int start = l->dag->parent_start[s->first_bad];

		if (is_change(l, h->reverted) && is_left(l, s, h->reverting))
			return h->reverting;
		if ((s->first_bad == h->reverted || s->first_bad == h->reverting) &&
		    start < l->dag->parent_start[s->first_bad + 1] && l->dag->parents[start] > 0 &&
		    is_left(l, s, l->dag->parents[start]))
			return l->dag->parents[start];
	}
	return -1;
}

static void measure(const struct look *l, int node, int candidates)
{
	struct judge_decision *d = l->d;

	free(d->candidates);
	d->candidates = NULL;
	d->n_candidates = 0;
	d->action = JUDGE_MEASURE;
	d->phase = JUDGE_EXPLAIN;
	d->verdict = JUDGE_CULPRIT;
	d->culprit = -1;
	d->wants[d->n_wants++] = (struct judge_want){.node = node, .runs = 1};
	for (d->steps_left = 1; candidates > 2; candidates = (candidates + 1) / 2)
		d->steps_left++;
}

/* The levels of a node's parents, lowest and highest; what is expected of them where they were not measured. */
static void parents_hull(const struct look *l, int node, double *low, double *high)
{
	int end = judge_dag_parents_end(l->dag, node, l->opt->first_parent);

	*low = INFINITY;
	*high = -INFINITY;
	for (int i = l->dag->parent_start[node]; i < end; i++) {
		int parent = l->dag->parents[i] < 0 ? 0 : l->dag->parents[i];
		double level = l->level[parent];

		if (isnan(level)) {
			look_above(l, parent);
			struct effect e = expected(l, false);
			level = l->factors ? e.factor : e.shift;
		}
		*low = fmin(*low, level);
		*high = fmax(*high, level);
	}
}

/*
 * The level before a change. Of a merge it is what its parents' changes make of each other, but no more than a parent has
 * when the merge itself has no more either: a patch may be on both sides.
 */
static double level_before(const struct look *l, int node, const struct effect *e, int last_good)
{
	double low, high, sum = l->factors ? e->factor : e->shift;

	if (is_explained(l, e, l->level[last_good]))
		return l->level[last_good]; /* no creep in it */
	parents_hull(l, node, &low, &high);
	if (sum > high && l->level[node] <= high)
		return high;
	return sum < low && l->level[node] >= low ? low : sum;
}

/* One change more. Neighbours that are alike are no change, but what is above them has crept there. */
static void add_change(struct look *l, int node, const struct effect *e, struct judge_search *s, bool cut)
{
	double level = l->level[node];
	struct judge_change c = {.node = node, .good = s->last_good, .recovered_by = -1, .cut = cut};
	struct effect *new = &l->effects[l->n_effects];

	c.before = level_before(l, node, e, s->last_good);
	c.after = level;
	c.ratio = judge_ratio(c.before, c.after);
	*new = (struct effect){node, -1, level / e->factor, level - e->shift};
	l->n_effects++;
	if (!counts(l, c.before, c.after))
		return;
	c.kind = (level > c.before) == (l->opt->better == JUDGE_LOWER) ? JUDGE_REGRESSION : JUDGE_IMPROVEMENT;
	c.nodes = s->candidates;
	c.n_nodes = (size_t)s->n_candidates;
	s->candidates = NULL;
	new->change = (int)l->n_changes;
	l->changes[l->n_changes++] = c;
}

/* Sets that `above` holds in part: the commits that are in it (or are not) are left. */
static void narrow(struct look *l, bool have)
{
	for (size_t i = 0; i < l->n_effects; i++) {
		struct judge_change *c = l->effects[i].change < 0 ? NULL : &l->changes[l->effects[i].change];
		size_t n = 0;

		if (!c || !is_partly(l, &l->effects[i]))
			continue;
		for (size_t k = 0; k < c->n_nodes; k++)
			if (l->above[c->nodes[k]] == have)
				c->nodes[n++] = c->nodes[k];
		c->n_nodes = n;
	}
}

/* Does what is known say why a node has its level? */
static bool fits(struct look *l, int node)
{
	for (int partly = 0; partly < 2; partly++) {
		struct effect e = expected(l, partly);

		if (!is_explained(l, &e, l->level[node]))
			continue;
		narrow(l, partly);
		return true;
	}
	return false;
}

/* A measured node: 1 it or something behind it is to be measured, 0 it is explained now. */
static int look_at(struct look *l, int node)
{
	struct judge_search s;
	bool cut = false;
	int r;

	look_above(l, node);
	if (fits(l, node))
		return 0;
	r = search_behind(l, node, &s);
	if (r < 0)
		return r;
	look_above(l, node);
	struct effect e = expected(l, false);
	if (s.pick >= 0 && l->n_effects < CHANGES_SEARCHED) {
		int hinted = pick_by_hint(l, &s);

		measure(l, hinted >= 0 ? hinted : s.pick, s.n_candidates);
		(void)snprintf(l->d->reason, sizeof(l->d->reason),
			       "another change: %.6g where %.6g is expected; one of %d commits%s", l->level[node],
			       l->factors ? e.factor : e.shift, s.n_candidates, hinted >= 0 ? "; a revert says which" : "");
		r = 1;
	} else {
		cut = s.pick >= 0;
		add_change(l, node, &e, &s, cut);
	}
	judge_search_done(&s);
	return r;
}

/* Of commits that others revert those that nobody has measured: 1 there is one. */
static int look_at_hints(struct look *l)
{
	for (size_t i = 0; i < l->opt->n_hints && l->n_effects < CHANGES_SEARCHED; i++) {
		int node = l->opt->hints[i].reverted;

		if (l->obs[node].state != JUDGE_UNTESTED || l->obs[node].n_values > 0)
			continue;
		measure(l, node, 1);
		(void)snprintf(l->d->reason, sizeof(l->d->reason), "reverted in this range: was it a change?");
		return 1;
	}
	return 0;
}

/* The main change takes the place of the culprit, however the plain search came to its own. */
static int name_main(struct look *l)
{
	struct judge_decision *d = l->d;
	const struct judge_change *c;
	int main = recovery_main(l->changes, l->n_changes, d->first_bad);

	d->main_change = main;
	if (main < 0)
		return 0;
	c = &l->changes[main];
	struct judge_candidate *list = calloc(c->n_nodes, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_nodes; i++)
		list[i] = (struct judge_candidate){c->nodes[i], 1.0 / (double)c->n_nodes};
	free(d->candidates);
	d->candidates = list;
	d->remaining = d->n_candidates = c->n_nodes;
	d->verdict = c->n_nodes > 1 ? JUDGE_SET : JUDGE_CULPRIT;
	if (d->first_bad != c->node)
		(void)snprintf(d->reason, sizeof(d->reason), "%s; the largest of the changes that still stand",
			       c->n_nodes > 1 ? "first bad commit is one of several" : "bad, and its parents are not");
	d->first_bad = c->node;
	d->last_good = c->good;
	d->culprit = c->n_nodes > 1 ? -1 : c->node;
	return 0;
}

static int explain(struct look *l)
{
	int r = 0;

	for (int i = 1; i < l->dag->n && r == 0; i++)
		if (!isnan(l->level[i]))
			r = look_at(l, i);
	if (r == 0)
		r = look_at_hints(l);
	if (r != 0)
		return r < 0 ? r : 0;
	recovery_find(l->dag, l->opt, l->changes, l->n_changes, l->above);
	r = name_main(l);
	if (r < 0)
		return r;
	l->d->changes = l->changes;
	l->d->n_changes = l->n_changes;
	l->changes = NULL;
	l->n_changes = 0;
	return 0;
}

int judge_explain(const struct judge_dag *dag, const struct judge_obs *obs,
		  const struct judge_options *opt, struct judge_decision *d)
{
	struct look l = {0};

	/* How much slower a commit is that overran its limit nobody knows. */
	if (d->action != JUDGE_DONE || d->n_candidates == 0 || obs[dag->n - 1].state == JUDGE_SLOW ||
	    obs[d->first_bad].state == JUDGE_SLOW)
		return 0;
	int r = look_init(dag, obs, opt, d, &l);
	if (r == 0)
		r = explain(&l);
	look_done(&l);
	if (r < 0)
		judge_decision_done(d);
	return r;
}
