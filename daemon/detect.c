// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A new tip against the level that was accepted last, per workload and arch: is there something to search for? The accepted
 * commit is measured in the same series (again, when toolchain, machine or workload have changed), so only equal
 * identities are compared. Exact metrics come first; a tip that they find nothing in is compared in time where the tree asks
 * for it, and then with the history of its branch.
 */
#include "daemon/detect-internal.h"

#include "db/run.h"
#include "db/search.h"
#include "lib/clock.h"
#include "lib/log.h"

#include <math.h>

/* All comparisons in time of one tip together raise a false alarm with this probability at most. */
#define FAMILY_ALPHA 0.01
/* In a family as large as this, nearly all noisy changes of one sign are rather the host than the patch. */
#define ONE_SIDED_LEAST 12
#define ONE_SIDED_P 0.001

void detect_say(const struct look *l, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)str_vaddf(l->lines, format, ap);
	va_end(ap);
	(void)str_add(l->lines, "\n");
}

bool detect_is_open(const struct want_result *w)
{
	return w->state == WANT_PENDING || w->state == WANT_BROKEN;
}

static int plan_for(const struct look *l, const char *oid, const char *class, unsigned runs, bool ask, struct error *err,
		    struct want_result *ret)
{
	_cleanup_(commit_done) struct commit commit = { 0 };
	struct engine *e = l->service->engine;
	struct want want = { .oid = oid, .arch = l->arch, .workload = l->workload->name, .class = class, .runs = runs,
			     .priority = PRIORITY_TIP };
	int r = repo_commit(e->repo, oid, err, &commit);

	if (r == -ENOMEM)
		return r;
	if (r < 0) { /* libgit2 reads no commit that git fsck would refuse: the commit's trouble, not ours */
		detect_say(l, "%s", error_text(err));
		error_done(err);
		ret->state = WANT_SKIPPED;
		return 0;
	}
	want.tree_oid = commit.tree_oid;
	return ask ? plan_want(e, &want, err, ret) : plan_look(e, &want, err, ret);
}

int detect_want(const struct look *l, const char *oid, const char *class, unsigned runs, struct error *err,
		struct want_result *ret)
{
	return plan_for(l, oid, class, runs, true, err, ret);
}

int detect_look(const struct look *l, const char *oid, const char *class, struct error *err, struct want_result *ret)
{
	return plan_for(l, oid, class, 1, false, err, ret);
}

enum judge_better detect_better(const struct look *l, const struct want_result *w, const char *metric)
{
	_cleanup_(level_list_done) struct level_list levels = { 0 };
	const struct level *level;

	if (db_level_list(l->service->engine->db, w->series, w->signature, &levels) < 0)
		return JUDGE_LOWER;
	level = level_list_find(&levels, metric);
	return level && str_eq(level->better, "higher") ? JUDGE_HIGHER : JUDGE_LOWER;
}

/* What went wrong, for the log. */
static char *suspicion_text(const struct suspicion *s)
{
	if (s->status)
		return str_format("%s on %s: %s%s%s", s->workload, s->arch, s->status, s->title && *s->title ? ": " : "",
				  s->title ? s->title : "");
	return str_format("%s of %s on %s went from %g to %g (x %.3g)", s->metric, s->workload, s->arch, s->before, s->after,
			  s->ratio);
}

static int add_search(const struct look *l, const struct suspicion *s, const char *good, struct error *err)
{
	struct search question = { .tree = l->tip->tree, .ref = l->tip->ref, .good = (char *)(uintptr_t)good,
				   .bad = l->tip->oid, .workload = (char *)(uintptr_t)s->workload,
				   .arch = (char *)(uintptr_t)s->arch,
				   .metric = (char *)(uintptr_t)s->metric, .class = (char *)(uintptr_t)s->class,
				   .claim = s->claim };
	int64_t id;
	int r = db_search_add(l->service->engine->db, &question, now_wall_ns(), &id);

	if (r < 0)
		return error_errno(err, r, "database");
	if (r > 0) {
		_cleanup_free_ char *what = suspicion_text(s);

		log_info("tree %s %s: %s: search %lld over %.12s..%.12s", l->tip->tree, l->tip->ref, what ? what : s->metric,
			 (long long)id, good, l->tip->oid);
	}
	return OUTCOME_WORSE;
}

int detect_search(const struct look *l, const struct suspicion *s, struct error *err)
{
	_cleanup_free_ char *base = NULL, *text = suspicion_text(s);
	const char *what = text ? text : s->metric;
	int r = repo_merge_base(l->service->engine->repo, s->good, l->tip->oid, &base);

	if (r == -ENOENT) {
		detect_say(l, "%s, but %.12s and %.12s have no common history to search", what, s->good, l->tip->oid);
		return s->status ? OUTCOME_FAILED : OUTCOME_UNRELATED;
	}
	if (r == -ENOMEM)
		return error_errno(err, r, "history of %.12s and %.12s", s->good, l->tip->oid);
	if (r < 0 || str_eq(base, l->tip->oid)) {
		detect_say(l, "%s, but %s%s", what, r < 0 ? "the history cannot be read" : "the branch has moved back",
			   s->status ? "" : ": a new level");
		return s->status ? OUTCOME_FAILED : OUTCOME_UNRELATED;
	}
	/* Of a rebased branch the search looks at once where the two part: was it the old branch that had something better? */
	return add_search(l, s, s->good, err);
}

static void family_done(struct family *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->items[i].workload);
		free(f->items[i].arch);
		free(f->items[i].metric);
		free(f->items[i].good);
	}
	free(f->items);
}

int detect_compared(const struct look *l, const char *class, const char *metric, const struct judge_member *member,
		    double before, double after, double ratio, struct error *err)
{
	struct family *f = l->family;
	struct comparison c = { .class = class, .before = before, .after = after, .ratio = ratio, .member = *member };

	if (grow_array(&f->items, &f->capacity, f->n, sizeof(*f->items)) < 0)
		return error_errno(err, -ENOMEM, "comparison");
	f->items[f->n++] = c;
	if (str_set(&f->items[f->n - 1].workload, l->workload->name) < 0 || str_set(&f->items[f->n - 1].arch, l->arch) < 0 ||
	    str_set(&f->items[f->n - 1].metric, metric) < 0 || str_set(&f->items[f->n - 1].good, l->base->oid) < 0)
		return error_errno(err, -ENOMEM, "comparison");
	return OUTCOME_SAME;
}

int detect_overran(const struct look *l, const char *class, const char *metric, double before, struct error *err)
{
	const struct judge_member member = { .cls = JUDGE_EXACT, .worse = INFINITY };

	return detect_compared(l, class, metric, &member, before, NAN, NAN, err);
}

/* One metric of the exact runs of both. */
static int compare(const struct look *l, const char *metric, const struct want_result *tip, const struct want_result *base,
		   struct error *err)
{
	_cleanup_(values_done) struct values before = { 0 }, after = { 0 };
	struct judge_member member = { .cls = JUDGE_EXACT, .minimum = workload_floor(l->workload, "exact", metric) };
	const enum judge_better better = detect_better(l, tip, metric);
	struct db *db = l->service->engine->db;
	struct judge_comparison c;
	int r = db_run_values(db, base->series, base->signature, metric, &before);

	if (r >= 0)
		r = db_run_values(db, tip->series, tip->signature, metric, &after);
	if (r < 0)
		return error_errno(err, r, "database");
	if (before.n == 0 || after.n == 0) {
		detect_say(l, "workload %s reports no metric '%s'", l->workload->name, metric);
		return OUTCOME_FAILED;
	}
	r = judge_compare(before.items, before.n, after.items, after.n, JUDGE_EXACT, better, member.minimum, &c);
	if (r < 0)
		return error_errno(err, r, "judge");
	if (c.relation == JUDGE_WORSE || c.relation == JUDGE_IMPROVED) {
		member.worse = judge_relative_change(c.before, c.after);
		if (better == JUDGE_HIGHER)
			member.worse = -member.worse;
	}
	if (c.relation != JUDGE_WORSE)
		detect_say(l, "%s of %s on %s: %g, was %g: %s", metric, l->workload->name, l->arch, c.after, c.before,
			   c.relation == JUDGE_IMPROVED ? "better" : "no change");
	return detect_compared(l, "exact", metric, &member, c.before, c.after, c.ratio, err);
}

static int compare_all(const struct look *l, const struct want_result *tip, const struct want_result *base, struct error *err)
{
	const struct workload *w = l->workload;
	int worst = compare(l, w->driver, tip, base, err);

	for (size_t i = 0; worst >= 0 && w->watch && w->watch[i]; i++) {
		int r = str_eq(w->watch[i], w->driver) ? OUTCOME_SAME : compare(l, w->watch[i], tip, base, err);

		worst = r < 0 ? r : MAX(worst, r);
	}
	return worst;
}

static int look_exact(const struct look *l, double alpha, struct error *err)
{
	_cleanup_(want_result_done) struct want_result tip = { 0 }, base = { 0 };
	int r = detect_want(l, l->tip->oid, "exact", 1, err, &tip);

	(void)alpha;
	if (r >= 0 && l->base)
		r = detect_want(l, l->base->oid, "exact", 1, err, &base);
	if (r < 0)
		return r;
	if (detect_is_open(&tip) || (l->base && detect_is_open(&base)))
		return OUTCOME_PENDING;
	if (tip.status && (tip.state == WANT_SLOW || tip.state == WANT_SKIPPED) && l->base && base.state == WANT_MET) {
		const struct suspicion s = { .workload = l->workload->name, .arch = l->arch, .class = "exact", .metric = METRIC_STATUS, 
					     .good = l->base->oid, .status = tip.status, .title = tip.why };

		return detect_search(l, &s, err); /* does not build, boot or end where the level did */
	}
	if (tip.state != WANT_MET)
		return OUTCOME_FAILED;
	if (!l->base || base.state != WANT_MET)
		return OUTCOME_SAME;
	return compare_all(l, &tip, &base, err);
}

static int look_history(const struct look *l, double alpha, struct error *err)
{
	(void)alpha;
	return detect_history(l, "exact", err);
}

static int look_time_history(const struct look *l, double alpha, struct error *err)
{
	(void)alpha;
	return detect_history(l, "time", err);
}

/* What is looked at after what: the next only when this has found nothing. */
static const struct {
	int (*look)(const struct look *l, double alpha, struct error *err);
	bool with_base, in_time;
} looks[] = {
	{ look_exact, false, false },
	{ detect_time, true, true },
	{ look_history, true, false },
	{ look_time_history, true, true },
};

static void log_lines(const struct tip *tip, const char *lines)
{
	for (const char *p = lines; *p; p += strcspn(p, "\n"), p += *p == '\n')
		log_info("tree %s %s: %.*s", tip->tree, tip->ref, (int)strcspn(p, "\n"), p);
}

static int settle(const struct look *l, enum outcome worst, struct error *err)
{
	static const struct {
		const char *state, *reason;
	} ends[] = { [OUTCOME_SAME] = { "accepted", "no change for the worse" },
		     [OUTCOME_UNRELATED] = { "accepted", "slower, without a common history: a new level" },
		     [OUTCOME_WORSE] = { "searched", "a search was started" },
		     [OUTCOME_FAILED] = { "failed", "the tip cannot be read, does not build or does not boot" } };
	const struct tip *tip = l->tip;
	_cleanup_free_ char *reason = NULL;
	int r;

	if (worst == OUTCOME_PENDING)
		return 0;
	reason = str_format("%s%s", !l->base && worst == OUTCOME_SAME ? "first level" : ends[worst].reason, l->notes->data);
	r = reason ? db_tip_set(l->service->engine->db, tip->id, ends[worst].state, reason) : -ENOMEM;
	if (r < 0)
		return error_errno(err, r, "database");
	log_lines(tip, l->lines->data);
	log_info("tree %s %s: tip %.12s %s: %s", tip->tree, tip->ref, tip->oid, ends[worst].state, reason);
	return 0;
}

/* One kind of look at a workload on all arches of the tree. */
static int look_at_workload(const struct look *all, const char *name, const struct tree *tree, size_t kind, double alpha,
			    struct error *err)
{
	_cleanup_(workload_done) struct workload workload = { 0 };
	struct look l = *all;
	int worst = OUTCOME_SAME, r = workload_load(&l.service->engine->paths, name, err, &workload);

	l.workload = &workload;
	for (size_t a = 0; r >= 0 && tree->arches[a]; a++) {
		l.arch = tree->arches[a];
		r = looks[kind].look(&l, alpha, err);
		worst = MAX(worst, r);
	}
	return r < 0 ? r : worst;
}

static int look_at_all(const struct look *l, const struct tree *tree, size_t kind, double alpha, struct error *err)
{
	int worst = OUTCOME_SAME, r = 0;

	for (size_t w = 0; r >= 0 && tree->workloads[w]; w++) {
		r = look_at_workload(l, tree->workloads[w], tree, kind, alpha, err);
		worst = MAX(worst, r);
	}
	return r < 0 ? r : worst;
}

static size_t count_looks(const struct tree *tree)
{
	size_t workloads = 0, arches = 0;

	while (tree->workloads[workloads])
		workloads++;
	while (tree->arches[arches])
		arches++;
	return MAX(workloads * arches, (size_t)1);
}

/* Metrics of one workload on one arch are of the same runs: one search for all that moved, by the one that moved most. */
static bool same_runs(const struct comparison *a, const struct comparison *b)
{
	return str_eq(a->workload, b->workload) && str_eq(a->arch, b->arch);
}

/* By its floor; one without any is the largest. */
static double size_of(const struct judge_member *m)
{
	return m->minimum > 0 ? m->worse / m->minimum : INFINITY;
}

/* The one to search with among those that count and are of the same runs as i; NULL: that was done with an earlier one. */
static const struct comparison *choose_driver(const struct family *f, const struct judge_member_result *results, size_t i)
{
	const struct comparison *driver = NULL;

	for (size_t k = 0; k < f->n; k++) {
		const struct comparison *c = &f->items[k];

		if (!results[k].counts || c->member.worse <= 0 || !same_runs(c, &f->items[i]))
			continue;
		if (k < i)
			return NULL;
		if (!driver || size_of(&c->member) > size_of(&driver->member))
			driver = c;
	}
	return driver;
}

static int search_one(const struct look *l, const struct comparison *c, struct error *err)
{
	const double claim = isfinite(c->ratio) ? fabs(c->ratio - 1) : 0;
	const struct suspicion s = { c->workload, c->arch, c->class, c->metric, c->good, c->before, c->after, c->ratio, claim, NULL, NULL };

	return detect_search(l, &s, err);
}

/* All comparisons of a kind are there: those that count are searched. */
static int believe(const struct look *l, struct error *err)
{
	const struct family *f = l->family;
	_cleanup_free_ struct judge_member *members = calloc(f->n + 1, sizeof(*members));
	_cleanup_free_ struct judge_member_result *results = calloc(f->n + 1, sizeof(*results));
	struct judge_family said;
	int worst = OUTCOME_SAME, r;

	if (!members || !results)
		return error_errno(err, -ENOMEM, "comparison");
	for (size_t i = 0; i < f->n; i++)
		members[i] = f->items[i].member;
	r = judge_family(members, f->n, JUDGE_ANY_E, FAMILY_ALPHA, results, &said);
	if (r < 0)
		return error_errno(err, r, "judge");
	if (f->n >= ONE_SIDED_LEAST && said.one_sided < ONE_SIDED_P)
		(void)str_addf(l->notes, "; %zu comparisons, and nearly all moved one way: look at host, toolchain and base line first",
			       f->n);
	for (size_t i = 0; r >= 0 && i < f->n; i++) {
		const struct comparison *driver =
			results[i].counts && members[i].worse > 0 ? choose_driver(f, results, i) : NULL;

		r = driver ? search_one(l, driver, err) : OUTCOME_SAME;
		worst = MAX(worst, r);
	}
	return r < 0 ? r : worst;
}

/* One kind of look, and what is believed of it when no comparison is under way any more. */
static int take_look(const struct look *all, const struct tree *tree, size_t kind, struct error *err)
{
	_cleanup_(family_done) struct family family = { 0 };
	struct look l = *all;
	int worst, r;

	l.family = &family;
	worst = look_at_all(&l, tree, kind, FAMILY_ALPHA / (double)count_looks(tree), err);
	if (worst < 0 || worst == OUTCOME_PENDING)
		return worst;
	r = believe(&l, err);
	return r < 0 ? r : MAX(worst, r);
}

static int detect_tip(struct service *s, const struct tip *tip, struct error *err)
{
	const struct tree *tree = service_tree(s, tip->tree);
	_cleanup_(tip_done) struct tip base = { 0 };
	_cleanup_str_ struct str notes = STR_INIT, lines = STR_INIT;
	struct look l = { .service = s, .tip = tip, .notes = &notes, .lines = &lines };
	int found, worst = OUTCOME_SAME;

	if (!tree)
		return 0; /* not configured any more */
	found = db_tip_searched(s->engine->db, tip->tree, tip->ref);
	if (found > 0)
		return 0; /* its level is not known yet: comparing with an older one would hide a second change */
	if (found == 0)
		found = db_tip_accepted(s->engine->db, tip->tree, tip->ref, &base);
	if (found < 0)
		return error_errno(err, found, "database");
	l.base = found ? &base : NULL;
	for (size_t kind = 0; kind < ARRAY_SIZE(looks) && worst == OUTCOME_SAME; kind++)
		if ((found || !looks[kind].with_base) && (tree->time || !looks[kind].in_time))
			worst = take_look(&l, tree, kind, err);
	return worst < 0 ? worst : settle(&l, (enum outcome)worst, err);
}

int detect_step(struct service *s, struct error *err)
{
	_cleanup_(tip_list_done) struct tip_list tips = { 0 };
	int r = db_tip_list(s->engine->db, "new", &tips);

	if (r < 0)
		return error_errno(err, r, "database");
	for (size_t i = 0; i < tips.n && r >= 0; i++)
		r = detect_tip(s, &tips.items[i], err);
	return r;
}
