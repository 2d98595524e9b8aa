// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/proof.h"

#include "daemon/session-internal.h"

#include "daemon/judge/sequential.h"
#include "lib/str.h"

#include <math.h>

#define PARENTS_MAX 16
/* A change without a size: then a thousandth. */
#define LEAST_MINIMUM 0.001
/* Half of the change is what has to be seen of it. */
#define SHARE 0.5

/* A parent, or the culprit. */
struct side {
	const struct row *row;
	struct want_result look;
	struct values values;
	size_t n_all; /* ok runs of it, with those that do not count */
};

struct sides {
	struct side items[PARENTS_MAX + 1]; /* the culprit is the last */
	size_t n;
	const char *class, *metric;
	enum judge_better better;
	double floor;
};

static void sides_done(struct sides *s)
{
	for (size_t i = 0; i < s->n; i++) {
		want_result_done(&s->items[i].look);
		values_done(&s->items[i].values);
	}
}

const char *proof_state_name(enum proof_state state)
{
	static const char *const names[] = { [PROOF_NOT_MEASURED] = "not-measured", [PROOF_SHOWN] = "shown",
					     [PROOF_NOT_SHOWN] = "not-shown" };

	return names[state];
}

_printf_(3, 4) static int conclude(struct proof *p, enum proof_state state, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(p->reason, sizeof(p->reason), format, ap);
	va_end(ap);
	p->state = state;
	return 0;
}

/* The parents that can be measured, and the culprit last. */
static void choose_sides(const struct session *s, struct sides *sides)
{
	const struct row *culprit = rows_find(&s->rows, "culprit");

	for (size_t i = 0; i < s->rows.n && sides->n < PARENTS_MAX; i++)
		if (str_starts(s->rows.items[i].name, "parent") && s->rows.items[i].oid && !s->rows.items[i].status)
			sides->items[sides->n++].row = &s->rows.items[i];
	sides->items[sides->n++].row = culprit;
}

static int read_side(struct engine *e, const struct session *s, struct sides *sides, size_t i, struct error *err)
{
	struct side *side = &sides->items[i];
	_cleanup_(level_list_done) struct level_list levels = { 0 };
	const struct level *level;
	int r = rows_look(e, &s->rows, side->row, sides->class, err, &side->look);

	if (r < 0)
		return r;
	r = rows_values(e, &s->rows, &side->look, sides->class, sides->metric, &side->values);
	if (r >= 0 && side->look.series && side->look.signature)
		r = db_level_list(e->db, side->look.series, side->look.signature, &levels);
	if (r < 0)
		return error_errno(err, r, "database");
	level = level_list_find(&levels, sides->metric);
	if (level && str_eq(level->better, "higher"))
		sides->better = JUDGE_HIGHER;
	return 0;
}

static int read_sides(struct engine *e, const struct session *s, struct sides *sides, struct error *err)
{
	_cleanup_(workload_done) struct workload workload = { 0 };
	int r = workload_load(&e->paths, s->question.workload, err, &workload);

	sides->class = s->question.class;
	sides->metric = s->question.metric;
	sides->better = JUDGE_LOWER;
	if (r >= 0)
		sides->floor = workload_floor(&workload, sides->class, sides->metric);
	for (size_t i = 0; r >= 0 && i < sides->n; i++)
		r = read_side(e, s, sides, i, err);
	return r;
}

/* Exact: the one run of each says it. */
static int prove_exact(const struct sides *sides, struct proof *p, struct error *err)
{
	const struct side *culprit = &sides->items[sides->n - 1];

	for (size_t i = 0; i + 1 < sides->n; i++) {
		const struct values *before = &sides->items[i].values, *after = &culprit->values;
		struct judge_comparison c;
		int r;

		if (before->n == 0 || after->n == 0)
			return conclude(p, PROOF_NOT_SHOWN, "%s has no value of %s", before->n ? "the culprit" : "a parent",
					sides->metric);
		r = judge_compare(before->items, before->n, after->items, after->n, JUDGE_EXACT, sides->better, sides->floor, &c);
		if (r < 0)
			return error_errno(err, r, "judge");
		(void)conclude(p, c.relation == JUDGE_WORSE ? PROOF_SHOWN : PROOF_NOT_SHOWN,
			       "%s is %.10g in the %s and %.10g in the culprit: %s the floor of %.3g %%", sides->metric, c.before,
			       sides->items[i].row->name, c.after, c.relation == JUDGE_WORSE ? "above" : "not above",
			       100 * sides->floor);
		if (p->state != PROOF_SHOWN)
			return 0;
	}
	return 0;
}

/* What has to be seen, relative: a part of what the search says that the culprit makes. */
static int find_minimum(struct engine *e, struct session *s, struct error *err)
{
	_cleanup_(session_obs_done) struct session_obs o = { 0 };
	_cleanup_(judge_decision_done) struct judge_decision d = { 0 };
	double change, part;
	int r;

	if (s->proof_minimum > 0)
		return 0;
	r = session_decide(e, s, err, &o, &d);
	if (r < 0)
		return r;
	change = fabs(judge_relative_change(d.change.before, d.change.after));
	part = isfinite(d.explained) && d.explained > 0 ? fmin(d.explained, 1) : 1;
	s->proof_minimum = isfinite(change) ? fmax(SHARE * part * change, LEAST_MINIMUM) : LEAST_MINIMUM;
	return 0;
}

/* 1: runs of a side are still to come. */
static int under_way(struct engine *e, const struct sides *sides, struct error *err)
{
	for (size_t i = 0; i < sides->n; i++) {
		const struct want_result *look = &sides->items[i].look;
		int64_t n = 0;
		int r = look->series && look->signature ? plan_runs_under_way(e, look->series, look->signature, &n) : 0;

		if (r < 0)
			return error_errno(err, r, "database");
		if (n > 0)
			return 1;
	}
	return 0;
}

static size_t fewest(const struct sides *sides)
{
	size_t n = SIZE_MAX;

	for (size_t i = 0; i < sides->n; i++)
		n = MIN(n, sides->items[i].values.n);
	return n;
}

static int ask_run(struct engine *e, const struct session *s, const struct side *side, size_t k, struct error *err)
{
	_cleanup_(want_result_done) struct want_result w = { 0 };
	_cleanup_(commit_done) struct commit commit = { 0 };
	struct want want = { .oid = side->row->oid, .arch = s->rows.arch, .workload = s->rows.workload, .class = s->question.class,
			     .search_id = s->id, .priority = PRIORITY_VERIFY };
	int r;

	if (k < side->values.n)
		return 0;
	r = repo_commit(e->repo, side->row->oid, err, &commit);
	want.tree_oid = commit.tree_oid;
	want.runs = (unsigned)(side->look.n_ok + (int64_t)(k + 1 - side->values.n));
	return r < 0 ? r : plan_want(e, &want, err, &w);
}

/* Round k of all: a b b a, so that what drifts hits both. */
static int ask_rounds(struct engine *e, const struct session *s, const struct sides *sides, size_t from, unsigned more,
		      struct error *err)
{
	int r = db_begin(e->db);

	if (r < 0)
		return error_errno(err, r, "database");
	for (size_t k = from; r >= 0 && k < from + more; k++)
		for (size_t i = 0; r >= 0 && i < sides->n; i++)
			r = ask_run(e, s, &sides->items[judge_base_first((unsigned)k) ? i : sides->n - 1 - i], k, err);
	r = db_end(e->db, r);
	return r < 0 && err->code == 0 ? error_errno(err, r, "database") : r;
}

/* The sequential test of each parent; *ret_more: runs that one of them wants. */
static int weigh(const struct session *s, const struct sides *sides, struct proof *p, struct error *err, unsigned *ret_more)
{
	const struct judge_sequential_options opt = { .better = sides->better, .minimum = s->proof_minimum };
	const struct side *culprit = &sides->items[sides->n - 1];
	const size_t n = fewest(sides);

	*ret_more = 0;
	for (size_t i = 0; i + 1 < sides->n; i++) {
		const struct side *parent = &sides->items[i];
		struct judge_sequential said;
		int r = judge_sequential(parent->values.items, n, culprit->values.items, n, &opt, &said);

		if (r < 0)
			return error_errno(err, r, "judge");
		if (said.answer == JUDGE_ASK_MORE)
			*ret_more = MAX(*ret_more, said.more);
		if (p->state == PROOF_NOT_SHOWN)
			continue;
		p->pairs = said.pairs;
		p->ratio = said.ratio;
		p->low = said.low;
		p->high = said.high;
		(void)conclude(p, said.answer == JUDGE_SAY_WORSE ? PROOF_SHOWN : PROOF_NOT_SHOWN, "%s against the %s: %s",
			       sides->metric, parent->row->name, said.reason);
	}
	return 0;
}

static int prove_noisy(struct engine *e, struct session *s, struct sides *sides, struct proof *p, struct error *err,
		       bool *ret_pending)
{
	const struct side *culprit = &sides->items[sides->n - 1];
	unsigned more = 0;
	int r = under_way(e, sides, err);

	if (r != 0) {
		*ret_pending = r > 0;
		return r;
	}
	for (size_t i = 0; i + 1 < sides->n; i++)
		if (str_eq(sides->items[i].look.signature, culprit->look.signature))
			return conclude(p, PROOF_NOT_SHOWN, "the culprit has the image of its %s", sides->items[i].row->name);
	for (size_t i = 0; i < sides->n; i++)
		if (sides->items[i].look.n_ok > 0 && sides->items[i].values.n == 0 && s->rows.runs_time)
			return conclude(p, PROOF_NOT_SHOWN, "the %s has no value of %s", sides->items[i].row->name, sides->metric);
	r = find_minimum(e, s, err);
	if (r >= 0)
		r = weigh(s, sides, p, err, &more);
	if (r < 0 || !more)
		return r;
	*ret_pending = true;
	return ask_rounds(e, s, sides, fewest(sides), more, err);
}

static int prove(struct engine *e, struct session *s, struct proof *p, struct error *err, bool *ret_pending)
{
	_cleanup_(sides_done) struct sides sides = { 0 };
	const struct row *culprit = rows_find(&s->rows, "culprit");
	int r;

	choose_sides(s, &sides);
	if (sides.n < 2)
		return conclude(p, PROOF_NOT_MEASURED, "no parent of the culprit can be measured");
	if (culprit->status) /* it fails, or overruns its limit, where its parent does not */
		return conclude(p, PROOF_SHOWN, "the culprit ends with %s, its parent does not", culprit->status);
	if (session_is_status(s))
		return conclude(p, PROOF_NOT_SHOWN, "the culprit did not end so in the runs of the proof");
	if (session_is_noisy(s) && e->settings.no_proof)
		return conclude(p, PROOF_NOT_MEASURED, "nobody asked for its runs");
	r = read_sides(e, s, &sides, err);
	if (r < 0)
		return r;
	return session_is_noisy(s) ? prove_noisy(e, s, &sides, p, err, ret_pending) : prove_exact(&sides, p, err);
}

int session_prove(struct engine *e, struct session *s, struct error *err, bool *ret_pending)
{
	struct proof p = { .ratio = NAN, .low = NAN, .high = NAN };
	int r;

	*ret_pending = false;
	r = prove(e, s, &p, err, ret_pending);
	if (r >= 0 && !*ret_pending)
		s->proof = p;
	return r < 0 ? r : 0;
}
