// SPDX-License-Identifier: GPL-2.0-or-later
/* The proof of a culprit: its parents, itself, itself with the fix, the bad tip without it, and where else its patch is. */
#include "daemon/session-internal.h"

#include "db/job.h"
#include "db/tip.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/str.h"

/* Heads of other watched branches that are measured at most. */
#define BRANCHES_MAX 3

static int add_parents(struct session *s, const struct commit *culprit)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < culprit->n_parents; i++) {
		_cleanup_free_ char *name = i ? str_format("parent%zu", i + 1) : strdup("parent");
		_cleanup_free_ char *label = culprit->n_parents > 1 ? str_format("parent %zu of the culprit", i + 1) :
								      strdup("parent of the culprit");

		r = name && label ? rows_add(&s->rows, name, label, culprit->parents[i], NULL, NULL) : -ENOMEM;
	}
	return r;
}

static int add_fixed(struct engine *e, struct session *s, const struct commit *culprit, struct error *err)
{
	_cleanup_error_ struct error why = ERROR_INIT;
	_cleanup_free_ char *fix = NULL, *fixed = NULL;
	int r = repo_find_fix(e->repo, culprit->oid, culprit->n_parents ? culprit->parents[0] : culprit->oid, err, &fix,
			      &s->fix_ref);

	if (r < 0)
		return r;
	if (r == 0)
		return rows_add(&s->rows, "fixed", "culprit + fix", NULL, "none", "no commit with a Fixes: trailer for it");
	r = repo_commit(e->repo, fix, err, &s->fix);
	if (r < 0)
		return r;
	r = repo_cherry_pick(e->repo, fix, culprit->oid, &why, &fixed);
	if (r < 0 && r != -ENOMEM)
		return rows_add(&s->rows, "fixed", "culprit + fix", NULL, "does-not-apply", error_text(&why));
	if (r < 0)
		return error_set(err, r, "%s", error_text(&why));
	return rows_add(&s->rows, "fixed", "culprit + fix", fixed, NULL, NULL);
}

static bool is_own(const struct session *s, const struct tip *head)
{
	return str_eq(head->tree, s->question.tree) && str_eq(head->ref, s->question.ref);
}

static bool has_own(const struct session *s, const struct tip_list *heads)
{
	for (size_t i = 0; i < heads->n; i++)
		if (str_eq(heads->items[i].tree, s->question.tree))
			return true;
	return false;
}

static bool is_listed(const struct tip *const *heads, size_t n, const char *oid)
{
	for (size_t i = 0; i < MIN(n, (size_t)BRANCHES_MAX); i++)
		if (str_eq(heads[i]->oid, oid))
			return true;
	return false;
}

/* A history that cannot be read is no reason to go without the rest of the proof. */
static int look_at(int r, struct error *err)
{
	if (r >= 0 || r == -ENOMEM)
		return r;
	log_warning("%s: not looked at", error_text(err));
	error_done(err);
	return 0;
}

static int add_reverted(struct engine *e, struct session *s, const struct commit *culprit, struct error *err)
{
	_cleanup_error_ struct error why = ERROR_INIT;
	_cleanup_free_ char *reverted = NULL;
	int r = repo_revert(e->repo, culprit->oid, s->question.bad, &why, &reverted);

	if (r < 0 && r != -ENOMEM)
		return rows_add(&s->rows, "reverted", "bad tip, culprit reverted", NULL, "does-not-revert", error_text(&why));
	if (r < 0)
		return error_set(err, r, "%s", error_text(&why));
	return rows_add(&s->rows, "reverted", "bad tip, culprit reverted", reverted, NULL, NULL);
}

/* Of a failure each row is run as often as makes a commit good. */
static int ended_runs(struct engine *e, struct session *s, struct error *err)
{
	_cleanup_(session_obs_done) struct session_obs o = { 0 };
	_cleanup_(judge_decision_done) struct judge_decision d = { 0 };
	int r = session_decide(e, s, err, &o, &d);

	if (r < 0)
		return r;
	s->rows.ended_class = session_is_noisy(s) ? "time" : "exact";
	s->rows.runs_ended = o.status->failure.of_build ? 0 : o.status->failure.good_runs;
	return 0;
}

/* A later patch of the same series may take the change back. The branch may have gone on behind the bad end of the search. */
static int add_series_end(struct engine *e, struct session *s, const struct commit *culprit, const struct tip_list *heads,
			  struct error *err)
{
	_cleanup_free_ char *end = NULL, *why = NULL;
	const char *head = s->question.bad;
	int r;

	for (size_t i = 0; i < heads->n; i++)
		if (is_own(s, &heads->items[i]) && repo_is_ancestor(e->repo, head, heads->items[i].oid) > 0)
			head = heads->items[i].oid;
	r = look_at(repo_series_end(e->repo, culprit->oid, head, err, &end, &why), err);
	return r <= 0 ? r : rows_add(&s->rows, "series-end", "end of the culprit's series", end, NULL, why);
}

static int add_branch(struct session *s, const struct tip *head, size_t n, size_t left)
{
	_cleanup_free_ char *name = n ? str_format("branch%zu", n + 1) : strdup("branch");
	const char *branch = str_starts(head->ref, "refs/heads/") ? head->ref + strlen("refs/heads/") : head->ref;
	_cleanup_free_ char *label = str_format("head of %s %s", head->tree, branch);
	_cleanup_free_ char *note = left ? str_format("%zu more watched branches have the patch and were not measured", left) : NULL;

	return name && label && (note || !left) ? rows_add(&s->rows, name, label, head->oid, NULL, note) : -ENOMEM;
}

/* Is it still there where else the patch went? */
static int add_branches(struct engine *e, struct session *s, const struct commit *culprit, const struct tip_list *heads,
			struct error *err)
{
	const struct tip *holders[BRANCHES_MAX] = { NULL };
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < heads->n; i++) {
		const struct tip *head = &heads->items[i];

		r = is_own(s, head) || is_listed(holders, n, head->oid) ? 0 : repo_holds_patch(e->repo, head->oid, culprit->oid, err);
		r = look_at(r, err);
		if (r > 0 && n++ < BRANCHES_MAX)
			holders[n - 1] = head;
	}
	for (size_t i = 0; r >= 0 && i < MIN(n, (size_t)BRANCHES_MAX); i++)
		r = add_branch(s, holders[i], i, i + 1 == BRANCHES_MAX ? n - BRANCHES_MAX : 0);
	return r;
}

/* Other places where the patch is; only a daemon's trees have any. */
static int add_places(struct engine *e, struct session *s, const struct commit *culprit, struct error *err)
{
	_cleanup_(tip_list_done) struct tip_list heads = { 0 };
	int r = db_ref_heads(e->db, &heads);

	if (r < 0)
		return error_errno(err, r, "database");
	r = add_series_end(e, s, culprit, &heads, err);
	return r < 0 || !has_own(s, &heads) ? MIN(r, 0) : add_branches(e, s, culprit, &heads, err);
}

static int make_rows(struct engine *e, struct session *s, struct error *err)
{
	_cleanup_(commit_done) struct commit culprit = { 0 };
	int r = repo_commit(e->repo, s->question.culprit, err, &culprit);

	if (r < 0)
		return r;
	rows_done(&s->rows);
	s->rows.arch = s->question.arch;
	s->rows.workload = s->question.workload;
	s->rows.search_id = s->id;
	s->rows.priority = PRIORITY_VERIFY;
	if (session_is_status(s)) {
		r = ended_runs(e, s, err);
	} else {
		s->rows.runs_exact = 1;
		s->rows.runs_time = e->settings.verify_runs;
		s->rows.fresh_after = session_is_noisy(s) ? s->question.judged_run : 0;
	}
	if (r >= 0)
		r = add_parents(s, &culprit);
	if (r >= 0)
		r = rows_add(&s->rows, "culprit", "culprit", culprit.oid, NULL, NULL);
	if (r >= 0)
		r = add_fixed(e, s, &culprit, err);
	if (r >= 0)
		r = add_reverted(e, s, &culprit, err);
	if (r >= 0)
		r = add_places(e, s, &culprit, err);
	if (r < 0)
		return err->code < 0 ? r : error_errno(err, r, "verify");
	s->rows_made = true;
	return 0;
}

static int end_search(struct engine *e, struct session *s, struct error *err)
{
	_cleanup_json_ json_t *document = NULL;
	_cleanup_free_ char *text = NULL;
	int r = document_make(e, s, err, &document);

	if (r < 0)
		return r;
	text = json_dumps(document, JSON_COMPACT | JSON_SORT_KEYS);
	r = text ? db_begin(e->db) : -ENOMEM;
	if (r < 0)
		return error_errno(err, r, "database");
	r = db_job_cancel_search(e->db, s->id, now_wall_ns());
	if (r >= 0)
		r = db_search_end(e->db, s->id, text, now_wall_ns());
	r = db_end(e->db, r);
	return r < 0 ? error_errno(err, r, "database") : 1;
}

int session_verify(struct engine *e, struct session *s, struct error *err)
{
	bool pending = false;
	int r = 0;

	if (str_eq(s->question.verdict, "culprit")) {
		if (!s->rows_made)
			r = make_rows(e, s, err);
		/* The strings of the question were read anew. */
		s->rows.arch = s->question.arch;
		s->rows.workload = s->question.workload;
		if (r >= 0)
			r = rows_step(e, &s->rows, err, &pending);
		if (r < 0 || pending)
			return r < 0 ? r : 0;
		if (s->rows.broken) {
			(void)snprintf(s->reason, sizeof(s->reason), "a row of the proof cannot be measured");
			rows_forget_broken(&s->rows);
			return VERIFY_BROKEN;
		}
		r = session_prove(e, s, err, &pending);
		if (r < 0 || pending)
			return r < 0 ? r : VERIFY_WAIT;
	}
	return end_search(e, s, err);
}
