// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A new tip against the level that was accepted last, per workload and arch: is there something to search for? The accepted
 * commit is measured in the same series (again, when toolchain, machine or workload have changed), so only equal
 * identities are compared.
 */
#include "daemon/service.h"

#include "daemon/judge/compare.h"
#include "daemon/plan.h"
#include "db/run.h"
#include "db/search.h"
#include "db/tip.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/str.h"

#include <math.h>

/* Of several workloads and arches the gravest counts; what is still under way is the gravest. */
enum outcome { OUTCOME_SAME, OUTCOME_UNRELATED, OUTCOME_FAILED, OUTCOME_WORSE, OUTCOME_PENDING };

struct look {
	struct service *service;
	const struct tip *tip;
	const struct tip *base; /* NULL: there is none yet */
	const char *workload, *arch;
};

/* One exact run of a commit: *ret_state WANT_MET has its values. */
static int measure(const struct look *l, const char *oid, const char *metric, struct error *err, struct want_result *ret_want,
		   struct values *ret_values)
{
	_cleanup_(commit_done) struct commit commit = { 0 };
	struct engine *e = l->service->engine;
	struct want want = { .oid = oid, .arch = l->arch, .workload = l->workload, .class = "exact", .runs = 1,
			     .priority = PRIORITY_TIP };
	int r = repo_commit(e->repo, oid, err, &commit);

	if (r == -ENOMEM)
		return r;
	if (r < 0) { /* libgit2 reads no commit that git fsck would refuse: the commit's trouble, not ours */
		log_warning("tree %s %s: %s", l->tip->tree, l->tip->ref, error_text(err));
		error_done(err);
		ret_want->state = WANT_SKIPPED;
		return 0;
	}
	want.tree_oid = commit.tree_oid;
	r = plan_want(e, &want, err, ret_want);
	if (r >= 0 && ret_want->state == WANT_MET) {
		r = db_run_values(e->db, ret_want->series, ret_want->signature, metric, ret_values);
		if (r < 0)
			(void)error_errno(err, r, "database");
	}
	return r;
}

static enum judge_better better_of(const struct look *l, const struct want_result *w, const char *metric)
{
	_cleanup_(level_list_done) struct level_list levels = { 0 };
	const struct level *level;

	if (db_level_list(l->service->engine->db, w->series, w->signature, &levels) < 0)
		return JUDGE_LOWER;
	level = level_list_find(&levels, metric);
	return level && str_eq(level->better, "higher") ? JUDGE_HIGHER : JUDGE_LOWER;
}

static int start_search(const struct look *l, const char *metric, const struct judge_comparison *c, struct error *err)
{
	struct engine *e = l->service->engine;
	_cleanup_free_ char *base = NULL;
	struct search question = { .tree = l->tip->tree, .ref = l->tip->ref, .bad = l->tip->oid,
				   .workload = (char *)(uintptr_t)l->workload, .arch = (char *)(uintptr_t)l->arch,
				   .metric = (char *)(uintptr_t)metric, .class = (char *)(uintptr_t) "exact" };
	int64_t id;
	int r = repo_merge_base(e->repo, l->base->oid, l->tip->oid, &base);

	if (r == -ENOENT) {
		log_warning("tree %s %s: %s of %s on %s went from %g to %g, but %.12s and %.12s have no common history to search",
			    l->tip->tree, l->tip->ref, metric, l->workload, l->arch, c->before, c->after, l->base->oid,
			    l->tip->oid);
		return OUTCOME_UNRELATED;
	}
	if (r == -ENOMEM)
		return error_errno(err, r, "history of %.12s and %.12s", l->base->oid, l->tip->oid);
	if (r < 0 || str_eq(base, l->tip->oid)) {
		log_warning("tree %s %s: %s of %s on %s went from %g to %g, but %s: a new level", l->tip->tree, l->tip->ref, metric,
			    l->workload, l->arch, c->before, c->after,
			    r < 0 ? "the history cannot be read" : "the branch has moved back");
		return OUTCOME_UNRELATED;
	}
	/* A rebased branch: the search starts where the two part, and its anchors tell whether the change lies behind that. */
	question.good = base;
	r = db_search_add(e->db, &question, now_wall_ns(), &id);
	if (r < 0)
		return error_errno(err, r, "database");
	if (r > 0)
		log_info("tree %s %s: %s of %s on %s went from %g to %g (x %.3g): search %lld over %.12s..%.12s", l->tip->tree,
			 l->tip->ref, metric, l->workload, l->arch, c->before, c->after, c->ratio, (long long)id, base,
			 l->tip->oid);
	return OUTCOME_WORSE;
}

static int compare(const struct look *l, const struct workload *w, const struct want_result *tip, const struct values *before,
		   const struct values *after, struct error *err)
{
	struct judge_comparison c;
	const double floor = workload_floor(w, "exact", w->driver);
	int r;

	if (before->n == 0 || after->n == 0) {
		log_warning("workload %s reports no metric '%s'", w->name, w->driver);
		return OUTCOME_FAILED;
	}
	r = judge_compare(before->items, before->n, after->items, after->n, JUDGE_EXACT, better_of(l, tip, w->driver), floor, &c);
	if (r < 0)
		return error_errno(err, r, "judge");
	if (c.relation == JUDGE_WORSE)
		return start_search(l, w->driver, &c, err);
	log_info("tree %s %s: %s of %s on %s: %g, was %g: %s", l->tip->tree, l->tip->ref, w->driver, l->workload, l->arch, c.after,
		 c.before, c.relation == JUDGE_IMPROVED ? "better" : "no change");
	return OUTCOME_SAME;
}

/* Broken infrastructure says nothing about a commit: it is tried again after a pause. */
static bool is_open(const struct want_result *w)
{
	return w->state == WANT_PENDING || w->state == WANT_BROKEN;
}

static int look_at(const struct look *l, struct error *err)
{
	_cleanup_(workload_done) struct workload w = { 0 };
	_cleanup_(want_result_done) struct want_result tip = { 0 }, base = { 0 };
	_cleanup_(values_done) struct values before = { 0 }, after = { 0 };
	int r = workload_load(&l->service->engine->paths, l->workload, err, &w);

	if (r >= 0)
		r = measure(l, l->tip->oid, w.driver, err, &tip, &after);
	if (r >= 0 && l->base)
		r = measure(l, l->base->oid, w.driver, err, &base, &before);
	if (r < 0)
		return r;
	if (is_open(&tip) || (l->base && is_open(&base)))
		return OUTCOME_PENDING;
	if (tip.state == WANT_SLOW && l->base && base.state == WANT_MET && before.n) {
		const struct judge_comparison overrun = { .before = before.items[0], .after = NAN, .ratio = NAN };

		return start_search(l, w.driver, &overrun, err); /* overran its limit where the level did not */
	}
	if (tip.state != WANT_MET)
		return OUTCOME_FAILED;
	if (!l->base || base.state != WANT_MET)
		return OUTCOME_SAME;
	return compare(l, &w, &tip, &before, &after, err);
}

static int settle(struct service *s, const struct tip *tip, enum outcome worst, bool first, struct error *err)
{
	static const struct {
		const char *state, *reason;
	} ends[] = { [OUTCOME_SAME] = { "accepted", "no change for the worse" },
		     [OUTCOME_UNRELATED] = { "accepted", "slower, without a common history: a new level" },
		     [OUTCOME_WORSE] = { "searched", "a search was started" },
		     [OUTCOME_FAILED] = { "failed", "the tip cannot be read, does not build or does not boot" } };
	int r;

	if (worst == OUTCOME_PENDING)
		return 0;
	r = db_tip_set(s->engine->db, tip->id, ends[worst].state,
		       first && worst == OUTCOME_SAME ? "first level" : ends[worst].reason);
	if (r < 0)
		return error_errno(err, r, "database");
	log_info("tree %s %s: tip %.12s %s: %s", tip->tree, tip->ref, tip->oid, ends[worst].state,
		 first && worst == OUTCOME_SAME ? "first level" : ends[worst].reason);
	return 0;
}

static int detect_tip(struct service *s, const struct tip *tip, struct error *err)
{
	const struct tree *tree = service_tree(s, tip->tree);
	_cleanup_(tip_done) struct tip base = { 0 };
	enum outcome worst = OUTCOME_SAME;
	int found;

	if (!tree)
		return 0; /* not configured any more */
	found = db_tip_searched(s->engine->db, tip->tree, tip->ref);
	if (found > 0)
		return 0; /* its level is not known yet: comparing with an older one would hide a second change */
	if (found == 0)
		found = db_tip_accepted(s->engine->db, tip->tree, tip->ref, &base);
	if (found < 0)
		return error_errno(err, found, "database");
	for (size_t w = 0; tree->workloads[w]; w++)
		for (size_t a = 0; tree->arches[a]; a++) {
			const struct look l = { .service = s, .tip = tip, .base = found ? &base : NULL,
						.workload = tree->workloads[w], .arch = tree->arches[a] };
			int r = look_at(&l, err);

			if (r < 0)
				return r;
			worst = MAX(worst, (enum outcome)r);
		}
	return settle(s, tip, worst, found == 0, err);
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
