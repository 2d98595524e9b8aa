/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/status.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/judge/search.h"

#define QUORUM 2 /* runs with the failure that make a commit bad: one may be anything */
#define STRAY 3	 /* among noise: so many more other failures than useful runs, and a commit cannot be tested */
#define ERROR 0.01
#define GOOD_RUNS_MOST 100000

/* Macros, so that formats are checked at the call; what is too long is cut. */
#define explain(d, ...) ((void)snprintf((d)->reason, sizeof((d)->reason), __VA_ARGS__))
#define done(d, verdict, ...) (explain(d, __VA_ARGS__), finish(d, verdict))

/* How the runs of a commit look when one failure is searched for. */
struct tally {
	unsigned same, ok, other;
	bool final; /* no run tells more */
};

/* One question, while it is being answered. */
struct ask {
	const struct judge_dag *dag;
	const struct judge_status_obs *obs;
	const struct judge_status_options *opt;
	struct judge_failure *failure;
	struct judge_decision *d;
};

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

static unsigned total(const struct tally *t)
{
	return t->same + t->ok + t->other;
}

/* Of a failed build no run is needed: an image that is there is enough to be good. */
static struct tally tally_of(const struct judge_status_obs *o, const struct judge_failure *f)
{
	struct tally t = {.final = o->image == JUDGE_IMAGE_FAILED || (f->of_build && o->image == JUDGE_IMAGE_BUILT)};

	if (o->image == JUDGE_IMAGE_FAILED)
		*(f->of_build && o->build_kind == f->kind ? &t.same : &t.other) = 1;
	else if (t.final)
		t.ok = 1;
	for (size_t i = 0; !t.final && i < o->n_endings; i++) {
		const struct judge_ending *e = &o->endings[i];

		*(e->kind == JUDGE_KIND_OK ? &t.ok : e->kind == f->kind ? &t.same : &t.other) += e->runs;
	}
	return t;
}

/* A commit that showed it once, which may be a stray, has to do without it for twice as long. */
static unsigned ok_wanted(const struct tally *t, const struct judge_failure *f)
{
	return t->same ? 2 * f->good_runs : f->good_runs;
}

static enum judge_side side_of(const struct tally *t, const struct judge_failure *f, unsigned stray)
{
	if (t->final)
		return t->same ? JUDGE_SIDE_BAD : t->ok ? JUDGE_SIDE_GOOD : JUDGE_SIDE_SKIP;
	if (t->same >= QUORUM)
		return JUDGE_SIDE_BAD;
	if (f->good_runs && t->ok >= ok_wanted(t, f))
		return JUDGE_SIDE_GOOD;
	return t->other >= stray + t->same + t->ok ? JUDGE_SIDE_SKIP : JUDGE_SIDE_UNKNOWN;
}

static unsigned stray_of(const struct judge_status_options *opt)
{
	return opt->deterministic ? QUORUM : STRAY;
}

enum judge_side judge_status_side(const struct judge_status_obs *obs, const struct judge_failure *failure,
				  const struct judge_status_options *opt)
{
	const struct tally t = tally_of(obs, failure);

	return failure->kind == JUDGE_KIND_OK ? JUDGE_SIDE_UNKNOWN : side_of(&t, failure, stray_of(opt));
}

/* Probability that a bad commit is without the failure n times in a row. */
static double miss(unsigned k, unsigned m, unsigned n)
{
	double p = 1;

	for (unsigned i = 0; i < n; i++)
		p *= (m - k + 1.0 + i) / (m + 2.0 + i);
	return p;
}

unsigned judge_status_good_runs(unsigned k, unsigned m, double error)
{
	double p = 1;
	unsigned n = 0;

	for (; p > error && n < GOOD_RUNS_MOST; n++)
		p *= (m - k + 1.0 + n) / (m + 2.0 + n);
	return n;
}

/* What the bad end shows most; of equals what it showed first. */
static int most_common(const struct judge_status_obs *bad)
{
	const struct judge_ending *best = NULL;

	for (size_t i = 0; i < bad->n_endings; i++) {
		const struct judge_ending *e = &bad->endings[i];

		if (e->kind != JUDGE_KIND_OK && e->runs && (!best || e->runs > best->runs))
			best = e;
	}
	return best ? best->kind : JUDGE_KIND_OK;
}

/* How often the bad end is run at all, look by look; 0: often enough. */
static unsigned next_look(const struct ask *a, const struct tally *t)
{
	static const unsigned looks[] = {2, 4, 10, 20, 40};
	const unsigned useful = t->same + t->ok, n = total(t);
	const bool alike = t->same == n && n >= (a->opt->deterministic ? 2 : 4);

	if (alike || (useful >= 10 && t->same >= 5) || (useful >= 20 && (t->same >= 3 || t->same == 0)))
		return 0;
	if (a->opt->deterministic && t->ok && t->ok == n)
		return 0;
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
		if (n < looks[i])
			return looks[i];
	return 0;
}

static unsigned log2_of(size_t n)
{
	unsigned steps = 0;

	while (steps < 31 && ((size_t)1 << steps) < n)
		steps++;
	return steps;
}

static unsigned steps_of(const struct ask *a)
{
	return log2_of((size_t)a->dag->n - 1);
}

/* What is to be looked for, and how many runs without it are enough. True: the decision is made. */
static bool weigh_bad_end(struct ask *a)
{
	const int bad = a->dag->n - 1;
	const struct judge_status_obs *o = &a->obs[bad];
	struct judge_failure *f = a->failure;
	struct tally t;
	unsigned look;

	f->of_build = o->image == JUDGE_IMAGE_FAILED;
	f->kind = f->of_build ? o->build_kind : most_common(o);
	t = tally_of(o, f);
	f->same = t.same;
	f->runs = t.same + t.ok;
	look = t.final ? 0 : next_look(a, &t);
	if (look) {
		want(a->d, bad, look);
		explain(a->d, "the bad end first: what does it fail with, and how often? %u of %u runs until now", t.same, total(&t));
		return true;
	}
	if (!t.same)
		return done(a->d, JUDGE_NOT_REPRODUCED, "the bad end ends well: no failure in %u run%s", t.ok, t.ok == 1 ? "" : "s");
	return false;
}

static bool settle_good_runs(struct ask *a)
{
	struct judge_failure *f = a->failure;
	const double error = (a->opt->error > 0 ? a->opt->error : ERROR) / (steps_of(a) + 2);
	const unsigned most = a->opt->max_runs ? a->opt->max_runs : JUDGE_STATUS_RUNS;
	double needed;

	f->good_runs = 1;
	if (f->of_build || (a->opt->deterministic && f->same == f->runs))
		return false;
	f->good_runs = judge_status_good_runs(f->same, f->runs, error);
	needed = (double)f->good_runs * (steps_of(a) + 2);
	if (f->same >= QUORUM && needed <= most)
		return false;
	a->d->runs_needed = (unsigned)fmin(needed, 4e9);
	return done(a->d, JUDGE_GAVE_UP, "too rare: the bad end fails in %u of %u runs; a search would need up to %u boots, %u may be used",
		    f->same, f->runs, a->d->runs_needed, most);
}

/* So many more runs of a node as are likely to show the failure as often as a quorum wants, but no more than are missing to be good. */
static unsigned next_runs(const struct ask *a, const struct tally *t)
{
	const struct judge_failure *f = a->failure;
	const unsigned missing = ok_wanted(t, f) > t->ok ? ok_wanted(t, f) - t->ok : 1;
	const unsigned left = t->same < QUORUM ? QUORUM - t->same : 1;
	const unsigned likely = f->same ? (left * f->runs + f->same - 1) / f->same : 1;

	if (f->of_build)
		return 0;
	return total(t) + (missing < likely ? missing : likely);
}

static bool weigh_good_end(struct ask *a)
{
	const struct tally t = tally_of(&a->obs[0], a->failure);

	switch (side_of(&t, a->failure, stray_of(a->opt))) {
	case JUDGE_SIDE_BAD:
		return done(a->d, JUDGE_NOT_REPRODUCED, "the good end fails in the same way (%u of %u runs)", t.same, total(&t));
	case JUDGE_SIDE_SKIP:
		return done(a->d, JUDGE_GAVE_UP, "the good end fails, too, in another way: nothing to compare with");
	case JUDGE_SIDE_GOOD:
		return false;
	default:
		want(a->d, 0, next_runs(a, &t));
		explain(a->d, "is the good end without it? %u runs are to show that", ok_wanted(&t, a->failure));
		return true;
	}
}

/* The ends first. True: the decision is made. */
static bool weigh_ends(struct ask *a)
{
	const int bad = a->dag->n - 1;

	if (a->obs[bad].image == JUDGE_IMAGE_UNKNOWN)
		want(a->d, bad, 0);
	if (a->obs[0].image == JUDGE_IMAGE_UNKNOWN)
		want(a->d, 0, 0);
	if (a->d->n_wants) {
		explain(a->d, "the ends first: do they build?");
		return true;
	}
	return weigh_bad_end(a) || settle_good_runs(a) || weigh_good_end(a);
}

static const char *contradiction(const struct judge_search *s)
{
	return s->contradictory ? "; contradictory: a good commit descends from a bad one" : "";
}

static void ask_pick(struct ask *a, const struct judge_search *s)
{
	const struct tally t = tally_of(&a->obs[s->pick], a->failure);

	want(a->d, s->pick, next_runs(a, &t));
	explain(a->d, "%d candidates left: leaves %d if bad, %d if good%s%s", s->n_candidates, s->pick_weight,
		s->n_candidates - s->pick_weight, s->n_skipped ? "; away from what cannot be tested" : "", contradiction(s));
}

/* The parents of the culprit once more. True: some have not had their runs. */
static bool ask_parents(struct ask *a, const struct judge_search *s)
{
	const int culprit = s->first_bad;
	const unsigned wanted = 2 * a->failure->good_runs;

	if (a->failure->of_build || (a->opt->deterministic && a->failure->same == a->failure->runs))
		return false;
	a->d->phase = JUDGE_CONFIRM;
	for (int e = a->dag->parent_start[culprit]; e < judge_dag_parents_end(a->dag, culprit, a->opt->first_parent); e++) {
		const int parent = a->dag->parents[e];
		struct tally t;

		if (parent < 0 || a->d->n_wants >= JUDGE_WANTS_MAX)
			continue;
		t = tally_of(&a->obs[parent], a->failure);
		if (t.final || t.ok >= wanted)
			continue;
		want(a->d, parent, total(&t) + (wanted - t.ok < 10 ? wanted - t.ok : 10));
	}
	if (a->d->n_wants)
		explain(a->d, "to confirm it: %u runs of its parent without the failure", wanted);
	return a->d->n_wants > 0;
}

static void say_error(struct ask *a, const enum judge_side *sides)
{
	struct judge_failure *f = a->failure;

	if (f->of_build || (a->opt->deterministic && f->same == f->runs))
		return;
	for (int i = 0; i < a->dag->n; i++)
		if (sides[i] == JUDGE_SIDE_GOOD)
			f->error += miss(f->same, f->runs, tally_of(&a->obs[i], f).ok);
	f->error = fmin(f->error, 1);
}

static int conclude(struct ask *a, const struct judge_search *s)
{
	struct judge_decision *d = a->d;

	d->candidates = calloc((size_t)s->n_candidates, sizeof(*d->candidates));
	if (!d->candidates)
		return -ENOMEM;
	d->n_candidates = (size_t)s->n_candidates;
	for (int i = 0; i < s->n_candidates; i++)
		d->candidates[i] = (struct judge_candidate){s->candidates[i], 1.0 / s->n_candidates};
	if (s->n_candidates > 1) {
		done(d, JUDGE_SET, "the first commit that fails is one of %d, of which %d cannot be tested%s", s->n_candidates,
		     s->n_skipped, contradiction(s));
		return 0;
	}
	d->culprit = s->first_bad;
	if (a->failure->error > 0)
		done(d, JUDGE_CULPRIT, "it fails, its parent does not in %u runs; the bad end did in %u of %u; wrong with probability %.2g at most%s",
		     2 * a->failure->good_runs, a->failure->same, a->failure->runs, a->failure->error, contradiction(s));
	else
		done(d, JUDGE_CULPRIT, "it fails, and its parent does not%s", contradiction(s));
	return 0;
}

static int decide_between(struct ask *a, const enum judge_side *sides, bool settled)
{
	struct judge_decision *d = a->d;
	struct judge_search s;
	int r = judge_search_run(a->dag, a->opt->first_parent, sides, &s);

	if (r < 0)
		return r;
	d->remaining = (size_t)s.n_candidates;
	d->first_bad = s.first_bad;
	d->last_good = s.last_good;
	if (!settled) {
		d->phase = JUDGE_SEARCH;
		say_error(a, sides);
		if (s.pick >= 0)
			ask_pick(a, &s);
		else if (s.n_candidates > 1 || !ask_parents(a, &s))
			r = conclude(a, &s);
	}
	if (d->action == JUDGE_MEASURE) {
		const unsigned steps = log2_of((size_t)s.n_candidates);

		d->steps_left = steps < (unsigned)s.n_untested ? steps : (unsigned)s.n_untested;
	}
	judge_search_done(&s);
	return r;
}

static bool is_over_budget(struct ask *a)
{
	const unsigned most = a->opt->max_runs ? a->opt->max_runs : JUDGE_STATUS_RUNS;
	unsigned long runs = 0;

	for (int i = 0; i < a->dag->n; i++)
		for (size_t k = 0; k < a->obs[i].n_endings; k++)
			runs += a->obs[i].endings[k].runs;
	return runs >= most && done(a->d, JUDGE_GAVE_UP, "the budget of %u runs is spent", most);
}

static int decide(struct ask *a)
{
	const int n = a->dag->n;
	bool settled = weigh_ends(a);
	enum judge_side *sides = calloc((size_t)n, sizeof(*sides));
	int r;

	if (!sides)
		return -ENOMEM;
	for (int i = 0; i < n && !settled; i++)
		sides[i] = judge_status_side(&a->obs[i], a->failure, a->opt);
	r = decide_between(a, sides, settled);
	free(sides);
	if (r >= 0 && a->d->action == JUDGE_MEASURE && is_over_budget(a)) {
		a->d->n_wants = 0;
		a->d->steps_left = 0;
	}
	return r;
}

int judge_status(const struct judge_dag *dag, const struct judge_status_obs *obs, const struct judge_status_options *opt,
		 struct judge_decision *ret, struct judge_failure *ret_failure)
{
	struct judge_failure failure = {0};
	struct judge_decision d = {.culprit = -1, .effect = NAN, .explained = NAN, .explained_low = NAN, .explained_high = NAN};
	struct ask a = {dag, obs, opt, &failure, &d};
	int r = opt->error >= 0 && opt->error < 1 ? judge_dag_check(dag) : -EINVAL;

	if (r >= 0)
		r = decide(&a);
	if (r < 0) {
		judge_decision_done(&d);
		return r;
	}
	*ret = d;
	*ret_failure = failure;
	return 0;
}
