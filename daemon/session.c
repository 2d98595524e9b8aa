// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/session-internal.h"

#include "daemon/plan.h"
#include "daemon/target.h"
#include "db/job.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/str.h"

/* Each round asks for something that is not there yet, so rounds without waiting are few; more is a mistake of ours. */
#define ROUNDS_MAX 100000

static const char *const verdict_names[] = {
	[JUDGE_CULPRIT] = "culprit",
	[JUDGE_SET] = "set",
	[JUDGE_NOT_REPRODUCED] = "not-reproduced",
	[JUDGE_GAVE_UP] = "gave-up",
};

static struct session *session_free(struct session *s)
{
	if (!s)
		return NULL;
	graph_done(&s->graph);
	rows_done(&s->rows);
	search_done(&s->question);
	commit_done(&s->fix);
	free(s->fix_ref);
	free(s);
	return NULL;
}
DEFINE_CLEANUP(struct session *, session_free);

void session_free_all(struct engine *e)
{
	while (e->sessions) {
		struct session *next = e->sessions->next;

		(void)session_free(e->sessions);
		e->sessions = next;
	}
}

static struct session *find_session(struct engine *e, int64_t id)
{
	for (struct session *s = e->sessions; s; s = s->next)
		if (s->id == id)
			return s;
	return NULL;
}

static int session_get(struct engine *e, int64_t id, struct error *err, struct session **ret)
{
	_cleanup_(session_freep) struct session *s = NULL;
	int r;

	*ret = find_session(e, id);
	if (*ret)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_errno(err, -ENOMEM, "search");
	s->id = id;
	r = db_search_get(e->db, id, &s->question);
	if (r < 0)
		return error_errno(err, r, "search %lld", (long long)id);
	r = repo_range(e->repo, s->question.good, s->question.bad, err, &s->graph);
	if (r < 0)
		return r;
	s->next = e->sessions;
	e->sessions = s;
	*ret = TAKE_PTR(s);
	return 0;
}

void session_obs_done(struct session_obs *o)
{
	for (int i = 0; i < o->n; i++) {
		values_done(&o->values[i]);
		want_result_done(&o->looks[i]);
	}
	free(o->values);
	free(o->looks);
	free(o->obs);
	*o = (struct session_obs){ 0 };
}

static struct want node_want(const struct session *s, int node, unsigned runs)
{
	return (struct want){ .oid = s->graph.oids[node], .tree_oid = s->graph.tree_oids[node], .arch = s->question.arch,
			      .workload = s->question.workload, .class = s->question.class, .runs = runs,
			      .search_id = s->id, .priority = PRIORITY_SEARCH };
}

static int observe_node(struct engine *e, struct session *s, int node, struct session_obs *o, struct error *err)
{
	const struct want want = node_want(s, node, 1);
	struct want_result *look = &o->looks[node];
	struct judge_obs *obs = &o->obs[node];
	int r = plan_look(e, &want, err, look);

	if (r < 0)
		return r == -EAGAIN ? 0 : r;
	if (look->series && look->signature) {
		r = db_run_values(e->db, look->series, look->signature, s->question.metric, &o->values[node]);
		if (r < 0)
			return error_errno(err, r, "database");
	}
	obs->values = o->values[node].items;
	obs->n_values = o->values[node].n;
	if (look->state == WANT_SKIPPED)
		obs->state = JUDGE_SKIPPED;
	else if (look->state == WANT_SLOW)
		obs->state = JUDGE_SLOW;
	else
		obs->state = obs->n_values ? JUDGE_TESTED : JUDGE_UNTESTED;
	return 0;
}

/* Lower or higher, as the workload itself reports the metric; lower as long as it has not said. */
static enum judge_better metric_better(struct engine *e, const struct session *s, const struct want_result *look)
{
	_cleanup_(level_list_done) struct level_list levels = { 0 };
	const struct level *level;

	if (!look->series || !look->signature || db_level_list(e->db, look->series, look->signature, &levels) < 0)
		return JUDGE_LOWER;
	level = level_list_find(&levels, s->question.metric);
	return level && str_eq(level->better, "higher") ? JUDGE_HIGHER : JUDGE_LOWER;
}

int session_observe(struct engine *e, struct session *s, struct error *err, struct session_obs *ret)
{
	_cleanup_(session_obs_done) struct session_obs o = { .n = s->graph.dag.n };
	_cleanup_(workload_done) struct workload workload = { 0 };
	int r = workload_load(&e->paths, s->question.workload, err, &workload);

	if (r < 0)
		return r;
	o.obs = calloc((size_t)o.n, sizeof(*o.obs));
	o.values = calloc((size_t)o.n, sizeof(*o.values));
	o.looks = calloc((size_t)o.n, sizeof(*o.looks));
	if (!o.obs || !o.values || !o.looks) {
		o.n = 0;
		return error_errno(err, -ENOMEM, "search");
	}
	for (int i = 0; i < o.n && r >= 0; i++)
		r = observe_node(e, s, i, &o, err);
	if (r < 0)
		return r;
	o.options = (struct judge_options){ .cls = str_eq(s->question.class, "time") ? JUDGE_TIME : JUDGE_EXACT,
					    .better = metric_better(e, s, &o.looks[0]),
					    .floor = workload_floor(&workload, s->question.metric),
					    .first_parent = s->question.first_parent };
	*ret = o;
	o = (struct session_obs){ 0 };
	return 0;
}

static int log_decision(struct engine *e, const struct session *s, const char *action, const char *oid, const char *reason,
			struct error *err)
{
	int r = db_search_log(e->db, s->id, action, oid, reason, now_wall_ns());

	if (r < 0)
		return error_errno(err, r, "database");
	if (r > 0)
		log_info("search %lld: %s%s%.12s: %s", (long long)s->id, action, oid ? " " : "", oid ? oid : "", reason);
	return 0;
}

int session_decide(struct engine *e, struct session *s, struct error *err, struct session_obs *ret_obs,
		   struct judge_decision *ret_decision)
{
	int r = session_observe(e, s, err, ret_obs);

	if (r < 0)
		return r;
	r = judge_next(&s->graph.dag, ret_obs->obs, &ret_obs->options, ret_decision);
	return r < 0 ? error_errno(err, r, "judge") : 0;
}

enum { ASK_AGAIN, ASK_WAIT, ASK_CONCLUDED, ASK_BROKEN };

/* The search ends without an answer of the judge's. */
static int give_up(struct engine *e, struct session *s, const char *reason, struct error *err)
{
	int r = log_decision(e, s, "gave-up", NULL, reason, err);

	if (r < 0)
		return r;
	(void)snprintf(s->reason, sizeof(s->reason), "%s", reason);
	r = db_search_set_verdict(e->db, s->id, "verifying", "gave-up", NULL);
	return r < 0 ? error_errno(err, r, "database") : ASK_CONCLUDED;
}

static int ask_node(struct engine *e, struct session *s, const struct judge_want *wanted, const struct session_obs *o,
		    struct error *err)
{
	_cleanup_(want_result_done) struct want_result w = { 0 };
	const struct want want = node_want(s, wanted->node, wanted->runs);
	int r = plan_want(e, &want, err, &w);

	if (r == -EAGAIN) { /* the accelerator is not known until there is an image */
		const struct want image = node_want(s, wanted->node, 0);

		r = plan_want(e, &image, err, &w);
	}
	if (r < 0)
		return r;
	if (w.state == WANT_BROKEN) {
		(void)snprintf(s->reason, sizeof(s->reason), "%s", w.why ? w.why : "infrastructure");
		return ASK_BROKEN;
	}
	if (w.state == WANT_MET && o->looks[wanted->node].state == WANT_MET && o->obs[wanted->node].n_values == 0) {
		_cleanup_free_ char *why = str_format("workload %s reports no metric '%s'", s->question.workload,
						      s->question.metric);

		return give_up(e, s, why ? why : "no such metric", err);
	}
	return w.state == WANT_PENDING ? ASK_WAIT : ASK_AGAIN;
}

/* Asks for what the judge wants; the gravest answer counts. */
static int ask_for(struct engine *e, struct session *s, const struct judge_decision *d, const struct session_obs *o,
		   struct error *err)
{
	int answer = ASK_AGAIN;

	for (size_t i = 0; i < d->n_wants; i++) {
		int r = log_decision(e, s, "measure", s->graph.oids[d->wants[i].node], d->reason, err);

		if (r >= 0)
			r = ask_node(e, s, &d->wants[i], o, err);
		if (r < 0)
			return r;
		answer = MAX(answer, r);
	}
	return answer;
}

static int conclude(struct engine *e, struct session *s, const struct judge_decision *d, struct error *err)
{
	const char *culprit = d->verdict == JUDGE_CULPRIT ? s->graph.oids[d->culprit] : NULL;
	int r = log_decision(e, s, verdict_names[d->verdict], culprit, d->reason, err);

	if (r < 0)
		return r;
	r = db_search_set_verdict(e->db, s->id, "verifying", verdict_names[d->verdict], culprit);
	return r < 0 ? error_errno(err, r, "database") : ASK_CONCLUDED;
}

static int search_phase(struct engine *e, struct session *s, struct error *err)
{
	s->reason[0] = '\0';
	for (int round = 0; round < ROUNDS_MAX; round++) {
		_cleanup_(session_obs_done) struct session_obs o = { 0 };
		_cleanup_(judge_decision_done) struct judge_decision d = { 0 };
		int r = session_decide(e, s, err, &o, &d);

		if (r < 0)
			return r;
		s->estimate.steps_left = d.steps_left;
		if (d.action == JUDGE_DONE)
			return conclude(e, s, &d, err);
		r = ask_for(e, s, &d, &o, err);
		if (r != ASK_AGAIN)
			return r;
	}
	return error_set(err, -ELOOP, "search %lld asks for what is there already", (long long)s->id);
}

/* The question and its state as the database has them now. */
static int reread(struct engine *e, struct session *s, struct error *err)
{
	struct search now = { 0 };
	int r = db_search_get(e->db, s->id, &now);

	if (r < 0)
		return error_errno(err, r, "search %lld", (long long)s->id);
	search_done(&s->question);
	s->question = now;
	return 0;
}

/* After a restart with other tools the verdict may have no samples of today's identity: 1 it stands, 0 searched anew. */
static int still_culprit(struct engine *e, struct session *s, struct error *err)
{
	_cleanup_(session_obs_done) struct session_obs o = { 0 };
	_cleanup_(judge_decision_done) struct judge_decision d = { 0 };
	int r = session_decide(e, s, err, &o, &d);

	if (r < 0)
		return r;
	if (d.action == JUDGE_DONE && d.verdict == JUDGE_CULPRIT && str_eq(s->graph.oids[d.culprit], s->question.culprit))
		return 1;
	r = db_search_set_verdict(e->db, s->id, "searching", NULL, NULL);
	engine_wake(e);
	return r < 0 ? error_errno(err, r, "database") : 0;
}

int session_step(struct engine *e, int64_t id, struct error *err, enum session_state *ret)
{
	struct session *s;
	int r = session_get(e, id, err, &s);

	if (r >= 0)
		r = reread(e, s, err);
	if (r < 0)
		return r;
	*ret = SESSION_RUNNING;
	if (str_eq(s->question.state, "searching")) {
		r = search_phase(e, s, err);
		if (r == ASK_BROKEN)
			*ret = SESSION_BROKEN;
		if (r < 0 || r == ASK_BROKEN || r == ASK_WAIT)
			return MIN(r, 0);
		r = reread(e, s, err);
		if (r < 0)
			return r;
	}
	if (str_eq(s->question.state, "verifying") && str_eq(s->question.verdict, "culprit") && !s->rows_made) {
		r = still_culprit(e, s, err);
		if (r <= 0)
			return r;
	}
	if (str_eq(s->question.state, "verifying")) {
		s->estimate = (struct session_estimate){ .verifying = true };
		r = session_verify(e, s, err);
		if (r == VERIFY_BROKEN)
			*ret = SESSION_BROKEN;
		if (r != VERIFY_DONE)
			return MIN(r, 0);
	}
	*ret = SESSION_DONE;
	return 0;
}

int session_abandon(struct engine *e, int64_t id, const char *reason)
{
	struct search q = { 0 };
	_cleanup_json_ json_t *document = NULL;
	_cleanup_free_ char *text = NULL;
	int r = db_search_get(e->db, id, &q);

	if (r >= 0) {
		document = json_pack("{s:s, s:s, s:s, s:n, s:{s:s, s:s}, s:s, s:s, s:s, s:o}", "kind", "bisect", "status", "gave-up",
				     "verdict", "gave-up", "culprit", "range", "good", q.good, "bad", q.bad, "workload",
				     q.workload, "arch", q.arch, "metric", q.metric, "reason", json_bytes(reason));
		text = document ? json_dumps(document, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
		r = text ? db_begin(e->db) : -ENOMEM;
	}
	if (r >= 0) {
		r = db_search_set_verdict(e->db, id, "verifying", "gave-up", NULL);
		if (r >= 0)
			r = db_job_cancel_search(e->db, id, now_wall_ns());
		if (r >= 0)
			r = db_search_end(e->db, id, text, now_wall_ns());
		r = db_end(e->db, r);
	}
	search_done(&q);
	return r;
}

const char *session_broken(struct engine *e, int64_t id)
{
	const struct session *s = find_session(e, id);

	return s ? s->reason : "";
}

int session_estimate(struct engine *e, int64_t id, struct session_estimate *ret)
{
	const struct session *s = find_session(e, id);

	if (!s)
		return -ENOENT;
	*ret = s->estimate;
	return 0;
}
