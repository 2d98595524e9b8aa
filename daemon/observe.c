// SPDX-License-Identifier: GPL-2.0-or-later
/* What the database says of every commit of a search, as the judge wants to have it. */
#include "daemon/session-internal.h"

#include "daemon/decision.h"
#include "daemon/names.h"
#include "db/build.h"
#include "lib/str.h"

/* Until something was measured here: a cold build, a short boot. */
#define BUILD_SECONDS 120
#define RUN_SECONDS 10

struct want session_want(const struct session *s, int node, unsigned runs)
{
	return (struct want){ .oid = s->graph.oids[node], .tree_oid = s->graph.tree_oids[node], .arch = s->question.arch,
			      .workload = s->question.workload, .class = s->question.class, .runs = runs,
			      .search_id = s->id, .priority = PRIORITY_SEARCH };
}

bool session_is_noisy(const struct session *s)
{
	return str_eq(s->question.class, "time");
}

void session_obs_done(struct session_obs *o)
{
	for (int i = 0; i < o->n; i++) {
		values_done(&o->values[i]);
		want_result_done(&o->looks[i]);
	}
	for (int i = 0; o->layouts && i < o->n; i++)
		free(o->layouts[i].of);
	free(o->layouts);
	free(o->values);
	free(o->looks);
	free(o->obs);
	free(o->marks);
	(void)status_view_free(o->status);
	*o = (struct session_obs){ 0 };
}

void session_forget_later(const struct session *s, struct values *values)
{
	while (!str_eq(s->question.state, "searching") && values->n && values->runs[values->n - 1] > s->question.judged_run)
		values->n--;
}

static int observe_node(struct engine *e, struct session *s, int node, double build_seconds, struct session_obs *o,
			struct error *err)
{
	const struct want want = session_want(s, node, 1);
	struct want_result *look = &o->looks[node];
	struct judge_obs *obs = &o->obs[node];
	int r = plan_look(e, &want, err, look);

	if (r == -EAGAIN) { /* no image at all yet */
		error_done(err);
		return 0;
	}
	if (r < 0)
		return r;
	if (look->series && look->signature) {
		r = db_run_values(e->db, look->series, look->signature, s->question.metric, &o->values[node]);
		if (r < 0)
			return error_errno(err, r, "database");
		if (session_is_noisy(s))
			session_forget_later(s, &o->values[node]);
	}
	*obs = (struct judge_obs){ .values = o->values[node].items,
				   .n_values = o->values[node].n,
				   .order = o->values[node].runs,
				   .build_seconds = look->stored ? 0 : build_seconds };
	if (look->state == WANT_SKIPPED)
		obs->state = JUDGE_SKIPPED;
	else if (look->state == WANT_SLOW)
		obs->state = JUDGE_SLOW;
	else
		obs->state = obs->n_values ? JUDGE_TESTED : JUDGE_UNTESTED;
	return 0;
}

/* Commits of one image have one number: that of the first of them, and one. */
static int number_images(struct session_obs *o)
{
	_cleanup_free_ struct name *names = calloc((size_t)o->n, sizeof(*names));
	_cleanup_free_ int *first = calloc((size_t)o->n, sizeof(*first));
	size_t n = 0;

	if (!names || !first)
		return -ENOMEM;
	for (int i = 0; i < o->n; i++)
		if (o->looks[i].signature)
			names[n++] = (struct name){ o->looks[i].signature, i };
	names_group(names, n, first);
	for (size_t i = 0; i < n; i++)
		o->obs[names[i].node].image = first[names[i].node] + 1;
	return 0;
}

static int read_marks(struct engine *e, const struct session *s, struct session_obs *o)
{
	_cleanup_(search_marks_done) struct search_marks marks = { 0 };
	int r = db_search_marks(e->db, s->id, &marks);

	if (r < 0 || marks.n == 0)
		return r;
	o->marks = calloc(marks.n, sizeof(*o->marks));
	if (!o->marks)
		return -ENOMEM;
	for (size_t i = (size_t)s->question.base_marks; i < marks.n; i++) {
		int node = graph_find(&s->graph, marks.items[i].oid);

		if (node >= 0)
			o->marks[o->options.n_marks++] = (struct judge_mark){ node, marks.items[i].run_order };
	}
	o->options.marks = o->marks;
	return 0;
}

/* What the workload itself says of the metric, from a run of the good end; defaults as long as it has not said. */
static void read_metric(struct engine *e, const struct session *s, const struct session_obs *o, struct judge_options *opt)
{
	_cleanup_(level_list_done) struct level_list levels = { 0 };
	const struct want_result *look = &o->looks[0];
	const struct level *level = NULL;

	if (look->series && look->signature && db_level_list(e->db, look->series, look->signature, &levels) >= 0)
		level = level_list_find(&levels, s->question.metric);
	opt->better = level && str_eq(level->better, "higher") ? JUDGE_HIGHER : JUDGE_LOWER;
	if (!session_is_noisy(s))
		opt->cls = JUDGE_EXACT;
	else
		opt->cls = level && str_eq(level->class, "count") ? JUDGE_COUNT : JUDGE_TIME;
}

/* Of the series that the search measures in, which is known as soon as there is an image. */
static double run_seconds(struct engine *e, const struct session_obs *o)
{
	double seconds = RUN_SECONDS;

	for (int i = 0; i < o->n; i++)
		if (o->looks[i].series) {
			(void)db_run_typical_seconds(e->db, o->looks[i].series, &seconds);
			break;
		}
	return seconds;
}

static int read_options(struct engine *e, struct session *s, const struct workload *workload, struct session_obs *o)
{
	struct judge_options *opt = &o->options;

	*opt = (struct judge_options){ .first_parent = s->question.first_parent && !s->graph.n_bases,
				       .claim = s->question.claim,
				       .max_runs = (unsigned)s->question.max_runs,
				       .run_seconds = run_seconds(e, o),
				       .layouts = 1,
				       .slots = executor_slots(e->executor, s->question.class),
				       .hints = s->hints,
				       .n_hints = s->n_hints,
				       .memo = s->memo };
	read_metric(e, s, o, opt);
	opt->floor = workload_floor(workload, s->question.class, s->question.metric);
	opt->jitter = opt->cls == JUDGE_TIME;
	return read_marks(e, s, o);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Most commits of a large range were never built: what was is asked for once, and only that is looked at. */
static int observe_built(struct engine *e, struct session *s, double build_seconds, struct session_obs *o, struct error *err)
{
	_cleanup_(build_trees_done) struct build_trees built = { 0 };
	int r = db_build_trees(e->db, s->question.arch, &built);

	if (r < 0)
		return error_errno(err, r, "database");
	for (int i = 0; i < o->n && r >= 0; i++) {
		if (built.n && bsearch(&s->graph.tree_oids[i], built.items, built.n, sizeof(*built.items), compare_texts))
			r = observe_node(e, s, i, build_seconds, o, err);
		else
			o->obs[i].build_seconds = build_seconds;
	}
	return r;
}

static int observe_all(struct engine *e, struct session *s, struct session_obs *o, struct error *err)
{
	double build_seconds = BUILD_SECONDS;
	int r = 0;

	o->obs = calloc((size_t)o->n, sizeof(*o->obs));
	o->values = calloc((size_t)o->n, sizeof(*o->values));
	o->looks = calloc((size_t)o->n, sizeof(*o->looks));
	if (!o->obs || !o->values || !o->looks) {
		o->n = 0;
		return error_errno(err, -ENOMEM, "search");
	}
	(void)db_build_typical_seconds(e->db, s->question.arch, &build_seconds);
	r = db_begin(e->db); /* or each of the queries locks the database anew */
	if (r < 0)
		return error_errno(err, r, "database");
	r = db_end(e->db, observe_built(e, s, build_seconds, o, err));
	if (r < 0)
		return err->code ? r : error_errno(err, r, "database");
	if (session_is_status(s))
		r = status_observe(e, s, o, err);
	if (r < 0)
		return r;
	r = number_images(o);
	return r < 0 ? error_errno(err, r, "search") : 0;
}

int session_observe(struct engine *e, struct session *s, struct error *err, struct session_obs *ret)
{
	_cleanup_(session_obs_done) struct session_obs o = { .n = s->graph.dag.n };
	_cleanup_(workload_done) struct workload workload = { 0 };
	int r = workload_load(&e->paths, s->question.workload, err, &workload);

	if (r >= 0)
		r = observe_all(e, s, &o, err);
	if (r < 0)
		return r;
	r = read_options(e, s, &workload, &o);
	if (r < 0)
		return error_errno(err, r, "search");
	if (o.options.jitter)
		r = layouts_observe(e, s, &o, err);
	if (r < 0)
		return r;
	*ret = o;
	o = (struct session_obs){ 0 };
	return 0;
}

struct session_estimate session_progress(const struct session_obs *o, const struct judge_decision *d)
{
	struct session_estimate estimate = { .steps_left = d->steps_left,
					     .phase = decision_phase_name(d->phase),
					     .noisy = o->options.cls != JUDGE_EXACT };

	for (int i = 0; i < o->n; i++) {
		estimate.commits += o->obs[i].state != JUDGE_UNTESTED;
		estimate.runs += o->status ? status_runs(o->status, i) : o->obs[i].n_values;
	}
	return estimate;
}
