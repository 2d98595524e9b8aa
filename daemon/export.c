// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/export.h"

#include "daemon/definition.h"
#include "daemon/hints.h"
#include "daemon/plan.h"
#include "daemon/session.h"
#include "db/build.h"
#include "db/run.h"
#include "lib/str.h"

/* What all parts below look at, and what they fill. */
struct export {
	struct db *db;
	struct repo *repo;
	const struct search *search;
	struct graph graph;
	char *series; /* NULL: nothing was run yet */
	char *config, *toolchain;
	json_t *commits, *table, *images; /* images: signatures that the table has */
	char *unit, *better, *class;
	int layouts; /* one more than the highest that was measured */
};

/* A value, the run and the layout it is of. */
struct measured {
	int64_t run;
	double value;
	int layout;
};

static void export_done(struct export *x)
{
	char *const fields[] = { x->series, x->config, x->toolchain, x->unit, x->better, x->class };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		free(fields[i]);
	graph_done(&x->graph);
	json_decref(x->commits);
	json_decref(x->table);
	json_decref(x->images);
}

/* The value of "key=value" on a line of its own in the text of a series. */
static int text_value(const char *text, const char *key, char **ret)
{
	_cleanup_free_ char *start = str_format("\n%s=", key);
	const char *at = start ? strstr(text, start) : NULL;

	if (!start)
		return -ENOMEM;
	if (!at)
		return -EBADMSG;
	at += strlen(start);
	*ret = strndup(at, strcspn(at, "\n"));
	return *ret ? 0 : -ENOMEM;
}

static int find_series(struct export *x, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	int r = db_series_of_search(x->db, x->search->id, &x->series, &text);

	if (r > 0)
		r = text_value(text, "config", &x->config);
	if (r >= 0 && text)
		r = text_value(text, "toolchain", &x->toolchain);
	return r < 0 ? error_errno(err, r, "series of search %lld", (long long)x->search->id) : 0;
}

/* Unit and direction, as the samples have them. */
static int learn_metric(struct export *x, const char *signature)
{
	_cleanup_(level_list_done) struct level_list levels = { 0 };
	const struct level *level;
	int r = x->unit ? 0 : db_level_list(x->db, x->series, signature, &levels);

	level = level_list_find(&levels, x->search->metric);
	if (r < 0 || !level)
		return r;
	if (str_set(&x->unit, level->unit) < 0 || str_set(&x->better, level->better) < 0 || str_set(&x->class, level->class) < 0)
		return -ENOMEM;
	return 0;
}

static int by_run(const void *a, const void *b)
{
	int64_t x = ((const struct measured *)a)->run, y = ((const struct measured *)b)->run;

	return (x > y) - (x < y);
}

/* In the order they were measured. */
static json_t *samples_json(struct measured *m, size_t n)
{
	json_t *samples = json_array(), *layouts = json_array();
	int highest = 0;

	qsort(m, n, sizeof(*m), by_run);
	for (size_t i = 0; i < n; i++) {
		(void)json_array_append_new(samples, json_real(m[i].value));
		(void)json_array_append_new(layouts, json_integer(m[i].layout));
		highest = MAX(highest, m[i].layout);
	}
	if (highest)
		return json_pack("{s:o, s:o}", "samples", samples, "layouts", layouts);
	json_decref(layouts);
	return json_pack("{s:o}", "samples", samples);
}

/* Adds the values of one image of a commit. */
static int add_values(struct export *x, const char *signature, int layout, struct measured **m, size_t *n, size_t *capacity)
{
	_cleanup_(values_done) struct values values = { 0 };
	int r = db_run_values(x->db, x->series, signature, x->search->metric, &values);

	for (size_t i = 0; i < values.n && r >= 0; i++) {
		r = grow_array(m, capacity, *n, sizeof(**m));
		if (r >= 0)
			(*m)[(*n)++] = (struct measured){ values.runs[i], values.items[i], layout };
	}
	if (values.n)
		x->layouts = MAX(x->layouts, layout + 1);
	return r;
}

/* All layouts of a commit; the same image again is no other layout. */
static int all_values(struct export *x, int node, const char *signature, struct measured **m, size_t *n)
{
	size_t capacity = 0;
	int r = add_values(x, signature, 0, m, n, &capacity);

	for (int layout = 1; layout < SESSION_LAYOUTS && r >= 0; layout++) {
		_cleanup_(db_build_done) struct build build = { 0 };

		r = db_build_find(x->db, x->graph.tree_oids[node], x->search->arch, x->config, x->toolchain, layout, &build);
		if (r <= 0 || !str_eq(build.status, "ok") || str_eq(build.signature, signature))
			break;
		r = add_values(x, build.signature, layout, m, n, &capacity);
	}
	return MIN(r, 0);
}

/* What the runs of an image say; *ret NULL: nothing yet. */
static int image_entry(struct export *x, int node, const char *signature, json_t **ret)
{
	_cleanup_(want_result_done) struct want_result look = { 0 };
	_cleanup_free_ struct measured *m = NULL;
	size_t n = 0;
	int r = plan_look_image(x->db, x->series, signature, 1, &look);

	if (r >= 0)
		r = all_values(x, node, signature, &m, &n);
	if (r >= 0)
		r = learn_metric(x, signature);
	if (r < 0)
		return r;
	if (look.state == WANT_SKIPPED || look.state == WANT_SLOW)
		*ret = json_string(look.state == WANT_SLOW ? "slow" : "skip");
	else
		*ret = n ? samples_json(m, n) : NULL;
	return 0;
}

static int add_measured(struct export *x, int node, const char *oid, const struct build *build, json_t *commit)
{
	json_t *entry = NULL;
	int r;

	if (!str_eq(build->status, "ok"))
		return json_object_set_new(x->table, oid, json_string("skip"));
	(void)json_object_set_new(commit, "image", json_string(build->signature));
	if (json_object_get(x->images, build->signature))
		return 0;
	r = image_entry(x, node, build->signature, &entry);
	if (r < 0 || !entry)
		return r;
	(void)json_object_set_new(x->images, build->signature, json_true());
	return json_object_set_new(x->table, oid, entry);
}

static json_t *parents_json(const struct export *x, int node)
{
	const struct judge_dag *dag = &x->graph.dag;
	json_t *list = json_array();

	for (int k = dag->parent_start[node]; k < dag->parent_start[node + 1]; k++)
		(void)json_array_append_new(list, dag->parents[k] == JUDGE_OUTSIDE ?
							  json_null() :
							  json_string(x->graph.oids[dag->parents[k]]));
	return list;
}

static int add_commit(struct export *x, int node)
{
	_cleanup_(db_build_done) struct build build = { 0 };
	_cleanup_(commit_done) struct commit c = { 0 };
	_cleanup_json_ json_t *commit = json_pack("{s:s, s:o}", "id", x->graph.oids[node], "parents", parents_json(x, node));
	int r = commit ? 0 : -ENOMEM;

	if (r >= 0 && x->series)
		r = db_build_find(x->db, x->graph.tree_oids[node], x->search->arch, x->config, x->toolchain, 0, &build);
	if (r > 0) {
		if (repo_commit(x->repo, x->graph.oids[node], NULL, &c) >= 0)
			(void)json_object_set_new(commit, "subject", json_string(c.subject));
		r = add_measured(x, node, x->graph.oids[node], &build, commit);
	}
	if (r < 0)
		return r;
	return json_array_append(x->commits, commit) < 0 ? -ENOMEM : 0;
}

/* What the judge was told beside the samples, as far as it is known now. */
static int add_options(const struct export *x, const struct paths *paths, json_t *recording)
{
	_cleanup_(workload_done) struct workload workload = { 0 };
	const struct search *s = x->search;
	double seconds;

	if (workload_load(paths, s->workload, NULL, &workload) >= 0)
		(void)json_object_set_new(recording, "floor", json_real(workload_floor(&workload, s->class, s->metric)));
	if (x->series && db_run_typical_seconds(x->db, x->series, &seconds) >= 0)
		(void)json_object_set_new(recording, "run_seconds", json_real(seconds));
	if (db_build_typical_seconds(x->db, s->arch, &seconds) >= 0)
		(void)json_object_set_new(recording, "build_seconds", json_real(seconds));
	if (s->claim > 0)
		(void)json_object_set_new(recording, "claim", json_real(s->claim));
	if (s->max_runs)
		(void)json_object_set_new(recording, "max_runs", json_integer(s->max_runs));
	if (x->layouts > 1)
		(void)json_object_set_new(recording, "layouts", json_integer(x->layouts));
	if (s->first_parent)
		(void)json_object_set_new(recording, "first_parent", json_true());
	return 0;
}

/* What messages say of reverts in the range; of exact searches, which ask for it. */
static int add_reverts(const struct export *x, json_t *recording)
{
	_cleanup_free_ struct judge_hint *hints = NULL;
	json_t *list;
	size_t n = 0;
	int r = str_eq(x->search->class, "exact") ? hints_find(x->repo, &x->graph, &hints, &n) : 0;

	if (r < 0 || n == 0)
		return r;
	list = json_array();
	for (size_t i = 0; i < n; i++)
		(void)json_array_append_new(list, json_pack("[s, s]", x->graph.oids[hints[i].reverted],
							    x->graph.oids[hints[i].reverting]));
	return json_object_set_new(recording, "reverts", list) < 0 ? -ENOMEM : 0;
}

static json_t *recording_json(const struct export *x)
{
	const struct search *s = x->search;

	return json_pack("{s:s, s:o, s:s, s:s?, s:s?, s:s, s:s, s:s, s:O, s:O}", "kind", "recording", "comment",
			 json_sprintf("search %lld of %s: all that was measured until now", (long long)s->id, s->tree), "metric",
			 s->metric, "unit", x->unit, "better", x->better, "class",
			 str_eq(s->class, "exact") ? "exact" : x->class ? x->class : "time", "workload", s->workload, "arch",
			 s->arch, "commits", x->commits, "table", x->table);
}

int export_search(struct db *db, struct repo *repo, const struct paths *paths, const struct search *search, struct error *err,
		  json_t **ret)
{
	_cleanup_(export_done) struct export x = { .db = db, .repo = repo, .search = search };
	_cleanup_json_ json_t *recording = NULL;
	int r = str_eq(search->metric, METRIC_STATUS) ?
			error_set(err, -ENOTSUP, "search %lld asks how runs end: there is no recording of that", (long long)search->id) :
			repo_question(repo, search->good, search->bad, search->base, err, &x.graph);

	if (r >= 0)
		r = find_series(&x, err);
	if (r < 0)
		return r;
	x.commits = json_array();
	x.table = json_object();
	x.images = json_object();
	for (int i = 0; i < x.graph.dag.n && r >= 0; i++)
		r = add_commit(&x, i);
	recording = r < 0 ? NULL : recording_json(&x);
	if (r < 0 || !recording)
		return error_errno(err, r < 0 ? r : -ENOMEM, "search %lld", (long long)search->id);
	r = add_options(&x, paths, recording);
	if (r >= 0)
		r = add_reverts(&x, recording);
	if (r < 0)
		return error_errno(err, r, "search %lld", (long long)search->id);
	*ret = TAKE_PTR(recording);
	return 0;
}
