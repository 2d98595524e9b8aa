/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/simulate/ask.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/decision.h"
#include "lib/cleanup.h"

#define DECISIONS_MAX 20000
#define SLOTS_MAX 16

int asker_init(struct asker *a, struct world *w)
{
	const struct world_options *o = &w->options;
	double claim = o->claim > 0 ? o->claim : fabs(world_total(w));

	*a = (struct asker){
		.w = w,
		.options =
			{
				.cls = JUDGE_TIME,
				.better = JUDGE_LOWER,
				.floor = 0.001,
				.claim = claim / WORLD_LEVEL,
				.run_seconds = WORLD_RUN,
				.jitter = o->layouts > 1,
				.layouts = o->layouts,
				.slots = o->slots,
				.memo = judge_memo_new(),
			},
	};
	rng_seed(&a->rng, w->layout_seed, "restart", 0);
	return a->options.memo ? 0 : -ENOMEM;
}

void asker_done(struct asker *a)
{
	free(a->marks);
	(void)judge_memo_free(a->options.memo);
	*a = (struct asker){0};
}

static int remember(struct asker *a, const struct judge_mark *mark)
{
	if (grow_array(&a->marks, &a->marks_capacity, a->options.n_marks, sizeof(*mark)) < 0)
		return -ENOMEM;
	a->marks[a->options.n_marks++] = *mark;
	a->options.marks = a->marks;
	return 0;
}

int asker_next(struct asker *a, struct judge_decision *ret)
{
	int r = judge_next(&a->w->graph.dag, a->w->obs, &a->options, ret);

	if (r >= 0 && ret->action == JUDGE_MEASURE && ret->has_mark)
		r = remember(a, &ret->mark);
	return r;
}

/* Observations read anew; each owns its arrays. */
static void copies_done(struct judge_obs *obs, int n)
{
	for (int i = 0; obs && i < n; i++) {
		free((void *)(uintptr_t)obs[i].values);
		free((void *)(uintptr_t)obs[i].order);
		free((void *)(uintptr_t)obs[i].layout);
	}
	free(obs);
}

static void *copy(const void *items, size_t n, size_t size)
{
	void *to = calloc(n + 1, size);

	if (to && n)
		memcpy(to, items, n * size);
	return to;
}

static struct judge_obs *copy_observations(const struct world *w)
{
	int n = w->graph.dag.n;
	struct judge_obs *obs = calloc((size_t)n, sizeof(*obs));
	bool whole = obs != NULL;

	for (int i = 0; obs && i < n; i++) {
		const struct judge_obs *o = &w->obs[i];

		obs[i] = *o;
		obs[i].values = copy(o->values, o->n_values, sizeof(*o->values));
		obs[i].order = copy(o->order, o->n_values, sizeof(*o->order));
		obs[i].layout = copy(o->layout, o->n_values, 1);
		whole &= obs[i].values && obs[i].order && obs[i].layout;
	}
	if (!whole) {
		copies_done(obs, n);
		return NULL;
	}
	return obs;
}

int asker_restart(struct asker *a, struct judge_decision *ret)
{
	struct judge_obs *obs = copy_observations(a->w);

	(void)judge_memo_free(a->options.memo);
	a->options.memo = judge_memo_new();
	int r = obs && a->options.memo ? judge_next(&a->w->graph.dag, obs, &a->options, ret)
				       : -ENOMEM;

	copies_done(obs, a->w->graph.dag.n);
	return r;
}

/* Equal, and two that are no numbers are. */
static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static bool same_wants(const struct judge_decision *a, const struct judge_decision *b)
{
	if (a->n_wants != b->n_wants || a->has_mark != b->has_mark)
		return false;
	if (a->has_mark && (a->mark.node != b->mark.node || a->mark.order != b->mark.order))
		return false;
	for (size_t i = 0; i < a->n_wants; i++) {
		const struct judge_want *x = &a->wants[i], *y = &b->wants[i];

		if (x->node != y->node || x->runs != y->runs || x->layout != y->layout)
			return false;
	}
	return true;
}

static bool same_answer(const struct judge_decision *a, const struct judge_decision *b)
{
	if (a->verdict != b->verdict || a->culprit != b->culprit ||
	    a->n_candidates != b->n_candidates)
		return false;
	for (size_t i = 0; i < a->n_candidates; i++)
		if (a->candidates[i].node != b->candidates[i].node ||
		    !same(a->candidates[i].probability, b->candidates[i].probability))
			return false;
	return a->partial == b->partial &&
	       (!a->partial || (a->rest_good == b->rest_good && a->rest_bad == b->rest_bad)) &&
	       same(a->explained, b->explained) && a->runs_needed == b->runs_needed;
}

bool asker_same(const struct judge_decision *a, const struct judge_decision *b)
{
	return a->action == b->action && a->phase == b->phase && same_wants(a, b) &&
	       same_answer(a, b) && a->remaining == b->remaining &&
	       strcmp(a->reason, b->reason) == 0;
}

/* When each slot is free again, in seconds since the decision. */
struct slots {
	double free[SLOTS_MAX];
	unsigned n;
	unsigned done;
};

/* The next free slot works from `from` on, as long as the world's clock has moved since `before`.
 */
static double work(struct slots *s, const struct world *w, double from, double before)
{
	unsigned k = 0;

	if (w->seconds <= before)
		return from;
	for (unsigned i = 1; i < s->n; i++)
		if (s->free[i] < s->free[k])
			k = i;
	s->free[k] = fmax(s->free[k], from) + w->seconds - before;
	s->done++;
	return s->free[k];
}

static int meet_want(struct world *w, const struct judge_want *want, bool eager, struct slots *s)
{
	double before = w->seconds, value;
	bool there = world_build(w, want->node, want->layout);
	double built = work(s, w, 0, before);

	while (there && world_runs_of(w, want->node, want->layout) < want->runs) {
		before = w->seconds;
		if (world_run(w, want->node, want->layout, &value) < 0)
			return -ENOMEM;
		(void)work(s, w, built, before);
		if (eager)
			break;
	}
	return 0;
}

int asker_meet(struct asker *a, const struct judge_decision *d, bool eager, double *ret_wall,
	       unsigned *ret_done)
{
	struct slots s = {.n = MAX(1u, MIN(a->options.slots, SLOTS_MAX))};
	double wall = 0;

	for (size_t i = 0; i < d->n_wants && !(eager && s.done); i++) {
		int r = meet_want(a->w, &d->wants[i], eager, &s);

		if (r < 0)
			return r;
	}
	for (unsigned i = 0; i < s.n; i++)
		wall = fmax(wall, s.free[i]);
	*ret_wall = wall;
	*ret_done = s.done;
	return 0;
}

static double cpu_now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void trace(const struct trial_options *o, const struct world *w, const struct trial *t,
		  const struct judge_decision *d)
{
	if (!o->trace)
		return;
	(void)fprintf(o->trace, "%4u %6.0f s %-8s", t->decisions, w->seconds,
		      d->action == JUDGE_DONE ? "done" : decision_phase_name(d->phase));
	for (size_t i = 0; i < d->n_wants; i++) {
		const struct judge_want *want = &d->wants[i];

		(void)fprintf(o->trace, " %d:%u", want->node, want->runs);
		if (want->layout)
			(void)fprintf(o->trace, "/%d", want->layout);
	}
	(void)fprintf(o->trace, "%s  %s\n", d->has_mark ? " mark" : "", d->reason);
}

static int ask(struct asker *a, const struct trial_options *o, struct trial *t,
	       struct judge_decision *ret)
{
	double before = cpu_now();
	int r = asker_next(a, ret);
	double spent = cpu_now() - before;

	if (r < 0)
		return r;
	t->decisions++;
	t->cpu += spent;
	t->cpu_max = fmax(t->cpu_max, spent);
	trace(o, a->w, t, ret);
	return 0;
}

/* Kills the asker, now and then: what does it say when it is back? */
static int shake(struct asker *a, const struct trial_options *o, struct trial *t,
		 const struct judge_decision *d)
{
	if (o->restart <= 0 || rng_unit(&a->rng) >= o->restart)
		return 0;

	struct judge_decision again = {0};
	size_t marks = a->options.n_marks;

	/* killed before its mark was stored: the answer must hold the same one */
	if (d->action == JUDGE_MEASURE && d->has_mark)
		a->options.n_marks--;
	int r = asker_restart(a, &again);

	a->options.n_marks = marks;
	if (r < 0)
		return r;
	t->differs += !asker_same(d, &again);
	judge_decision_done(&again);
	return 0;
}

/* The first commit that it would name: how good its own 99 % are. */
static void note_claim(const struct world *w, const struct judge_decision *d, struct trial *t)
{
	int node = d->action == JUDGE_MEASURE ? d->mark.node : d->culprit;

	if (t->claimed || !(d->action == JUDGE_MEASURE ? d->has_mark : d->verdict == JUDGE_CULPRIT))
		return;
	t->claimed = true;
	t->claim_right = referee_is_near_culprit(w, node);
}

static int weigh_set(const struct world *w, const struct judge_decision *d, struct trial *t)
{
	_cleanup_free_ int *nodes = calloc(d->n_candidates + 1, sizeof(*nodes));

	t->outcome = OUTCOME_BROKEN; /* an answer that names nobody */
	if (!nodes)
		return -ENOMEM;
	for (size_t i = 0; i < d->n_candidates; i++)
		nodes[i] = d->candidates[i].node;
	return d->n_candidates ? referee_judge(w, nodes, d->n_candidates, &t->outcome) : 0;
}

static int weigh(const struct world *w, const struct judge_decision *d, struct trial *t)
{
	t->partial = d->partial;
	switch (d->verdict) {
	case JUDGE_CULPRIT:
		return referee_judge(w, &d->culprit, 1, &t->outcome);
	case JUDGE_SET:
		return weigh_set(w, d, t);
	case JUDGE_NOT_REPRODUCED:
		t->outcome = d->change.relation == JUDGE_IMPROVED ? OUTCOME_OPPOSITE
								  : OUTCOME_NOT_REPRODUCED;
		return 0;
	case JUDGE_GAVE_UP:
		t->outcome = OUTCOME_GAVE_UP;
		return 0;
	}
	return -EINVAL;
}

/* One decision and what it wants. 1: the search is over. */
static int step(struct asker *a, const struct trial_options *o, struct trial *t)
{
	_cleanup_(judge_decision_done) struct judge_decision d = {0};
	double wall = 0;
	unsigned done = 0;
	int r = ask(a, o, t, &d);

	if (r >= 0)
		r = shake(a, o, t, &d);
	if (r < 0)
		return r;
	note_claim(a->w, &d, t);
	if (t->answer_seconds <= 0 && (d.phase == JUDGE_EXPLAIN || d.action == JUDGE_DONE))
		t->answer_seconds = a->w->seconds;
	if (d.action == JUDGE_DONE) {
		r = weigh(a->w, &d, t);
		return r < 0 ? r : 1;
	}
	r = asker_meet(a, &d, o->eager, &wall, &done);
	t->wall += wall;
	if (r >= 0 && !done && !d.has_mark)
		t->outcome = OUTCOME_BROKEN;
	return r < 0 ? r : t->outcome == OUTCOME_BROKEN;
}

int method_judge(struct world *w, const struct trial_options *options, int parameter,
		 struct trial *ret)
{
	unsigned most = options->most ? options->most : DECISIONS_MAX;
	struct asker a;
	int r = asker_init(&a, w);

	(void)parameter;
	while (r == 0 && ret->decisions < most)
		r = step(&a, options, ret);
	if (r == 0)
		ret->outcome = OUTCOME_BROKEN;
	asker_done(&a);
	return r < 0 ? r : 0;
}
