// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tip against its base among noise: both images are run in turns on the machine of class time, until the judge knows or the
 * budget is spent. Only runs that were made for this are compared: the host of last week is another host. The runs of a round
 * are asked for together and looked at when all have ended, so a daemon that was killed decides on the same data.
 */
#include "daemon/detect-internal.h"

#include "daemon/judge/sequential.h"
#include "db/run.h"

#include <math.h>

/* No floor is no practical minimum: then a thousandth. */
#define LEAST_MINIMUM 0.001

struct side {
	const char *oid;
	struct want_result want;
	struct values values; /* of the metric, those of this comparison */
	size_t n_all;	      /* values of the metric at all */
};

static void side_done(struct side *s)
{
	want_result_done(&s->want);
	values_done(&s->values);
}

/* Only the runs behind this one. */
static void keep_fresh(struct values *v, int64_t order)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++)
		if (v->runs[i] > order) {
			v->items[n] = v->items[i];
			v->runs[n++] = v->runs[i];
		}
	v->n = n;
}

/* What there is of a side, its image first. An outcome; OUTCOME_SAME: go on. */
static int read_side(const struct look *l, int64_t order, struct error *err, struct side *s)
{
	struct engine *e = l->service->engine;
	_cleanup_(want_result_done) struct want_result image = { 0 };
	int64_t under_way = 0;
	int r = detect_want(l, s->oid, "time", 0, err, &image);

	if (r < 0)
		return r;
	if (image.state != WANT_MET) {
		s->want = image;
		image = (struct want_result){ 0 };
		return detect_is_open(&s->want) ? OUTCOME_PENDING : OUTCOME_SAME;
	}
	r = detect_look(l, s->oid, "time", err, &s->want);
	if (r < 0)
		return r;
	r = plan_runs_under_way(e, s->want.series, s->want.signature, &under_way);
	if (r >= 0)
		r = db_run_values(e->db, s->want.series, s->want.signature, l->workload->driver_time, &s->values);
	if (r < 0)
		return error_errno(err, r, "database");
	s->n_all = s->values.n;
	keep_fresh(&s->values, order);
	return under_way ? OUTCOME_PENDING : OUTCOME_SAME;
}

/* One run more of a side than it has, and so on: k is the pair. */
static int ask_run(const struct look *l, const struct side *s, unsigned k, struct error *err)
{
	_cleanup_(want_result_done) struct want_result w = { 0 };
	int64_t missing = (int64_t)k + 1 - (int64_t)s->values.n;

	return missing > 0 ? detect_want(l, s->oid, "time", (unsigned)(s->want.n_ok + missing), err, &w) : 0;
}

/* A round of pairs, in the order in which they are to run. */
static int ask_pairs(const struct look *l, const struct side *base, const struct side *tip, const struct judge_sequential *said,
		     struct error *err)
{
	struct db *db = l->service->engine->db;
	int r = db_begin(db);

	if (r < 0)
		return error_errno(err, r, "database");
	for (unsigned k = said->pairs; r >= 0 && k < said->pairs + said->more; k++) {
		const struct side *const order[] = { judge_base_first(k) ? base : tip, judge_base_first(k) ? tip : base };

		r = ask_run(l, order[0], k, err);
		if (r >= 0)
			r = ask_run(l, order[1], k, err);
	}
	r = db_end(db, r);
	return r < 0 && err->code == 0 ? error_errno(err, r, "database") : r;
}

/* Sure or not: what it is worth is said with all other comparisons of the tip. */
static int conclude(const struct look *l, const struct judge_sequential_options *opt, const struct judge_sequential *said,
		    struct error *err)
{
	const char *metric = l->workload->driver_time;
	const double change = isfinite(said->ratio) ? said->ratio - 1 : 0;
	const struct judge_member member = { .cls = JUDGE_TIME,
					     .p = isfinite(said->ln_evidence) ? fmin(1, exp(-said->ln_evidence)) : 1,
					     .worse = opt->better == JUDGE_LOWER ? change : -change,
					     .minimum = opt->minimum };

	detect_say(l, "%s of %s on %s, in time: %s", metric, l->workload->name, l->arch, said->reason);
	if (said->answer != JUDGE_SAY_SAME && said->answer != JUDGE_SAY_WORSE)
		(void)str_addf(l->notes, "; %s of %s on %s: %s", metric, l->workload->name, l->arch, said->reason);
	return detect_compared(l, "time", metric, &member, said->before, said->after, said->ratio, err);
}

static int compare(const struct look *l, double alpha, const struct side *base, const struct side *tip, struct error *err)
{
	const struct workload *w = l->workload;
	const struct judge_sequential_options opt = {
		.better = detect_better(l, tip->n_all ? &tip->want : &base->want, w->driver_time),
		.minimum = fmax(workload_floor(w, "time", w->driver_time), LEAST_MINIMUM),
		.alpha = alpha,
		.budget = service_tree(l->service, l->tip->tree)->time_pairs,
	};
	struct judge_sequential said;
	int r = judge_sequential(base->values.items, base->values.n, tip->values.items, tip->values.n, &opt, &said);

	if (r < 0)
		return error_errno(err, r, "judge");
	if (said.answer != JUDGE_ASK_MORE)
		return conclude(l, &opt, &said, err);
	r = ask_pairs(l, base, tip, &said, err);
	return r < 0 ? r : OUTCOME_PENDING;
}

/* NULL: it can be compared. */
static const char *trouble_of(const struct side *s)
{
	if (s->want.n_ok > 0 && s->n_all == 0)
		return "does not report it";
	if (s->want.state == WANT_SKIPPED || s->want.state == WANT_SLOW)
		return s->want.status;
	return NULL;
}

/* Exact runs have said whether a tip is any good; that its timing cannot be measured is noted. 1 it cannot, 0 it can. */
static int note_trouble(const struct look *l, const struct side *s, const char *name)
{
	const char *what = trouble_of(s);

	if (!what)
		return 0;
	detect_say(l, "%s of %s on %s is not compared in time: %s %s", l->workload->driver_time, l->workload->name, l->arch, name,
		   what);
	(void)str_addf(l->notes, "; %s of %s on %s not compared: %s %s", l->workload->driver_time, l->workload->name, l->arch, name,
		       what);
	return 1;
}

int detect_time(const struct look *l, double alpha, struct error *err)
{
	_cleanup_(side_done) struct side base = { .oid = l->base->oid }, tip = { .oid = l->tip->oid };
	int64_t order = 0;
	int r = db_tip_begin_runs(l->service->engine->db, l->tip->id, &order), other;

	if (r < 0)
		return error_errno(err, r, "database");
	r = read_side(l, order, err, &base);
	other = r < 0 ? 0 : read_side(l, order, err, &tip);
	if (r < 0 || other < 0)
		return MIN(r, other);
	r = MAX(r, other);
	if (r != OUTCOME_SAME || str_eq(base.want.signature, tip.want.signature))
		return r;
	if (tip.want.state == WANT_SLOW && base.n_all)
		return detect_overran(l, "time", l->workload->driver_time, base.values.n ? base.values.items[0] : NAN, err);
	if (note_trouble(l, &base, "the level before") || note_trouble(l, &tip, "the tip"))
		return OUTCOME_SAME;
	return compare(l, alpha, &base, &tip, err);
}
