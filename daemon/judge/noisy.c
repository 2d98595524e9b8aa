/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/noisy.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/judge/confirm.h"
#include "daemon/judge/ends.h"
#include "daemon/judge/evidence.h"
#include "daemon/judge/layouts.h"
#include "daemon/judge/memo.h"
#include "daemon/judge/pick.h"
#include "daemon/judge/posterior.h"

#define CONFIDENCE 0.99
#define CREDIBLE 0.95
#define CONFIRMATIONS_MOST 8
#define CONFIRM_FIRST 3
#define CONFIRM_MORE_PAIRS 2
/* A confirmation goes on while its candidate is at least this likely. */
#define STILL_LIKELY 0.5
/* Runs between two of an anchor: it is to be seen whether the machine drifts. Fewer are needed while it does not. */
#define REFERENCE_EVERY 4
#define REFERENCE_SELDOM 24
/* The share of all runs that may be spent on saying how much the culprit explains. */
#define EXPLAIN_SHARE 0.25
#define EXPLAIN_LEAST 8

struct noisy {
	const struct judge_dag *dag;
	const struct judge_obs *obs;
	const struct judge_options *opt; /* own */
	struct judge_options own; /* layouts: 1 where they do not matter */
	unsigned char layouts; /* that can be asked for */
	struct judge_memo *memo;
	struct evidence evidence;
	struct posterior posterior;
	bool drifts;
	double confidence;
	unsigned max_runs;
	struct judge_decision *d;
};

#define explain(x, ...) ((void)snprintf((x)->d->reason, sizeof((x)->d->reason), __VA_ARGS__))

static int finish(struct noisy *x, enum judge_verdict verdict)
{
	x->d->action = JUDGE_DONE;
	x->d->verdict = verdict;
	return 0;
}

static unsigned layouts_of(const struct noisy *x)
{
	return x->opt->jitter && x->opt->layouts > 1 ? x->opt->layouts : 1;
}

/* `more` runs of a build beyond those that it has and that were wanted before in this decision. */
static void want(struct noisy *x, int node, unsigned char layout, unsigned more)
{
	const struct cell *cell = evidence_cell(&x->evidence, node, layout);
	unsigned have = cell ? (unsigned)cell->n : 0;
	struct judge_decision *d = x->d;

	for (size_t i = 0; i < d->n_wants; i++)
		if (d->wants[i].node == node && d->wants[i].layout == layout)
			have = d->wants[i].runs;
	if (d->n_wants < JUDGE_WANTS_MAX)
		d->wants[d->n_wants++] = (struct judge_want){node, have + more, layout};
	d->action = JUDGE_MEASURE;
}

/* One more run of a node; layouts take turns. */
static void want_run(struct noisy *x, int node)
{
	unsigned ahead = 0;

	for (size_t i = 0; i < x->d->n_wants; i++)
		ahead += x->d->wants[i].node == node;
	want(x, node, (unsigned char)(((unsigned)x->evidence.runs[node] + ahead) % layouts_of(x)), 1);
}

/* Run k of a series of runs; layouts take turns. */
static void want_turn(struct noisy *x, int node, int k)
{
	want(x, node, (unsigned char)((unsigned)k % layouts_of(x)), 1);
}

/*
 * Pairs of a and b beyond those that the fewer runs make, in the order a b b a: a drift in between hits both. What one has more of
 * already counts.
 */
static void want_pairs(struct noisy *x, int a, int have_a, int b, int have_b, unsigned pairs)
{
	int have = have_a < have_b ? have_a : have_b;

	for (int k = have; k < have + (int)pairs; k++) {
		int first = k % 2 ? b : a, second = k % 2 ? a : b;

		if ((k % 2 ? have_b : have_a) <= k)
			want_turn(x, first, k);
		if ((k % 2 ? have_a : have_b) <= k)
			want_turn(x, second, k);
	}
}

/* The anchors' values as they are, for the reader. */
static int compare_anchors(struct noisy *x)
{
	const struct judge_obs *good = &x->obs[0], *bad = &x->obs[x->dag->n - 1];

	if (good->n_values == 0 || bad->n_values == 0)
		return 0;
	return judge_compare(good->values, good->n_values, bad->values, bad->n_values, x->opt->cls, x->opt->better,
			     x->opt->floor, &x->d->change);
}

/* The anchors: 1 the decision is made, 0 they differ and the search goes on. */
static int at_the_ends(struct noisy *x)
{
	struct ends ends;
	const struct judge_difference *d = &ends.difference;
	int bad = x->dag->n - 1, r = ends_look(&x->evidence, &ends);
	double sd;

	if (r < 0)
		return r;
	sd = d->sd;
	x->d->phase = JUDGE_ANCHORS;
	x->d->effect = sd > 0 ? d->delta / sd : NAN;
	x->d->runs_needed = ends.needed;
	x->own.layouts = ends.by_layout ? x->layouts : 1;
	switch (ends.state) {
	case ENDS_REPRODUCED:
		return 0;
	case ENDS_MORE:
		if (d->pairs < 2)
			explain(x, "the ends first: is there a change to search for?");
		else
			explain(x, "ends differ by %.2g of a run's spread after %u pairs: more pairs", d->delta / sd,
				d->pairs);
		want_pairs(x, 0, x->evidence.runs[0], bad, x->evidence.runs[bad],
			   ends.more < JUDGE_WANTS_MAX / 2 ? ends.more : JUDGE_WANTS_MAX / 2);
		return 1;
	case ENDS_OPPOSITE:
		explain(x, "opposite sign: the bad end is better, by %.3g spreads of a run (%u pairs)", -d->delta / sd,
			d->pairs);
		(void)finish(x, JUDGE_NOT_REPRODUCED);
		return 1;
	case ENDS_SAME:
		explain(x, "no change as large as asked for: the ends differ by %.2g of a run's spread (%u pairs%s)",
			d->delta / sd, d->pairs, x->own.layouts > 1 ? " in several link orders" : "");
		(void)finish(x, JUDGE_NOT_REPRODUCED);
		return 1;
	case ENDS_LAYOUT:
		x->d->runs_needed = 0; /* more runs do not help */
		explain(x, "the change does not survive another link order: it depends on the layout (%u pairs in %u layouts)",
			d->pairs, x->layouts);
		(void)finish(x, JUDGE_NOT_REPRODUCED);
		return 1;
	case ENDS_TOO_NOISY:
		explain(x, "too noisy: %u pairs leave open whether there is a change; it would need %u", d->pairs,
			ends.needed);
		(void)finish(x, JUDGE_GAVE_UP);
		return 1;
	case ENDS_EXACT:
	default:
		return 2;
	}
}

static int by_mass(const void *a, const void *b)
{
	double x = ((const struct judge_candidate *)a)->probability, y = ((const struct judge_candidate *)b)->probability;

	return (x < y) - (x > y);
}

/* The likeliest candidates that together have `share` of the mass, or one atom: into the decision, probabilities of 1 in all. */
static int list_candidates(struct noisy *x, double share, int atom)
{
	const struct posterior *p = &x->posterior;
	struct judge_candidate *list = calloc((size_t)p->n, sizeof(*list));
	size_t n = 0, keep = 0;
	double sum = 0;

	if (!list)
		return -ENOMEM;
	for (int i = 1; i < p->n; i++)
		if (p->mass[i] > 0 && (atom < 0 || p->atom[i] == atom))
			list[n++] = (struct judge_candidate){i, p->mass[i]};
	qsort(list, n, sizeof(*list), by_mass);
	while (keep < n && sum < share)
		sum += list[keep++].probability;
	if (atom >= 0)
		keep = n;
	sum = 0;
	for (size_t i = 0; i < keep; i++)
		sum += list[i].probability;
	for (size_t i = 0; i < keep; i++)
		list[i].probability /= sum;
	x->d->candidates = list;
	x->d->n_candidates = keep;
	return 0;
}

/* What is left, for progress: candidates that hold nearly all of the mass, and the measured commits around them. */
static void describe(struct noisy *x)
{
	const struct posterior *p = &x->posterior;
	struct judge_decision *d = x->d;
	double bits = 0;

	d->last_good = 0;
	d->first_bad = p->n - 1;
	for (int i = 0; i < p->n; i++) {
		if (x->evidence.runs[i] > 0 && p->bad[i] < 0.05)
			d->last_good = i;
		d->remaining += p->mass[i] > 0.01 / p->n;
		bits += p->mass[i] > 0 ? -p->mass[i] * log2(p->mass[i]) : 0;
	}
	for (int i = p->n - 1; i > 0; i--)
		if (x->evidence.runs[i] > 0 && p->bad[i] > 0.95)
			d->first_bad = i;
	d->steps_left = (unsigned)ceil(fmax(0, bits - 0.1));
	d->effect = p->sigma > 0 ? p->step / p->sigma : NAN;
}

static int out_of_budget(struct noisy *x)
{
	explain(x, "out of budget after %d runs: the likeliest commit has %.0f %%; the change is %.2g spreads of a run",
		x->evidence.n_runs, 100 * x->posterior.atom_mass[x->posterior.best], x->d->effect);
	(void)finish(x, JUDGE_GAVE_UP);
	return list_candidates(x, CREDIBLE, -1);
}

/* Order of the newest run of all. */
static int64_t newest(const struct noisy *x)
{
	int64_t order = INT64_MIN;

	for (int i = 0; i < x->evidence.n_runs; i++)
		if (x->evidence.run[i].order > order)
			order = x->evidence.run[i].order;
	return order;
}

/* The anchor that is to be run again now, to see whether the machine drifts: the one with fewer runs. -1: none yet. */
static int due_reference(const struct noisy *x)
{
	const struct evidence *e = &x->evidence;
	int last = -1, bad = x->dag->n - 1;

	for (int c = 0; c < e->n_cells; c++)
		if (e->cell[c].node == e->same[0] || e->cell[c].node == e->same[bad])
			for (int k = e->cell[c].first; k < e->cell[c].first + e->cell[c].n; k++)
				last = e->run[k].at > last ? e->run[k].at : last;
	if (e->n_runs - 1 - last < (x->drifts ? REFERENCE_EVERY : REFERENCE_SELDOM))
		return -1;
	return e->runs[bad] < e->runs[0] ? bad : 0;
}

/* A reference is run amid the others. */
static void want_action(struct noisy *x, const struct action *a, int reference)
{
	bool amid = reference >= 0 && !a->reference;
	unsigned half = amid ? a->runs / 2 : 0;

	if (half)
		want(x, a->node, a->layout, half);
	if (amid)
		want_run(x, reference);
	want(x, a->node, a->layout, a->runs - half);
}

static int search_on(struct noisy *x)
{
	struct action actions[JUDGE_WANTS_MAX / 3];
	int most = x->opt->slots > 1 ? (int)x->opt->slots : 1, n;
	const struct info_table *info = memo_info(x->memo);

	if (most > JUDGE_WANTS_MAX / 3)
		most = JUDGE_WANTS_MAX / 3;
	x->d->phase = JUDGE_SEARCH;
	n = info ? pick_actions(&x->evidence, &x->posterior, info, most, actions) : -ENOMEM;
	if (n < 0)
		return n;
	if (n == 0) {
		explain(x, "nothing that can be tested tells the rest apart");
		(void)finish(x, JUDGE_SET);
		return list_candidates(x, x->confidence, -1);
	}
	for (int i = 0; i < n; i++)
		want_action(x, &actions[i], i == 0 ? due_reference(x) : -1);
	explain(x, "%s, %u runs: %.2g bits for %.3g s; best candidate %.2g, %zu left",
		actions[0].reference ? "an end again" :
		x->evidence.runs[actions[0].node] ? "again" : "another commit",
		actions[0].runs, actions[0].bits, actions[0].seconds, x->posterior.atom_mass[x->posterior.best],
		x->d->remaining);
	return 0;
}

/* Both sides of the step, up to the same number of fresh runs. */
static void want_rounds(struct noisy *x, const struct confirm *c, int rounds)
{
	int sides = c->n_parents + c->n_witnesses, least = c->fresh[0];

	for (int i = 1; i < sides; i++)
		least = c->fresh[i] < least ? c->fresh[i] : least;
	for (int k = least; k < least + rounds; k++)
		for (int i = 0; i < sides; i++)
			if (c->fresh[i] <= k)
				want_turn(x, i < c->n_parents ? c->parent[i] : c->witness[i - c->n_parents], k);
}

static void want_confirmation(struct noisy *x, const struct confirm *c, int rounds)
{
	int sides = c->n_parents + c->n_witnesses;

	x->d->phase = JUDGE_CONFIRM;
	if (sides == 2)
		want_pairs(x, c->parent[0], c->fresh[0], c->witness[0], c->fresh[1], (unsigned)rounds);
	else
		want_rounds(x, c, rounds * sides > JUDGE_WANTS_MAX ? 1 : rounds);
}

static int begin_confirmation(struct noisy *x, int culprit)
{
	struct confirm c;
	int r;

	x->d->has_mark = true;
	x->d->mark = (struct judge_mark){culprit, newest(x)};
	r = confirm_look(&x->evidence, &x->posterior, &x->d->mark, &c);
	if (r < 0)
		return r;
	explain(x, "probability %.3f: fresh pairs of parent and culprit are to confirm it",
		x->posterior.atom_mass[culprit]);
	want_confirmation(x, &c, CONFIRM_FIRST);
	return 0;
}

/* Runs after the confirmation, and before its end. */
static bool may_explain(const struct noisy *x, int64_t settled)
{
	int before = 0, after = 0;

	for (int i = 0; i < x->evidence.n_runs; i++) {
		before += x->evidence.run[i].order <= settled;
		after += x->evidence.run[i].order > settled;
	}
	return after < fmax(EXPLAIN_LEAST, EXPLAIN_SHARE * before);
}

/* A change that should be seen in another layout, and nobody can build one. */
static bool lacks_layouts(const struct noisy *x, int parent, int culprit)
{
	struct judge_options all = *x->opt;

	all.layouts = UCHAR_MAX;
	return x->layouts == 1 && layouts_matter(&x->evidence, &all, evidence_level(&x->evidence, culprit, INT64_MIN).mean -
									 evidence_level(&x->evidence, parent, INT64_MIN).mean);
}

static int say_culprit(struct noisy *x, int leader, const struct explained *part, int parent)
{
	struct judge_decision *d = x->d;
	int r;

	d->phase = JUDGE_EXPLAIN;
	d->explained = part->share;
	d->explained_low = part->low;
	d->explained_high = part->high;
	d->partial = part->more_before || part->more_after;
	d->rest_good = part->more_before ? 0 : leader;
	d->rest_bad = part->more_before ? parent : x->dag->n - 1;
	r = list_candidates(x, 1, leader);
	if (r < 0)
		return r;
	if (d->n_candidates == 1) {
		d->culprit = d->candidates[0].node;
		explain(x, "probability %.3f, confirmed by fresh runs%s; it explains %.0f %% of the change [%.0f .. %.0f]",
			x->posterior.atom_mass[leader], lacks_layouts(x, parent, d->culprit) ? " in one link order only" : "",
			100 * part->share, 100 * part->low, 100 * part->high);
		return finish(x, JUDGE_CULPRIT);
	}
	explain(x, "first bad commit is one of %zu that cannot be told apart, confirmed by fresh runs", d->n_candidates);
	return finish(x, JUDGE_SET);
}

static int end_or_explain(struct noisy *x, int leader, const struct confirm *c)
{
	struct explained part = confirm_explain(&x->evidence, &x->posterior, c->witness[0], c->parent[0]);

	if (c->n_parents == 1 && may_explain(x, c->settled) && (part.wants[0] >= 0 || part.wants[1] >= 0)) {
		x->d->phase = JUDGE_EXPLAIN;
		for (int i = 0; i < 4; i++)
			if (part.wants[i / 2] >= 0)
				want_run(x, part.wants[i / 2]);
		explain(x, "confirmed; how much of the change it explains is known to [%.0f .. %.0f] %%", 100 * part.low,
			100 * part.high);
		return 0;
	}
	return say_culprit(x, leader, &part, c->parent[0]);
}

/* The ends may differ by a lot, and this commit by little. */
static bool part_is_small(const struct noisy *x, const struct confirm *c)
{
	struct judge_options all = *x->opt;
	struct level before, after;

	all.layouts = x->layouts;
	if (c->n_parents == 0 || c->n_witnesses == 0)
		return false;
	before = evidence_level(&x->evidence, c->parent[0], INT64_MIN);
	after = evidence_level(&x->evidence, c->witness[0], INT64_MIN);
	return before.n > 0 && after.n > 0 && layouts_matter(&x->evidence, &all, after.mean - before.mean);
}

/* The candidate of the last mark, when it is still one. 1: the decision is made. */
static int go_on_confirming(struct noisy *x, const struct judge_mark *mark, enum confirm_state *ret_state, struct confirm *c)
{
	const struct posterior *p = &x->posterior;
	int r = confirm_look(&x->evidence, p, mark, c);

	if (r >= 0 && part_is_small(x, c)) {
		x->own.layouts = x->layouts;
		r = confirm_look(&x->evidence, p, mark, c);
	}
	if (r < 0)
		return r;
	*ret_state = c->state;
	if (c->state != CONFIRM_MORE || p->atom_mass[mark->node] < STILL_LIKELY)
		return 0;
	explain(x, "probability %.3f, to be confirmed: more fresh pairs", p->atom_mass[mark->node]);
	want_confirmation(x, c, CONFIRM_MORE_PAIRS);
	return 1;
}

static int decide(struct noisy *x)
{
	const struct posterior *p = &x->posterior;
	const struct judge_mark *mark = x->opt->n_marks ? &x->opt->marks[x->opt->n_marks - 1] : NULL;
	enum confirm_state state = CONFIRM_NO;
	struct confirm c = {0};
	int r;

	x->d->phase = JUDGE_SEARCH;
	if (p->impossible) {
		explain(x, "commits that overran their limit and equal images contradict each other");
		return finish(x, JUDGE_GAVE_UP);
	}
	if ((unsigned)x->evidence.n_runs >= x->max_runs)
		return out_of_budget(x);
	if (mark && p->atom[mark->node] == mark->node) {
		r = go_on_confirming(x, mark, &state, &c);
		if (r != 0)
			return r < 0 ? r : 0;
	}
	if (p->atom_mass[p->best] < x->confidence)
		return search_on(x);
	if (state == CONFIRM_YES && mark->node == p->best)
		return end_or_explain(x, p->best, &c);
	x->d->phase = JUDGE_CONFIRM;
	if (c.moves && mark->node == p->best) {
		explain(x, "the change does not survive another link order: that of the likeliest commit depends on the layout");
		(void)finish(x, JUDGE_GAVE_UP);
		return list_candidates(x, CREDIBLE, -1);
	}
	if (x->opt->n_marks >= CONFIRMATIONS_MOST) {
		explain(x, "%zu confirmations failed: the likeliest commit does not hold up in fresh runs", x->opt->n_marks);
		(void)finish(x, JUDGE_GAVE_UP);
		return list_candidates(x, CREDIBLE, -1);
	}
	return begin_confirmation(x, p->best);
}

/* All but the anchors' own business. */
static int between(struct noisy *x)
{
	int r;

	r = evidence_take_off_drift(&x->evidence, &x->drifts);
	if (r >= 0)
		r = posterior_init(&x->evidence, x->memo, &x->posterior);
	if (r < 0)
		return r;
	describe(x);
	r = decide(x);
	posterior_done(&x->posterior);
	return r;
}

/* No noise: one run tells a side, and the rest is bisection. */
static int without_noise(struct noisy *x, struct judge_decision *ret)
{
	struct judge_options exact = *x->opt;

	exact.cls = JUDGE_EXACT;
	return judge_bisect(x->dag, x->obs, &exact, ret);
}

static int with_evidence(struct noisy *x)
{
	int r = at_the_ends(x);

	if (r == 2) {
		judge_decision_done(x->d);
		return without_noise(x, x->d);
	}
	if (r == 0)
		r = between(x);
	if (r >= 0 && x->d->action == JUDGE_DONE)
		r = compare_anchors(x);
	return r < 0 ? r : 0;
}

static int weigh(struct noisy *x)
{
	int r = evidence_init(x->dag, x->obs, x->opt, &x->evidence);

	if (r < 0)
		return r;
	r = with_evidence(x);
	evidence_done(&x->evidence);
	return r;
}

int judge_noisy(const struct judge_dag *dag, const struct judge_obs *obs, const struct judge_options *opt,
		struct judge_decision *ret)
{
	struct judge_decision d = {.culprit = -1, .main_change = -1, .effect = NAN, .explained = NAN, .explained_low = NAN,
				   .explained_high = NAN, .first_bad = dag->n - 1, .rest_good = -1, .rest_bad = -1};
	struct judge_memo *own = opt->memo ? NULL : judge_memo_new();
	struct noisy x = {.dag = dag, .obs = obs, .own = *opt, .layouts = opt->layouts, .memo = opt->memo ? opt->memo : own, .d = &d};
	int r;

	if (!x.memo)
		return -ENOMEM;
	x.opt = &x.own;
	x.confidence = opt->confidence > 0 ? opt->confidence : CONFIDENCE;
	x.max_runs = opt->max_runs ? opt->max_runs : JUDGE_MAX_RUNS;
	r = judge_hopeless(&obs[0], &obs[dag->n - 1], &d) ? 0 : weigh(&x);
	judge_memo_free(own);
	if (r < 0)
		judge_decision_done(&d);
	else
		*ret = d;
	return r;
}
