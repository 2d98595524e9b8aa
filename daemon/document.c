// SPDX-License-Identifier: GPL-2.0-or-later
/* The document of a search's answer: everything a reader needs, from the database and the repository. */
#include "daemon/session-internal.h"

#include "daemon/decision.h"
#include "daemon/environment.h"
#include "daemon/judge/audit.h"
#include "daemon/judge/stats.h"
#include "daemon/watched.h"
#include "db/job.h"
#include "db/search.h"
#include "lib/clock.h"
#include "lib/str.h"

#include <math.h>

/* Longer lists of candidates go without subjects. */
#define SUBJECTS_MAX 200

/* All that the parts below look at. */
struct sources {
	struct engine *e;
	struct session *s;
	const struct session_obs *o;
	const struct judge_decision *d;
	enum judge_side *sides; /* a node each */
	bool *below;		/* of several changes: a node each, does it descend from the main one? NULL: one change */
};

static json_t *candidate_json(const struct sources *x, const struct judge_candidate *candidate)
{
	const char *oid = x->s->graph.oids[candidate->node];
	_cleanup_(commit_done) struct commit c = { 0 };

	if (x->d->n_candidates <= SUBJECTS_MAX)
		(void)repo_commit(x->e->repo, oid, NULL, &c);
	return json_pack("{s:s, s:s?, s:f}", "commit", oid, "subject", c.subject, "probability", candidate->probability);
}

/* Likeliest first. */
static json_t *candidates_json(const struct sources *x)
{
	json_t *list = json_array();

	for (size_t i = 0; i < x->d->n_candidates; i++)
		(void)json_array_append_new(list, candidate_json(x, &x->d->candidates[i]));
	return list;
}

static const char *metric_unit(const struct sources *x, char out[32])
{
	_cleanup_(level_list_done) struct level_list levels = { 0 };
	const struct level *level;
	const struct want_result *look = &x->o->looks[0];

	(void)snprintf(out, 32, "%s", "");
	if (!look->series || !look->signature || db_level_list(x->e->db, look->series, look->signature, &levels) < 0)
		return out;
	level = level_list_find(&levels, x->s->question.metric);
	if (level)
		(void)snprintf(out, 32, "%s", level->unit);
	return out;
}

/* JSON has no infinity and no NaN. */
static json_t *number(double v)
{
	return v - v == 0 ? json_real(v) : json_null();
}

static json_t *change_json(const struct sources *x)
{
	const struct judge_comparison *c = &x->d->change;
	char unit[32];

	if (c->n_before == 0)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:I, s:I}", "before", number(c->before), "after",
			 number(c->after), "ratio", number(c->ratio), "low", number(c->low), "high", number(c->high), "unit",
			 metric_unit(x, unit), "class", decision_class_name(x->o->options.cls), "relation",
			 decision_relation_name(c->relation), "n_before", (json_int_t)c->n_before, "n_after",
			 (json_int_t)c->n_after);
}

static json_t *commit_json(const struct sources *x, const char *oid)
{
	_cleanup_(commit_done) struct commit c = { 0 };
	_cleanup_free_ char *author = NULL;
	json_t *parents = json_array(), *object;
	char date[32] = "unknown";

	if (!oid || repo_commit(x->e->repo, oid, NULL, &c) < 0) {
		json_decref(parents);
		return json_null();
	}
	author = str_format("%s <%s>", c.author, c.author_mail);
	for (size_t i = 0; i < c.n_parents; i++)
		(void)json_array_append_new(parents, json_string(c.parents[i]));
	if (c.author_s > 0 && c.author_s < INT64_C(9999999999))
		(void)clock_iso8601((uint64_t)c.author_s * NSEC_PER_SEC, date);
	object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s?, s:o}", "oid", c.oid, "subject", c.subject, "author",
			   author ? author : "", "author_mail", c.author_mail, "date", date, "link", c.link, "parents", parents);
	return object ? object : json_null();
}

static json_t *fix_json(const struct sources *x)
{
	const struct session *s = x->s;

	if (!s->fix.oid)
		return json_null();
	return json_pack("{s:s, s:s, s:s, s:s}", "oid", s->fix.oid, "subject", s->fix.subject, "ref",
			 s->fix_ref ? s->fix_ref : "", "found_by", "Fixes: trailer");
}

static const char *side_word(enum judge_side side)
{
	static const char *const words[] = { [JUDGE_SIDE_UNKNOWN] = "unknown", [JUDGE_SIDE_GOOD] = "good",
					     [JUDGE_SIDE_BAD] = "bad", [JUDGE_SIDE_SKIP] = "skip" };

	return words[side];
}

static int step_json(const struct sources *x, int node, json_t *list)
{
	_cleanup_(commit_done) struct commit c = { 0 };
	enum judge_side side = x->sides[node];
	const struct values *v = &x->o->values[node];
	const struct want_result *look = &x->o->looks[node];
	_cleanup_str_ struct str text = STR_INIT;

	(void)repo_commit(x->e->repo, x->s->graph.oids[node], NULL, &c);
	if (x->o->status)
		status_note(x->o->status, node, &text);
	else if (look->why)
		(void)str_addf(&text, "%s: %s", look->status, look->why);
	return json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o, s:I, s:s?}", "commit", x->s->graph.oids[node],
						     "subject", c.subject ? c.subject : "", "side", side_word(side), "value",
						     v->n ? json_real(judge_median(v->items, v->n)) : json_null(), "n",
						     (json_int_t)(x->o->status ? status_runs(x->o->status, node) : v->n), "note",
						     text.len ? text.data : NULL));
}

static void bisect_log_line(const struct sources *x, const char *word, int node, struct str *out)
{
	_cleanup_(commit_done) struct commit c = { 0 };

	(void)repo_commit(x->e->repo, x->s->graph.oids[node], NULL, &c);
	(void)str_addf(out, "# %s: [%s] %s\n", word, x->s->graph.oids[node], c.subject ? c.subject : "");
	if (!str_eq(word, "first bad commit"))
		(void)str_addf(out, "git bisect %s %s\n", word, x->s->graph.oids[node]);
}

/* The log is of one question, and git knows one first bad commit: what other changes have done would contradict it. */
static bool is_of_main(const struct sources *x, int node)
{
	if (!x->below || x->sides[node] == JUDGE_SIDE_SKIP)
		return true;
	return x->below[node] == (x->sides[node] == JUDGE_SIDE_BAD);
}

/* ret_bad: the last bad one in the log. */
static void add_step(const struct sources *x, int node, json_t *list, struct str *log, int *ret_bad)
{
	enum judge_side side = x->sides[node];

	(void)step_json(x, node, list);
	if (node == 0 || node == x->o->n - 1 || side == JUDGE_SIDE_UNKNOWN || !is_of_main(x, node))
		return;
	bisect_log_line(x, side_word(side), node, log);
	if (side == JUDGE_SIDE_BAD)
		*ret_bad = node;
}

/* Steps in the order they were asked for, and the same as a log that `git bisect replay` takes. */
static int steps_json(const struct sources *x, json_t **ret_steps, char **ret_log)
{
	_cleanup_(search_entries_done) struct search_entries entries = { 0 };
	_cleanup_free_ bool *seen = calloc((size_t)x->o->n, sizeof(*seen));
	_cleanup_json_ json_t *list = json_array();
	_cleanup_str_ struct str log = STR_INIT;
	const int last = x->o->n - 1;
	int bad = last;
	int r = seen ? db_search_entries(x->e->db, x->s->id, &entries) : -ENOMEM;

	if (r < 0)
		return r;
	(void)str_add(&log, "git bisect start\n");
	bisect_log_line(x, "bad", last, &log);
	bisect_log_line(x, "good", 0, &log);
	for (size_t i = 0; i < entries.n; i++) {
		int node = entries.items[i].oid && str_eq(entries.items[i].action, "measure") ?
				   graph_find(&x->s->graph, entries.items[i].oid) :
				   -1;

		if (node >= 0 && !seen[node])
			add_step(x, node, list, &log, &bad);
		if (node >= 0)
			seen[node] = true;
	}
	for (int node = 0; node < x->o->n; node++) /* what was known before */
		if (!seen[node] && x->o->obs[node].state != JUDGE_UNTESTED)
			add_step(x, node, list, &log, &bad);
	/* To git the last one that is called bad is it; other changes were looked for behind it. */
	if (x->d->action == JUDGE_DONE && x->d->n_changes && bad != x->d->first_bad)
		bisect_log_line(x, "bad", x->d->first_bad, &log);
	if (x->d->verdict == JUDGE_CULPRIT && x->d->action == JUDGE_DONE && x->d->culprit >= 0)
		bisect_log_line(x, "first bad commit", x->d->culprit, &log);
	*ret_log = str_take(&log);
	*ret_steps = TAKE_PTR(list);
	return *ret_log ? 0 : -ENOMEM;
}

static json_t *cost_json(const struct sources *x)
{
	struct job_cost cost = { 0 };
	int64_t tested = 0;
	double seconds = (double)(now_wall_ns() - (uint64_t)x->s->question.created_ns) / 1e9;

	(void)db_job_cost(x->e->db, x->s->id, &cost);
	for (int i = 0; i < x->o->n; i++)
		tested += x->o->obs[i].state != JUDGE_UNTESTED;
	for (size_t i = 0; i < x->s->rows.n; i++) /* those made for the proof */
		tested += x->s->rows.items[i].oid && graph_find(&x->s->graph, x->s->rows.items[i].oid) < 0;
	return json_pack("{s:I, s:I, s:I, s:f, s:f, s:f}", "builds", (json_int_t)cost.builds, "builds_saved",
			 (json_int_t)MAX(tested - cost.builds, cost.cached_builds), "boots", (json_int_t)cost.boots, "seconds",
			 seconds, "build_seconds", cost.build_seconds, "run_seconds", cost.run_seconds);
}

/* Why it gave up, also after a restart: the log has it. */
static void recall_reason(const struct sources *x)
{
	_cleanup_(search_entries_done) struct search_entries entries = { 0 };

	if (*x->s->reason || !str_eq(x->s->question.verdict, "gave-up") ||
	    db_search_entries(x->e->db, x->s->id, &entries) < 0)
		return;
	for (size_t i = 0; i < entries.n; i++)
		if (str_eq(entries.items[i].action, "gave-up"))
			(void)snprintf(x->s->reason, sizeof(x->s->reason), "%s", entries.items[i].reason);
}

/* The judge's record at a change of this size. */
static void add_audit(double effect, json_t *doc)
{
	const struct judge_audit *a = judge_audit_at(effect);

	if (a)
		(void)json_object_set_new(doc, "audit",
					  json_pack("{s:f, s:i, s:i, s:i, s:f}", "effect", a->effect, "trials", (int)a->trials, "right",
						    (int)a->right, "wrong", (int)a->wrong, "wrong_most",
						    judge_upper_bound(a->wrong, a->trials)));
}

/* What only searches that weigh noise know; members that say nothing are left out. */
static void add_noise(const struct sources *x, json_t *doc)
{
	const struct judge_decision *d = x->d;
	char *const *oids = x->s->graph.oids;

	if (x->o->options.cls == JUDGE_EXACT || x->o->status || d->action != JUDGE_DONE)
		return;
	if (isfinite(d->effect) && d->effect > 0)
		(void)json_object_set_new(doc, "effect", json_real(d->effect));
	if (d->verdict == JUDGE_CULPRIT && isfinite(d->effect))
		add_audit(d->effect, doc);
	if (d->verdict == JUDGE_CULPRIT && isfinite(d->explained) && d->explained_high > d->explained_low)
		(void)json_object_set_new(doc, "explained",
					  json_pack("{s:f, s:f, s:f}", "value", d->explained, "low", d->explained_low, "high",
						    d->explained_high));
	if (d->verdict == JUDGE_CULPRIT && d->partial)
		(void)json_object_set_new(doc, "partial",
					  json_pack("{s:s, s:s}", "good", oids[d->rest_good], "bad", oids[d->rest_bad]));
	if ((d->verdict == JUDGE_NOT_REPRODUCED || d->verdict == JUDGE_GAVE_UP) && d->runs_needed)
		(void)json_object_set_new(doc, "runs_needed", json_integer((json_int_t)d->runs_needed));
	if (d->verdict == JUDGE_GAVE_UP)
		(void)json_object_set_new(doc, "phase", json_string(decision_phase_name(d->phase)));
}

/* Ends that have diverged: from which of their merge bases on was searched, or which one shows that good has changed. */
static void add_diverged(const struct sources *x, json_t *doc)
{
	const struct session *s = x->s;
	const char *base = s->bad_base ? s->graph.oids[s->bad_base] : s->question.base;

	if (!base)
		return;
	(void)json_object_set_new(doc, "base", json_string(base));
	(void)json_object_set_new(doc, "side", json_string(s->bad_base ? "good" : "bad"));
	(void)json_object_set_new(doc, "range",
				  json_pack("{s:s, s:s}", "good", base, "bad", s->bad_base ? s->question.good : s->question.bad));
}

static json_t *proof_json(const struct proof *p)
{
	json_t *proof = json_pack("{s:s, s:s}", "state", proof_state_name(p->state), "reason", p->reason);

	if (proof && p->pairs)
		(void)json_object_update_new(proof, json_pack("{s:i, s:o, s:o, s:o}", "pairs", (int)p->pairs, "ratio",
							      number(p->ratio), "low", number(p->low), "high", number(p->high)));
	return proof ? proof : json_null();
}

static bool is_culprit(const struct sources *x)
{
	return str_eq(x->s->question.verdict, "culprit");
}

/* "ok", or why it is no answer to rely on. */
static const char *status_word(const struct sources *x)
{
	if (str_eq(x->s->question.verdict, "gave-up"))
		return "gave-up";
	return is_culprit(x) && x->s->proof.state == PROOF_NOT_SHOWN ? "not-proved" : "ok";
}

static int add_question(const struct sources *x, json_t *doc)
{
	const struct search *q = &x->s->question;
	_cleanup_json_ json_t *part = NULL;

	recall_reason(x);
	part = json_pack(
		"{s:s, s:s, s:s, s:s?, s:{s:s, s:s}, s:s, s:s?, s:s, s:s, s:s, s:s}", "kind", "bisect", "status", status_word(x),
		"verdict", q->verdict, "culprit", q->culprit, "range", "good", q->good, "bad", q->bad, "tree", q->tree, "ref",
		q->ref, "workload", q->workload, "arch", q->arch, "metric", q->metric, "reason",
		*x->s->reason ? x->s->reason : x->d->reason);

	if (!part)
		return -ENOMEM;
	(void)json_object_update(doc, part);
	add_diverged(x, doc);
	if (str_eq(q->verdict, "set"))
		(void)json_object_set_new(doc, "first_bad", json_string(x->s->graph.oids[x->d->first_bad]));
	(void)json_object_set_new(doc, "reproduce",
				  json_sprintf("mmbisect bisect --repo DIR --good %s --bad %s --workload %s --arch %s --metric %s%s%s",
					       q->good, q->bad, q->workload, q->arch, q->metric,
					       session_is_noisy(x->s) ? " --class time" : "",
					       q->first_parent ? " --first-parent" : ""));
	return 0;
}

/* Other watched metrics that moved there: evidence, and one finding for all. */
static int add_also(const struct sources *x, json_t *doc, struct error *err)
{
	const struct row *parent = rows_find(&x->s->rows, "parent"), *culprit = rows_find(&x->s->rows, "culprit");
	json_t *also = NULL;
	int r;

	if (!is_culprit(x) || !parent || !parent->oid || parent->status || !culprit || culprit->status)
		return 0;
	r = watched_json(x->e, &x->s->question, parent->oid, culprit->oid, err, &also);
	if (r >= 0)
		(void)json_object_set_new(doc, "also", also);
	return r;
}

static int add_parts(const struct sources *x, json_t *doc, struct error *err)
{
	_cleanup_free_ char *log = NULL;
	json_t *steps = NULL, *rows = NULL;
	int r = add_question(x, doc);

	add_noise(x, doc);
	if (r >= 0 && x->o->status)
		r = status_document(x->e, x->s, x->o, x->d, doc);
	if (r >= 0)
		r = steps_json(x, &steps, &log);
	if (r < 0)
		return error_errno(err, r, "document");
	(void)json_object_set_new(doc, "steps", steps);
	(void)json_object_set_new(doc, "bisect_log", json_string(log));
	(void)json_object_set_new(doc, "candidates", candidates_json(x));
	(void)json_object_set_new(doc, "change", change_json(x));
	if (x->o->options.cls == JUDGE_EXACT && !x->o->status)
		(void)json_object_set_new(doc, "changes", document_changes(x->e, x->s, x->d));
	(void)json_object_set_new(doc, "commit", commit_json(x, x->s->question.culprit));
	(void)json_object_set_new(doc, "fix", fix_json(x));
	(void)json_object_set_new(doc, "cost", cost_json(x));
	r = rows_json(x->e, &x->s->rows, err, &rows);
	if (r < 0)
		return r;
	(void)json_object_set_new(doc, "verify", rows);
	if (is_culprit(x))
		(void)json_object_set_new(doc, "proof", proof_json(&x->s->proof));
	r = add_also(x, doc, err);
	if (r < 0)
		return r;
	return environment_add(x->e, x->s->question.arch, x->s->question.workload, true,
			       str_eq(x->s->question.class, "time") || x->e->settings.verify_runs, doc);
}

int document_make(struct engine *e, struct session *s, struct error *err, json_t **ret)
{
	_cleanup_(session_obs_done) struct session_obs o = { 0 };
	_cleanup_(judge_decision_done) struct judge_decision d = { 0 };
	_cleanup_json_ json_t *doc = json_object();
	struct sources x = { .e = e, .s = s, .o = &o, .d = &d };
	int r = session_decide(e, s, err, &o, &d);

	if (r < 0)
		return r;
	r = document_sides(&s->graph.dag, &o, &d, &x.sides);
	if (r >= 0 && d.action == JUDGE_DONE && d.n_changes > 1)
		r = document_below(&s->graph.dag, d.first_bad, &x.below);
	r = r < 0 ? error_errno(err, r, "document") : add_parts(&x, doc, err);
	free(x.sides);
	free(x.below);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(doc);
	return 0;
}
