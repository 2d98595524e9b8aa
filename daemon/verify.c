// SPDX-License-Identifier: GPL-2.0-or-later
/* The proof of a culprit: its parents, itself, itself with the fix, and the bad tip without it. */
#include "daemon/session-internal.h"

#include "db/job.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/str.h"

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
	}
	if (r >= 0)
		r = add_parents(s, &culprit);
	if (r >= 0)
		r = rows_add(&s->rows, "culprit", "culprit", culprit.oid, NULL, NULL);
	if (r >= 0)
		r = add_fixed(e, s, &culprit, err);
	if (r >= 0)
		r = add_reverted(e, s, &culprit, err);
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
	}
	return end_search(e, s, err);
}
