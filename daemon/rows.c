// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/rows.h"

#include "daemon/judge/stats.h"
#include "lib/str.h"

#include <math.h>

void rows_done(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		char *const fields[] = { rows->items[i].name, rows->items[i].label, rows->items[i].oid, rows->items[i].status,
					 rows->items[i].note };

		for (size_t k = 0; k < ARRAY_SIZE(fields); k++)
			free(fields[k]);
	}
	free(rows->items);
	*rows = (struct rows){ 0 };
}

int rows_add(struct rows *rows, const char *name, const char *label, const char *oid, const char *status, const char *note)
{
	struct row row = { 0 };

	if (grow_array(&rows->items, &rows->capacity, rows->n, sizeof(*rows->items)) < 0)
		return -ENOMEM;
	if (str_set(&row.name, name) < 0 || str_set(&row.label, label) < 0 || str_set(&row.oid, oid) < 0 ||
	    str_set(&row.status, status) < 0 || str_set(&row.note, note) < 0)
		return -ENOMEM;
	rows->items[rows->n++] = row;
	return 0;
}

/* What the runs of a row show that was asked how they end: its failure, when it has one more often than by chance. */
static int weigh_endings(struct engine *e, const struct want_result *w, struct row *row)
{
	_cleanup_(endings_done) struct endings list = { 0 };
	_cleanup_str_ struct str note = STR_INIT;
	const struct ending *worst = NULL;
	int64_t runs = 0;
	int r = db_run_endings(e->db, w->series, w->signature, 0, &list);

	if (r < 0)
		return r;
	for (size_t i = 0; i < list.n; i++) {
		runs += list.items[i].runs;
		if (!str_eq(list.items[i].status, "ok") && (!worst || list.items[i].runs > worst->runs))
			worst = &list.items[i];
	}
	if (!worst) {
		(void)str_addf(&note, "%lld run%s, all ended well", (long long)runs, runs == 1 ? "" : "s");
		return str_set(&row->note, note.data);
	}
	if (worst->runs < runs)
		(void)str_addf(&note, "in %lld of %lld runs: ", (long long)worst->runs, (long long)runs);
	if (worst->runs < MIN(runs, 2))
		(void)str_addf(&note, "%s: ", worst->status);
	else if (str_set(&row->status, worst->status) < 0)
		return -ENOMEM;
	(void)str_add(&note, worst->text);
	return note.failed ? -ENOMEM : str_set(&row->note, note.data);
}

/* Runs of the image that were there before do not count: so many more are wanted. */
static int add_stale(struct engine *e, const struct rows *rows, struct want *want, struct error *err)
{
	_cleanup_(want_result_done) struct want_result w = { 0 };
	int64_t n = 0;
	int r;

	if (!rows->fresh_after || !want->runs || !str_eq(want->class, "time"))
		return 0;
	r = plan_look(e, want, err, &w);
	if (r < 0)
		return r;
	if (w.series && w.signature)
		r = db_run_count_until(e->db, w.series, w.signature, rows->fresh_after, &n);
	if (r < 0)
		return error_errno(err, r, "database");
	want->stale = (unsigned)n;
	want->runs += want->stale;
	return 0;
}

static int row_want(struct engine *e, struct rows *rows, struct row *row, const char *class, unsigned runs, struct error *err,
		    bool *ret_pending)
{
	_cleanup_(want_result_done) struct want_result w = { 0 };
	_cleanup_(commit_done) struct commit commit = { 0 };
	struct want want = { .oid = row->oid, .arch = rows->arch, .workload = rows->workload, .class = class, .runs = runs,
			     .search_id = rows->search_id, .priority = rows->priority, .interleave = true,
			     .ended = rows->ended_class };
	int r = repo_commit(e->repo, row->oid, err, &commit);

	if (r < 0)
		return r;
	want.tree_oid = commit.tree_oid;
	r = add_stale(e, rows, &want, err);
	if (r >= 0)
		r = plan_want(e, &want, err, &w);
	if (r < 0)
		return r;
	if (w.state == WANT_PENDING)
		*ret_pending = true;
	if (w.state == WANT_MET && want.ended && runs) {
		r = weigh_endings(e, &w, row);
		return r < 0 ? error_errno(err, r, "row") : 0;
	}
	if (w.state != WANT_SKIPPED && w.state != WANT_SLOW && w.state != WANT_BROKEN)
		return 0;
	rows->broken |= w.state == WANT_BROKEN;
	if (str_set(&row->status, w.status) < 0 || str_set(&row->note, w.why) < 0)
		return error_errno(err, -ENOMEM, "row");
	return 0;
}

int rows_step(struct engine *e, struct rows *rows, struct error *err, bool *ret_pending)
{
	const struct {
		const char *class;
		unsigned runs;
		bool wanted;
	} stages[] = { { "exact", 0, true }, /* images only */
		       { "exact", rows->runs_exact, rows->runs_exact > 0 },
		       { "time", rows->runs_time, rows->runs_time > 0 },
		       { rows->ended_class, rows->runs_ended, rows->runs_ended > 0 } };

	*ret_pending = false;
	for (size_t s = 0; s < ARRAY_SIZE(stages) && !*ret_pending; s++) {
		for (size_t i = 0; stages[s].wanted && i < rows->n; i++) {
			struct row *row = &rows->items[i];
			int r;

			if (!row->oid || row->status)
				continue;
			r = row_want(e, rows, row, stages[s].class, stages[s].runs, err, ret_pending);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

void rows_forget_broken(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		if (str_eq(rows->items[i].status, "infra")) {
			free(TAKE_PTR(rows->items[i].status));
			free(TAKE_PTR(rows->items[i].note));
		}
	rows->broken = false;
}

int rows_look(struct engine *e, const struct rows *rows, const struct row *row, const char *class, struct error *err,
	      struct want_result *ret)
{
	_cleanup_(commit_done) struct commit commit = { 0 };
	struct want want = { .oid = row->oid, .arch = rows->arch, .workload = rows->workload, .class = class, .runs = 1 };
	int r = repo_commit(e->repo, row->oid, err, &commit);

	want.tree_oid = commit.tree_oid;
	return r < 0 ? r : plan_look(e, &want, err, ret);
}

int rows_values(struct engine *e, const struct rows *rows, const struct want_result *look, const char *class, const char *metric,
		struct values *ret)
{
	size_t n = 0;
	int r;

	if (!look->series || !look->signature)
		return 0;
	r = db_run_values(e->db, look->series, look->signature, metric, ret);
	if (r < 0 || !str_eq(class, "time"))
		return r;
	for (size_t i = 0; i < ret->n; i++)
		if (ret->runs[i] > rows->fresh_after) {
			ret->items[n] = ret->items[i];
			ret->runs[n++] = ret->runs[i];
		}
	ret->n = n;
	return 0;
}

const struct row *rows_find(const struct rows *rows, const char *name)
{
	for (size_t i = 0; i < rows->n; i++)
		if (str_eq(rows->items[i].name, name))
			return &rows->items[i];
	return NULL;
}

/* 1, or 0 when no run that counts has it. */
static int metric_json(struct engine *e, const struct rows *rows, const struct want_result *w, const char *class,
		       const struct level *l, json_t **ret)
{
	_cleanup_(values_done) struct values values = { 0 };
	_cleanup_json_ json_t *list = json_array();
	int r = rows_values(e, rows, w, class, l->metric, &values);
	double low = INFINITY, high = -INFINITY;

	for (size_t i = 0; r >= 0 && i < values.n; i++) {
		low = fmin(low, values.items[i]);
		high = fmax(high, values.items[i]);
		r = json_array_append_new(list, json_real(values.items[i])) < 0 ? -ENOMEM : 0;
	}
	if (r < 0 || values.n == 0)
		return r;
	*ret = json_pack("{s:I, s:f, s:f, s:f, s:s, s:s, s:s, s:O}", "n", (json_int_t)values.n, "median",
			 judge_median(values.items, values.n), "low", low, "high", high, "unit", l->unit, "better", l->better,
			 "class", l->class, "values", list);
	return *ret ? 1 : -ENOMEM;
}

/* The metrics of one class of machine, an empty object when there are none. */
static int class_json(struct engine *e, const struct rows *rows, const struct row *row, const char *class, struct error *err,
		      json_t **ret)
{
	_cleanup_(want_result_done) struct want_result w = { 0 };
	_cleanup_(level_list_done) struct level_list levels = { 0 };
	_cleanup_json_ json_t *object = json_object();
	int r = rows_look(e, rows, row, class, err, &w);

	if (r < 0)
		return r;
	if (w.series && w.signature)
		r = db_level_list(e->db, w.series, w.signature, &levels);
	for (size_t i = 0; r >= 0 && i < levels.n; i++) {
		json_t *metric = NULL;

		r = metric_json(e, rows, &w, class, &levels.items[i], &metric);
		if (r > 0 && json_object_set_new(object, levels.items[i].metric, metric) < 0)
			r = -ENOMEM;
	}
	if (r < 0)
		return error_errno(err, r, "row");
	*ret = TAKE_PTR(object);
	return 0;
}

static int row_json(struct engine *e, const struct rows *rows, const struct row *row, struct error *err, json_t **ret)
{
	_cleanup_(commit_done) struct commit commit = { 0 };
	_cleanup_json_ json_t *metrics = json_object();
	const struct {
		const char *class;
		bool wanted;
	} classes[] = { { "exact", rows->runs_exact > 0 }, { "time", rows->runs_time > 0 || rows->fresh_after } };
	int r = row->oid ? repo_commit(e->repo, row->oid, err, &commit) : 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(classes); i++) {
		json_t *object = NULL;

		if (!row->oid || !classes[i].wanted)
			continue;
		r = class_json(e, rows, row, classes[i].class, err, &object);
		if (r >= 0 && json_object_set_new(metrics, classes[i].class, object) < 0)
			r = error_errno(err, -ENOMEM, "row");
	}
	if (r < 0)
		return r;
	*ret = json_pack("{s:s, s:s, s:s?, s:s?, s:s, s:s?, s:O}", "row", row->name, "label", row->label, "commit", row->oid,
			 "subject", commit.subject, "status", row->status ? row->status : "ok", "note", row->note, "metrics",
			 metrics);
	return *ret ? 0 : error_errno(err, -ENOMEM, "row");
}

int rows_json(struct engine *e, const struct rows *rows, struct error *err, json_t **ret)
{
	_cleanup_json_ json_t *list = json_array();

	for (size_t i = 0; i < rows->n; i++) {
		json_t *row = NULL;
		int r = row_json(e, rows, &rows->items[i], err, &row);

		if (r < 0)
			return r;
		(void)json_array_append_new(list, row);
	}
	*ret = TAKE_PTR(list);
	return 0;
}
