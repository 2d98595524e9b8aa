// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/session-internal.h"

#include "daemon/decision.h"
#include "daemon/hints.h"
#include "db/job.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/str.h"

/* Each round asks for something that is not there yet, so rounds without waiting are few; more is a mistake of ours. */
#define ROUNDS_MAX 100000

static struct session *session_free(struct session *s)
{
	if (!s)
		return NULL;
	graph_done(&s->graph);
	free(s->hints);
	(void)judge_memo_free(s->memo);
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

/* Reverts leave a trace in messages even where they leave none in levels. Between ends and merge bases there are none. */
static int read_hints(struct engine *e, struct session *s, struct error *err)
{
	int r;

	free(s->hints);
	s->hints = NULL;
	s->n_hints = 0;
	if (session_is_noisy(s) || s->graph.n_bases)
		return 0;
	r = hints_find(e->repo, &s->graph, &s->hints, &s->n_hints);
	return r < 0 ? error_errno(err, r, "search %lld", (long long)s->id) : 0;
}

static int load_graph(struct engine *e, struct session *s, struct error *err)
{
	int r;

	graph_done(&s->graph);
	(void)judge_memo_free(s->memo);
	s->memo = judge_memo_new(); /* without it the judge is slower */
	r = repo_question(e->repo, s->question.good, s->question.bad, s->question.base, err, &s->graph);
	return r < 0 ? r : read_hints(e, s, err);
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
	r = load_graph(e, s, err);
	if (r < 0)
		return r;
	s->next = e->sessions;
	e->sessions = s;
	*ret = TAKE_PTR(s);
	return 0;
}

static int log_entry(struct engine *e, const struct session *s, const struct search_entry *entry, struct error *err)
{
	int r = db_search_log(e->db, s->id, entry, now_wall_ns());

	if (r < 0)
		return error_errno(err, r, "database");
	if (r > 0)
		log_info("search %lld: %s%s%.12s: %s", (long long)s->id, entry->action, entry->oid ? " " : "",
			 entry->oid ? entry->oid : "", entry->reason);
	return 0;
}

static struct search_entry decision_entry(const struct judge_decision *d, const char *action, const char *oid)
{
	return (struct search_entry){ .action = (char *)(uintptr_t)action, .oid = (char *)(uintptr_t)oid,
				      .reason = (char *)(uintptr_t)d->reason,
				      .phase = (char *)(uintptr_t)decision_phase_name(d->phase) };
}

int session_decide(struct engine *e, struct session *s, struct error *err, struct session_obs *ret_obs,
		   struct judge_decision *ret_decision)
{
	int r = session_observe(e, s, err, ret_obs);

	if (r < 0)
		return r;
	r = ret_obs->status ? status_decide(s, ret_obs, ret_decision) :
			      judge_next(&s->graph.dag, ret_obs->obs, &ret_obs->options, ret_decision);
	if (r < 0)
		return error_errno(err, r, "judge");
	session_weigh_bases(s, ret_obs, ret_decision);
	return 0;
}

enum { ASK_AGAIN, ASK_WAIT, ASK_CONCLUDED, ASK_BROKEN };

/* The search ends without an answer of the judge's. */
static int give_up(struct engine *e, struct session *s, const char *reason, struct error *err)
{
	const struct search_entry entry = { .action = (char *)(uintptr_t) "gave-up", .reason = (char *)(uintptr_t)reason };
	int r = log_entry(e, s, &entry, err);

	if (r < 0)
		return r;
	(void)snprintf(s->reason, sizeof(s->reason), "%s", reason);
	r = db_search_set_verdict(e->db, s->id, "verifying", "gave-up", NULL);
	return r < 0 ? error_errno(err, r, "database") : ASK_CONCLUDED;
}

static int give_up_metric(struct engine *e, struct session *s, struct error *err)
{
	_cleanup_free_ char *why = str_format("workload %s reports no metric '%s'", s->question.workload, s->question.metric);

	return give_up(e, s, why ? why : "no such metric", err);
}

/* Ok runs that lack the metric are no values: so many more runs than the judge asks for. */
static unsigned runs_for(const struct judge_want *wanted, const struct session_obs *o)
{
	int64_t without = o->layouts ? o->layouts[wanted->node].without[wanted->layout] :
				       o->looks[wanted->node].n_ok - (int64_t)o->obs[wanted->node].n_values;

	return wanted->runs + (unsigned)MAX(without, 0);
}

static int ask_node(struct engine *e, struct session *s, const struct judge_want *wanted, const struct session_obs *o,
		    bool image_only, struct error *err)
{
	_cleanup_(want_result_done) struct want_result w = { 0 };
	const struct want_result *look = &o->looks[wanted->node];
	const int node = layouts_node(o, wanted);
	struct want want = session_want(s, node, image_only ? 0 : o->status ? wanted->runs : runs_for(wanted, o));
	int r;

	want.ended = o->status;
	want.layout = wanted->layout;
	if (look->state == WANT_MET && o->obs[wanted->node].n_values == 0 && !o->status)
		return give_up_metric(e, s, err);
	r = plan_want(e, &want, err, &w);
	if (r == -EAGAIN) { /* the accelerator is not known until there is an image */
		struct want image = session_want(s, node, 0);

		image.layout = wanted->layout;
		error_done(err);
		r = plan_want(e, &image, err, &w);
	}
	if (r < 0)
		return r;
	if (w.state == WANT_BROKEN) {
		(void)snprintf(s->reason, sizeof(s->reason), "%s", w.why ? w.why : "infrastructure");
		return ASK_BROKEN;
	}
	return w.state == WANT_PENDING ? ASK_WAIT : ASK_AGAIN;
}

/* One of the two halves of a decision: the images of all commits, or runs. The gravest answer counts. */
static int ask_nodes(struct engine *e, struct session *s, const struct judge_decision *d, const struct session_obs *o,
		     bool image_only, struct error *err)
{
	int answer = ASK_AGAIN;

	for (size_t i = 0; i < d->n_wants; i++) {
		int r = ask_node(e, s, &d->wants[i], o, image_only, err);

		if (r < 0)
			return r;
		answer = MAX(answer, r);
	}
	return answer;
}

static int remember(struct engine *e, struct session *s, const struct judge_decision *d, struct error *err)
{
	int r = 0;

	if (d->has_mark)
		r = db_search_mark(e->db, s->id, s->graph.oids[d->mark.node], d->mark.order, now_wall_ns());
	if (r < 0)
		return error_errno(err, r, "database");
	for (size_t i = 0; r >= 0 && i < d->n_wants; i++) {
		struct search_entry entry = decision_entry(d, "measure", s->graph.oids[d->wants[i].node]);

		entry.runs = d->wants[i].runs;
		entry.layout = d->wants[i].layout;
		r = log_entry(e, s, &entry, err);
	}
	return r;
}

/*
 * Asks for what the judge wants. Where noise is weighed the order of the runs counts, so all images come first; what was built
 * in the meantime is known to the judge when it is asked again.
 */
static int ask_for(struct engine *e, struct session *s, const struct judge_decision *d, const struct session_obs *o,
		   struct error *err)
{
	int r = remember(e, s, d, err);

	if (r >= 0 && session_is_noisy(s)) {
		r = ask_nodes(e, s, d, o, true, err);
		if (r != ASK_AGAIN)
			return r;
	}
	return r < 0 ? r : ask_nodes(e, s, d, o, false, err);
}

/* A decision is whole in the database or not at all: its mark, its log and its jobs. */
static int ask(struct engine *e, struct session *s, const struct judge_decision *d, const struct session_obs *o,
	       struct error *err)
{
	int r = db_begin(e->db);

	if (r < 0)
		return error_errno(err, r, "database");
	r = db_end(e->db, ask_for(e, s, d, o, err));
	return r < 0 && err->code == 0 ? error_errno(err, r, "database") : r;
}

static int conclude(struct engine *e, struct session *s, const struct judge_decision *d, struct error *err)
{
	const char *culprit = d->verdict == JUDGE_CULPRIT ? s->graph.oids[d->culprit] : NULL;
	const char *verdict = decision_verdict_name(d->verdict);
	const struct search_entry entry = decision_entry(d, verdict, culprit);
	int r = log_entry(e, s, &entry, err);

	if (r < 0)
		return r;
	r = db_search_set_verdict(e->db, s->id, "verifying", verdict, culprit);
	return r < 0 ? error_errno(err, r, "database") : ASK_CONCLUDED;
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

/* The merge bases are like good: from here on the search is an ordinary one. */
static int go_on_from_base(struct engine *e, struct session *s, const struct judge_decision *d, struct error *err)
{
	const char *base = s->graph.oids[s->next_start];
	const struct search_entry entry = decision_entry(d, "base", base);
	int r = log_entry(e, s, &entry, err);

	if (r < 0)
		return r;
	r = db_search_set_base(e->db, s->id, base);
	if (r < 0)
		return error_errno(err, r, "database");
	r = reread(e, s, err);
	if (r >= 0)
		r = load_graph(e, s, err);
	return r < 0 ? r : ASK_AGAIN;
}

/*
 * The runs of a decision belong together: the judge is asked again when all of them have ended, so that it
 * decides on the same data whenever this process was killed. 1: some have not.
 */
static int under_way(struct engine *e, const struct session *s, struct error *err)
{
	int64_t n = 0;
	int r = db_job_unfinished_search(e->db, s->id, &n);

	return r < 0 ? error_errno(err, r, "database") : n > 0;
}

/* After a restart: how far it had come. */
static int recall_estimate(struct engine *e, struct session *s, struct error *err)
{
	_cleanup_(session_obs_done) struct session_obs o = { 0 };
	_cleanup_(judge_decision_done) struct judge_decision d = { 0 };
	int r = session_decide(e, s, err, &o, &d);

	if (r >= 0)
		s->estimate = session_progress(&o, &d);
	return r;
}

/* The first run of the good end tells whether the workload has the metric at all: 1 it has not, 0 it has, or nobody knows yet. */
static int lacks_metric(struct engine *e, struct session *s, struct error *err)
{
	const struct want want = session_want(s, 0, 1);
	_cleanup_(want_result_done) struct want_result look = { 0 };
	_cleanup_(values_done) struct values values = { 0 };
	int r = s->metric_seen || session_is_status(s) ? -EAGAIN : plan_look(e, &want, err, &look);

	if (r == -EAGAIN)
		error_done(err);
	if (r == -EAGAIN || (r >= 0 && look.state != WANT_MET))
		return 0;
	if (r >= 0)
		r = db_run_values(e->db, look.series, look.signature, s->question.metric, &values);
	if (r < 0)
		return err->code < 0 ? r : error_errno(err, r, "database");
	s->metric_seen = values.n;
	return values.n == 0;
}

static int search_phase(struct engine *e, struct session *s, struct error *err)
{
	int r = lacks_metric(e, s, err);

	if (r != 0)
		return r < 0 ? r : give_up_metric(e, s, err);
	r = under_way(e, s, err);
	if (r < 0)
		return r;
	if (r > 0) {
		r = s->estimate.phase ? 0 : recall_estimate(e, s, err);
		return r < 0 ? r : ASK_WAIT;
	}
	s->reason[0] = '\0';
	for (int round = 0; round < ROUNDS_MAX; round++) {
		_cleanup_(session_obs_done) struct session_obs o = { 0 };
		_cleanup_(judge_decision_done) struct judge_decision d = { 0 };

		r = session_decide(e, s, err, &o, &d);
		if (r < 0)
			return r;
		s->estimate = session_progress(&o, &d);
		if (d.action == JUDGE_DONE && s->next_start < 0)
			return conclude(e, s, &d, err);
		r = d.action == JUDGE_DONE ? go_on_from_base(e, s, &d, err) : ask(e, s, &d, &o, err);
		if (r != ASK_AGAIN)
			return r;
	}
	return error_set(err, -ELOOP, "search %lld asks for what is there already", (long long)s->id);
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
		s->memo = judge_memo_free(s->memo);
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
