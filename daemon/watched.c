// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/watched.h"

#include "daemon/decision.h"
#include "daemon/rows.h"
#include "lib/str.h"

const char *watched_metric(const struct workload *w, size_t k)
{
	size_t n = 0;

	if (k == 0)
		return w->driver;
	while (w->watch && w->watch[n])
		n++;
	return k <= n ? w->watch[k - 1] : NULL;
}

static int read_values(struct engine *e, const struct search *q, const char *oid, const char *metric, struct error *err,
		       enum judge_better *better, struct values *ret)
{
	const struct rows rows = { .arch = q->arch, .workload = q->workload };
	const struct row row = { .oid = (char *)(uintptr_t)oid };
	_cleanup_(want_result_done) struct want_result look = { 0 };
	_cleanup_(level_list_done) struct level_list levels = { 0 };
	const struct level *level;
	int r = rows_look(e, &rows, &row, "exact", err, &look);

	if (r < 0)
		return r;
	r = rows_values(e, &rows, &look, "exact", metric, ret);
	if (r >= 0 && look.series && look.signature)
		r = db_level_list(e->db, look.series, look.signature, &levels);
	level = level_list_find(&levels, metric);
	if (level && str_eq(level->better, "higher"))
		*better = JUDGE_HIGHER;
	return r < 0 ? error_errno(err, r, "database") : 0;
}

int watched_compare(struct engine *e, const struct search *q, const struct workload *w, const char *metric, const char *before,
		    const char *after, struct error *err, struct judge_comparison *ret)
{
	_cleanup_(values_done) struct values x = { 0 }, y = { 0 };
	enum judge_better better = JUDGE_LOWER;
	int r = read_values(e, q, before, metric, err, &better, &x);

	if (r >= 0)
		r = read_values(e, q, after, metric, err, &better, &y);
	if (r < 0 || x.n == 0 || y.n == 0)
		return MIN(r, 0);
	r = judge_compare(x.items, x.n, y.items, y.n, JUDGE_EXACT, better, workload_floor(w, "exact", metric), ret);
	return r < 0 ? error_errno(err, r, "judge") : 1;
}

static json_t *change_json(const char *metric, const struct judge_comparison *c)
{
	return json_pack("{s:s, s:f, s:f, s:o, s:s}", "metric", metric, "before", c->before, "after", c->after, "ratio",
			 c->ratio - c->ratio == 0 ? json_real(c->ratio) : json_null(), "relation",
			 decision_relation_name(c->relation));
}

int watched_json(struct engine *e, const struct search *q, const char *parent, const char *culprit, struct error *err, json_t **ret)
{
	_cleanup_(workload_done) struct workload workload = { 0 };
	_cleanup_json_ json_t *list = json_array();
	const char *metric;
	int r = workload_load(&e->paths, q->workload, err, &workload);

	for (size_t k = 0; r >= 0 && (metric = watched_metric(&workload, k)); k++) {
		struct judge_comparison c;

		if (str_eq(metric, q->metric) && str_eq(q->class, "exact"))
			continue;
		r = watched_compare(e, q, &workload, metric, parent, culprit, err, &c);
		if (r > 0 && (c.relation == JUDGE_WORSE || c.relation == JUDGE_IMPROVED))
			r = json_array_append_new(list, change_json(metric, &c)) < 0 ? error_errno(err, -ENOMEM, "document") : 0;
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(list);
	return 0;
}
