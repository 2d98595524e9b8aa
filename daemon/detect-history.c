// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tip and the accepted tips before it as one series. Comparisons of neighbours do not see what creeps by less than the floor
 * each time: that is noted, for no single commit is to blame. Among noise they do not see a step that was too small for their
 * budget either; two tips behind it may show it: then it is searched.
 */
#include "daemon/detect-internal.h"

#include "daemon/judge/series.h"
#include "db/run.h"
#include "db/search.h"

#include <math.h>

/* So many tips behind a step make it visible; later it is old news. */
#define POINTS_BEHIND 2

struct history {
	struct tip_list tips;
	size_t base;
	struct judge_point *points; /* of tips, and of the new one as last; n 0: not measured, or the image of the one before */
	struct values *values;
	size_t n;
	const char *metric;
	struct judge_series series;
};

static void history_done(struct history *h)
{
	for (size_t i = 0; h->values && i < h->n; i++)
		values_done(&h->values[i]);
	free(h->values);
	free(h->points);
	tip_list_done(&h->tips);
	judge_series_done(&h->series);
}

static const char *oid_at(const struct look *l, const struct history *h, size_t i)
{
	return i < h->tips.n ? h->tips.items[i].oid : l->tip->oid;
}

/* Values of a point, unless its image is that of the point before: one image is measured once. */
static int read_point(const struct look *l, const char *class, struct history *h, size_t i, char **previous, struct error *err)
{
	_cleanup_(want_result_done) struct want_result w = { 0 };
	int r = detect_look(l, oid_at(l, h, i), class, err, &w);

	if (r < 0)
		return r;
	if (w.n_ok == 0 || !w.series || str_eq(w.signature, *previous))
		return 0;
	r = db_run_values(l->service->engine->db, w.series, w.signature, h->metric, &h->values[i]);
	if (r < 0)
		return error_errno(err, r, "database");
	h->points[i] = (struct judge_point){ h->values[i].items, h->values[i].n };
	free(*previous);
	*previous = TAKE_PTR(w.signature);
	return 0;
}

static int read_history(const struct look *l, const char *class, struct history *h, struct error *err)
{
	_cleanup_free_ char *previous = NULL;
	int r = db_tip_history(l->service->engine->db, l->tip->tree, l->tip->ref, &h->tips, &h->base);

	if (r < 0)
		return error_errno(err, r, "database");
	h->n = h->tips.n + 1;
	h->points = calloc(h->n, sizeof(*h->points));
	h->values = calloc(h->n, sizeof(*h->values));
	if (!h->points || !h->values)
		return error_errno(err, -ENOMEM, "history");
	for (size_t i = 0; r >= 0 && i < h->n; i++)
		r = read_point(l, class, h, i, &previous, err);
	return r;
}

static int judge(const struct look *l, const char *class, struct history *h, struct error *err)
{
	_cleanup_(want_result_done) struct want_result w = { 0 };
	struct judge_series_options opt = { .cls = str_eq(class, "time") ? JUDGE_TIME : JUDGE_EXACT,
					    .floor = workload_floor(l->workload, class, h->metric),
					    .base = h->base };
	int r = detect_look(l, l->tip->oid, class, err, &w);

	if (r < 0)
		return r;
	if (w.series && w.signature)
		opt.better = detect_better(l, &w, h->metric);
	r = judge_series(h->points, h->n, &opt, &h->series);
	return r < 0 && r != -EINVAL ? error_errno(err, r, "judge") : 0; /* -EINVAL: nothing is measured */
}

static int note_creep(const struct look *l, const struct history *h, const struct judge_step *step)
{
	const char *since = oid_at(l, h, h->series.segments[step->best].last);

	return str_addf(l->notes, "; %s of %s on %s has crept: x %.4g since %.12s", h->metric, l->workload->name, l->arch,
			step->since_best, since);
}

/* A step that single comparisons have not seen. */
static int search_step(const struct look *l, const struct history *h, const struct judge_step *step, struct error *err)
{
	const struct judge_segment *before = h->series.segments + h->series.n_segments - 2, *after = before + 1;
	const struct suspicion s = { l->workload->name, l->arch, "time", h->metric, oid_at(l, h, step->before), before->level,
				     after->level, step->ratio, fabs(step->ratio - 1), NULL, NULL };
	int r = db_search_asked(l->service->engine->db, l->tip->tree, oid_at(l, h, step->after), l->workload->name, l->arch,
				h->metric, "time");

	if (r < 0)
		return error_errno(err, r, "database");
	return r > 0 ? OUTCOME_SAME : detect_search(l, &s, err);
}

static size_t points_from(const struct history *h, size_t first)
{
	size_t n = 0;

	for (size_t i = first; i < h->n; i++)
		n += h->points[i].n > 0;
	return n;
}

int detect_history(const struct look *l, const char *class, struct error *err)
{
	_cleanup_(history_done) struct history h = { 0 };
	const bool time = str_eq(class, "time");
	const struct judge_step *step;
	int r;

	h.metric = time ? l->workload->driver_time : l->workload->driver;
	r = read_history(l, class, &h, err);
	if (r >= 0)
		r = judge(l, class, &h, err);
	if (r < 0 || h.series.n_segments < 2)
		return r < 0 ? r : OUTCOME_SAME;
	step = &h.series.steps[h.series.n_segments - 2];
	if (step->relation != JUDGE_WORSE || points_from(&h, step->after) != (time ? POINTS_BEHIND : 1))
		return OUTCOME_SAME;
	if (step->creep)
		return note_creep(l, &h, step) < 0 ? error_errno(err, -ENOMEM, "history") : OUTCOME_SAME;
	return time ? search_step(l, &h, step, err) : OUTCOME_SAME;
}
