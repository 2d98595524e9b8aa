// SPDX-License-Identifier: GPL-2.0-or-later
/* Searches for a failure: how the runs of every commit ended, as the judge wants to have it, and what the answer says of it. */
#include "daemon/session-internal.h"

#include "daemon/failure.h"
#include "db/build.h"
#include "lib/str.h"

bool session_is_status(const struct session *s)
{
	return str_eq(s->question.metric, METRIC_STATUS);
}

struct status_view *status_view_free(struct status_view *v)
{
	if (!v)
		return NULL;
	for (int i = 0; v->obs && i < v->n; i++)
		free((struct judge_ending *)(uintptr_t)v->obs[i].endings);
	for (size_t i = 0; i < v->n_kinds; i++) {
		free(v->kinds[i].status);
		free(v->kinds[i].title);
	}
	free(v->obs);
	free(v->kinds);
	free(v);
	return NULL;
}

/* The number of a way to end: equal status and title, equal number. The first is that of status ok. */
static int kind_of(struct status_view *v, const char *status, const char *text)
{
	_cleanup_free_ char *title = failure_title(status, text);
	struct status_kind *k;

	if (!title)
		return -ENOMEM;
	for (size_t i = 0; i < v->n_kinds; i++)
		if (str_eq(v->kinds[i].status, status) && str_eq(v->kinds[i].title, title))
			return (int)i;
	if (grow_array(&v->kinds, &v->kinds_capacity, v->n_kinds, sizeof(*v->kinds)) < 0)
		return -ENOMEM;
	k = &v->kinds[v->n_kinds];
	*k = (struct status_kind){ .status = strdup(status), .title = TAKE_PTR(title) };
	v->n_kinds++;
	return k->status ? (int)v->n_kinds - 1 : -ENOMEM;
}

static void add_runs(struct judge_ending *list, size_t *n, int kind, int64_t runs)
{
	size_t i = 0;

	while (i < *n && list[i].kind != kind)
		i++;
	if (i == *n)
		list[(*n)++] = (struct judge_ending){ .kind = kind };
	list[i].runs += (unsigned)runs;
}

/* A verdict stands on the runs that were there when it was reached. */
static int64_t last_run(const struct session *s)
{
	return str_eq(s->question.state, "searching") ? 0 : s->question.judged_run;
}

static int observe_runs(struct engine *e, const struct session *s, const struct want_result *look, struct status_view *v, int node)
{
	_cleanup_(endings_done) struct endings endings = { 0 };
	struct judge_status_obs *o = &v->obs[node];
	struct judge_ending *list;
	int r = look->series ? db_run_endings(e->db, look->series, look->signature, last_run(s), &endings) : 0;

	if (r < 0 || endings.n == 0)
		return r;
	list = calloc(endings.n, sizeof(*list));
	if (!list)
		return -ENOMEM;
	o->endings = list;
	for (size_t i = 0; i < endings.n; i++) {
		int kind = kind_of(v, endings.items[i].status, endings.items[i].text);

		if (kind < 0)
			return kind;
		add_runs(list, &o->n_endings, kind, endings.items[i].runs);
	}
	return 0;
}

static int observe_node(struct engine *e, const struct session *s, struct session_obs *o, int node)
{
	const struct want_result *look = &o->looks[node];
	struct judge_status_obs *obs = &o->status->obs[node];
	int r = 0;

	if (look->signature) {
		obs->image = JUDGE_IMAGE_BUILT;
		r = observe_runs(e, s, look, o->status, node);
		o->obs[node].state = obs->n_endings ? JUDGE_TESTED : JUDGE_UNTESTED;
	} else if (str_eq(look->status, "build-failed")) {
		obs->image = JUDGE_IMAGE_FAILED;
		r = kind_of(o->status, look->status, look->why);
		obs->build_kind = MAX(r, 0);
		o->obs[node].state = JUDGE_SKIPPED;
	}
	return MIN(r, 0);
}

int status_observe(struct engine *e, struct session *s, struct session_obs *o, struct error *err)
{
	struct status_view *v = o->status = calloc(1, sizeof(*v));
	int r = v ? 0 : -ENOMEM;

	if (r >= 0) {
		v->n = o->n;
		v->obs = calloc((size_t)o->n, sizeof(*v->obs));
		v->options = (struct judge_status_options){ .first_parent = s->question.first_parent && !s->graph.n_bases,
							    .deterministic = !session_is_noisy(s),
							    .max_runs = (unsigned)s->question.max_runs };
		r = v->obs ? kind_of(v, "ok", NULL) : -ENOMEM;
	}
	for (int i = 0; i < o->n && r >= 0; i++)
		r = observe_node(e, s, o, i);
	/* Where builds are what fails, one that did not is all there is to know. */
	for (int i = 0; i < o->n && r >= 0 && v->obs[o->n - 1].image == JUDGE_IMAGE_FAILED; i++)
		if (v->obs[i].image == JUDGE_IMAGE_BUILT)
			o->obs[i].state = JUDGE_TESTED;
	return r < 0 ? error_errno(err, r, "search") : 0;
}

int status_decide(const struct session *s, struct session_obs *o, struct judge_decision *ret)
{
	return judge_status(&s->graph.dag, o->status->obs, &o->status->options, ret, &o->status->failure);
}

size_t status_runs(const struct status_view *v, int node)
{
	size_t n = 0;

	for (size_t i = 0; i < v->obs[node].n_endings; i++)
		n += v->obs[node].endings[i].runs;
	return n;
}

void status_note(const struct status_view *v, int node, struct str *out)
{
	const struct judge_status_obs *o = &v->obs[node];
	const size_t runs = status_runs(v, node);
	const struct status_kind *k;

	if (o->image == JUDGE_IMAGE_FAILED) {
		k = &v->kinds[o->build_kind];
		(void)str_addf(out, "%s: %s", k->status, k->title);
	}
	if (v->failure.of_build && o->image == JUDGE_IMAGE_BUILT)
		(void)str_add(out, "builds");
	for (size_t i = 0; i < o->n_endings; i++) {
		k = &v->kinds[o->endings[i].kind];
		(void)str_addf(out, "%s%s%s%s", out->len ? "; " : "", k->status, *k->title ? ": " : "", k->title);
		if (o->n_endings > 1)
			(void)str_addf(out, " (%u of %zu)", o->endings[i].runs, runs);
	}
}

/* In how many commits a way to end was met. */
static int commits_with(const struct status_view *v, int kind)
{
	int n = 0;

	for (int i = 0; i < v->n; i++) {
		bool has = v->obs[i].image == JUDGE_IMAGE_FAILED && v->obs[i].build_kind == kind;

		for (size_t k = 0; k < v->obs[i].n_endings; k++)
			has |= v->obs[i].endings[k].kind == kind;
		n += has;
	}
	return n;
}

static json_t *others_json(const struct status_view *v)
{
	json_t *list = json_array();

	for (size_t i = 1; i < v->n_kinds; i++)
		if ((int)i != v->failure.kind)
			(void)json_array_append_new(list, json_pack("{s:s, s:s, s:i}", "status", v->kinds[i].status, "title",
								    v->kinds[i].title, "commits", commits_with(v, (int)i)));
	return list;
}

/* The job of the newest run of an image that ended in this way; 0: none. */
static int64_t job_of_run(struct engine *e, const struct want_result *look, const struct status_kind *kind)
{
	_cleanup_(endings_done) struct endings endings = { 0 };
	int64_t job = 0;

	if (!look->series || !look->signature || db_run_endings(e->db, look->series, look->signature, 0, &endings) < 0)
		return 0;
	for (size_t i = 0; i < endings.n; i++) {
		_cleanup_free_ char *title = failure_title(endings.items[i].status, endings.items[i].text);

		if (str_eq(endings.items[i].status, kind->status) && str_eq(title, kind->title))
			job = MAX(job, endings.items[i].job_id);
	}
	return job;
}

static int64_t job_of_build(struct engine *e, const struct session *s, int node)
{
	int64_t job = 0;

	return db_build_failed_job(e->db, s->graph.tree_oids[node], s->question.arch, &job) > 0 ? job : 0;
}

/* What the console, or the log of the build, says of it at this commit. */
static char *excerpt(struct engine *e, const struct session *s, const struct session_obs *o, int node)
{
	const struct status_view *v = o->status;
	const struct status_kind *kind = &v->kinds[v->failure.kind];
	const int64_t job = v->failure.of_build ? job_of_build(e, s, node) : job_of_run(e, &o->looks[node], kind);
	_cleanup_free_ char *path = NULL;

	if (job == 0)
		return NULL;
	path = str_format(v->failure.of_build ? "%s/build-%lld.log" : "%s/run-%lld.console", e->paths.logs, (long long)job);
	return path ? failure_excerpt(path, kind->title) : NULL;
}

int status_document(struct engine *e, const struct session *s, const struct session_obs *o, const struct judge_decision *d, json_t *doc)
{
	const struct status_view *v = o->status;
	const struct judge_failure *f = &v->failure;
	const int node = d->culprit >= 0 ? d->culprit : o->n - 1;
	_cleanup_free_ char *console = NULL;
	json_t *failure;

	if (f->kind != JUDGE_KIND_OK)
		console = excerpt(e, s, o, node);
	failure = json_pack("{s:s, s:s, s:i, s:i, s:i, s:f, s:s?, s:o}", "status", v->kinds[f->kind].status, "title",
			    v->kinds[f->kind].title, "seen", (int)f->same, "runs", f->of_build ? 0 : (int)f->runs, "good_runs",
			    f->of_build ? 0 : (int)f->good_runs, "error", f->error, "console", console, "others", others_json(v));
	if (!failure || json_object_set_new(doc, "failure", failure) < 0)
		return -ENOMEM;
	if (d->action == JUDGE_DONE && d->runs_needed)
		return json_object_set_new(doc, "runs_needed", json_integer((json_int_t)d->runs_needed)) < 0 ? -ENOMEM : 0;
	return 0;
}
