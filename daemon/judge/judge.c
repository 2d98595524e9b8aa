/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/judge.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/judge/changes.h"
#include "daemon/judge/noisy.h"
#include "daemon/judge/search.h"
#include "daemon/judge/several.h"
#include "daemon/judge/sides.h"
#include "daemon/judge/stats.h"

/* One question, while it is being answered. */
struct ask {
	const struct judge_obs *good, *bad;
	int bad_node;
	const struct judge_options *opt;
};

/* Macros, so that formats are checked at the call; what is too long is cut. */
#define explain(d, ...) ((void)snprintf((d)->reason, sizeof((d)->reason), __VA_ARGS__))
#define done(d, verdict, ...) (explain(d, __VA_ARGS__), finish(d, verdict))

/* Always true: the decision is made. */
static bool finish(struct judge_decision *d, enum judge_verdict verdict)
{
	d->action = JUDGE_DONE;
	d->verdict = verdict;
	return true;
}

static void want(struct judge_decision *d, int node, unsigned runs)
{
	d->action = JUDGE_MEASURE;
	d->wants[d->n_wants++] = (struct judge_want){.node = node, .runs = runs};
}

/* Ask for the anchors that have no value; false when both have one. */
static bool want_anchors(const struct ask *a, struct judge_decision *d)
{
	if (a->good->n_values == 0)
		want(d, 0, 1);
	if (a->bad->state != JUDGE_SLOW && a->bad->n_values == 0)
		want(d, a->bad_node, 1);
	return d->n_wants > 0;
}

bool judge_hopeless(const struct judge_obs *good, const struct judge_obs *bad,
		    struct judge_decision *d)
{
	if (good->state == JUDGE_SLOW)
		return done(d, JUDGE_GAVE_UP,
			    "the good end overran its time limit: nothing to compare with");
	for (int i = 0; i < 2; i++) {
		const struct judge_obs *o = i ? bad : good;
		const char *name = i ? "bad" : "good";

		if (o->state == JUDGE_SKIPPED)
			return done(d, JUDGE_GAVE_UP, "the %s end does not build or boot", name);
		if (judge_unusable(o))
			return done(d, JUDGE_GAVE_UP, "the %s end gave a value that is no number",
				    name);
	}
	return false;
}

/* What the comparison of the anchors means. True: the decision is made. */
static bool weigh_anchors(const struct ask *a, struct judge_decision *d)
{
	const struct judge_comparison *c = &d->change;

	switch (c->relation) {
	case JUDGE_WORSE:
		return false;
	case JUDGE_IMPROVED:
		return done(d, JUDGE_NOT_REPRODUCED,
			    "opposite sign: the bad end is better (good %.6g, bad %.6g)", c->before,
			    c->after);
	default: /* exact values are the same or not */
		return done(d, JUDGE_NOT_REPRODUCED,
			    "no change above the floor of %g %% (good %.6g, bad %.6g)",
			    100 * a->opt->floor, c->before, c->after);
	}
}

/* The bad anchor overran its limit: worse, by an amount that nobody knows. */
static struct judge_comparison slow_change(const struct ask *a)
{
	return (struct judge_comparison){
		.relation = JUDGE_WORSE,
		.before = judge_median(a->good->values, a->good->n_values),
		.after = NAN,
		.ratio = NAN,
		.low = NAN,
		.high = NAN,
		.p = NAN,
		.n_before = a->good->n_values,
	};
}

/* The anchors first. 1: the decision is made, 0: they differ as claimed, search between them. */
static int judge_anchors(const struct ask *a, struct judge_decision *d)
{
	if (judge_hopeless(a->good, a->bad, d))
		return 1;
	if (want_anchors(a, d)) {
		explain(d, "the ends first: is there a change to search for?");
		return 1;
	}
	if (a->bad->state == JUDGE_SLOW) {
		d->change = slow_change(a);
		return 0;
	}
	int r = judge_compare(a->good->values, a->good->n_values, a->bad->values, a->bad->n_values,
			      a->opt->cls, a->opt->better, a->opt->floor, &d->change);
	return r < 0 ? r : weigh_anchors(a, d);
}

static unsigned steps_left(const struct judge_search *s)
{
	unsigned steps = 0;

	while (steps < 31 && (1 << steps) < s->n_candidates)
		steps++;
	return steps < (unsigned)s->n_untested ? steps : (unsigned)s->n_untested;
}

static int decide_pick(const struct ask *a, const struct judge_dag *dag, const enum judge_side *sides,
		       const struct judge_search *s, struct judge_decision *d)
{
	int picks[JUDGE_WANTS_MAX];
	int n = judge_pick_several(dag, a->good, a->opt->first_parent, sides, s, (int)a->opt->slots, picks);

	if (n < 0)
		return n;
	for (int i = 0; i < n; i++)
		want(d, picks[i], 1);
	explain(d, "%d candidates left: leaves %d if bad, %d if good%s%s", s->n_candidates,
		s->pick_weight, s->n_candidates - s->pick_weight,
		s->n_skipped ? "; away from what cannot be tested" : "",
		s->contradictory ? "; contradictory: a good commit descends from a bad one" : "");
	return 0;
}

static int decide_end(const struct judge_dag *dag, const struct judge_search *s,
		      struct judge_decision *d)
{
	const char *note =
		s->contradictory ? "; contradictory: a good commit descends from a bad one" : "";
	int parents = dag->parent_start[s->first_bad + 1] - dag->parent_start[s->first_bad];

	d->candidates = calloc((size_t)s->n_candidates, sizeof(*d->candidates));
	if (!d->candidates)
		return -ENOMEM;
	d->n_candidates = (size_t)s->n_candidates;
	for (int i = 0; i < s->n_candidates; i++)
		d->candidates[i] =
			(struct judge_candidate){s->candidates[i], 1.0 / s->n_candidates};

	if (s->n_candidates > 1) {
		done(d, JUDGE_SET, "first bad commit is one of %d, of which %d cannot be tested%s",
		     s->n_candidates, s->n_skipped, note);
		return 0;
	}
	d->culprit = s->first_bad;
	done(d, JUDGE_CULPRIT, "bad, and %s%s",
	     parents > 1 ? "all parents of this merge are good" : "its parent is good", note);
	return 0;
}

/*
 * Fill in the state of the search, and the decision where the anchors left it open. At the anchors
 * all sides are unknown, which counts all candidates.
 */
static int judge_between(const struct ask *a, const struct judge_dag *dag,
			 const enum judge_side *sides, bool settled, struct judge_decision *d)
{
	struct judge_search s;
	int r = judge_search_run(dag, a->opt->first_parent, sides, &s);
	if (r < 0)
		return r;

	d->remaining = (size_t)s.n_candidates;
	d->first_bad = s.first_bad;
	d->last_good = s.last_good;
	if (!settled)
		d->phase = JUDGE_SEARCH;
	if (!settled && s.pick >= 0)
		r = decide_pick(a, dag, sides, &s, d);
	else if (!settled)
		r = decide_end(dag, &s, d);
	d->steps_left = d->action == JUDGE_MEASURE ? steps_left(&s) : 0;
	judge_search_done(&s);
	return r;
}

static int check(const struct judge_dag *dag, const struct judge_obs *obs,
		 const struct judge_options *opt)
{
	if (!(opt->floor >= 0) || !(opt->claim >= 0) || !(opt->run_seconds >= 0) ||
	    !(opt->confidence >= 0) || opt->confidence >= 1)
		return -EINVAL;
	int r = judge_dag_check(dag);
	if (r < 0)
		return r;
	for (int i = 0; i < dag->n; i++)
		if (obs[i].n_values > 0 && !obs[i].values)
			return -EINVAL;
	for (size_t i = 0; i < opt->n_hints; i++)
		if (opt->hints[i].reverted < 0 || opt->hints[i].reverted >= dag->n ||
		    opt->hints[i].reverting < 0 || opt->hints[i].reverting >= dag->n)
			return -EINVAL;
	return 0;
}

int judge_bisect(const struct judge_dag *dag, const struct judge_obs *obs,
		 const struct judge_options *opt, struct judge_decision *ret)
{
	int r = 0;
	struct ask a = {
		.good = &obs[0],
		.bad = &obs[dag->n - 1],
		.bad_node = dag->n - 1,
		.opt = opt,
	};
	struct judge_decision d = {.culprit = -1, .main_change = -1};
	enum judge_side *sides = calloc((size_t)dag->n, sizeof(*sides));
	if (!sides)
		return -ENOMEM;

	int settled = judge_anchors(&a, &d);
	if (settled < 0) {
		free(sides);
		return settled;
	}
	if (!settled) {
		struct judge_reader reader;

		r = judge_reader_init(a.good, a.bad, opt, &reader);
		for (int i = 1; r == 0 && i < dag->n - 1; i++)
			sides[i] = judge_reader_side(&reader, &obs[i]);
	}
	if (r == 0)
		r = judge_between(&a, dag, sides, settled, &d);
	free(sides);
	if (r < 0)
		judge_decision_done(&d);
	else
		*ret = d;
	return r;
}

int judge_next(const struct judge_dag *dag, const struct judge_obs *obs,
	       const struct judge_options *opt, struct judge_decision *ret)
{
	int r = check(dag, obs, opt);

	if (r < 0)
		return r;
	/* How much slower a commit is that overran its limit nobody knows: its sides are plain. */
	if (opt->cls != JUDGE_EXACT && obs[dag->n - 1].state != JUDGE_SLOW)
		return judge_noisy(dag, obs, opt, ret);
	r = judge_bisect(dag, obs, opt, ret);
	return r < 0 || opt->cls != JUDGE_EXACT ? r : judge_explain(dag, obs, opt, ret);
}

void judge_decision_done(struct judge_decision *d)
{
	free(d->candidates);
	d->candidates = NULL;
	d->n_candidates = 0;
	for (size_t i = 0; i < d->n_changes; i++)
		free(d->changes[i].nodes);
	free(d->changes);
	d->changes = NULL;
	d->n_changes = 0;
}
