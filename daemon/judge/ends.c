/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/ends.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "daemon/judge/layouts.h"

#define PAIRS_FIRST 3 /* enough to see that there is no noise */
#define PAIRS_CLEAR 4 /* enough for what is clear */
#define PAIRS_LEAST 10
#define PAIRS_MOST 500
#define PAIRS_AT_ONCE 8
/* In ranges of the side that is wider: so far apart, a few pairs are enough; and one run tells a side. */
#define CLEAR 1.5
#define EXACT 50.0
#define EVIDENCE 20.0
/* Runs of an end in each layout at the first look at layouts; the next one comes after twice as many. */
#define LAYOUT_RUNS 2

/* The first values of an anchor; NULL: no memory. The caller frees. */
static double *values_of(const struct evidence *e, int node, unsigned pairs)
{
	double *y = calloc((size_t)pairs + 1, sizeof(*y));
	struct run *runs = NULL;

	if (!y || evidence_runs(e, node, INT64_MIN, &runs) < 0) {
		free(y);
		return NULL;
	}
	for (unsigned i = 0; i < pairs; i++)
		y[i] = runs[i].y;
	free(runs);
	return y;
}

static unsigned least(int a, int b)
{
	return (unsigned)(a < b ? a : b);
}

/* Half of what was claimed is still worth a search; without a claim what the workload's floor says. */
static double smallest_change(const struct evidence *e, double good_level)
{
	const struct judge_options *o = e->opt;

	return evidence_from_change(e, o->claim > 0 ? o->claim / 2 : o->floor, good_level);
}

/* How far the sides are apart, in the wider one's range: a spread estimated from a few lucky runs says little. */
static double distance(const double *good, const double *bad, unsigned pairs)
{
	double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};

	for (unsigned i = 0; i < pairs; i++) {
		low[0] = fmin(low[0], good[i]);
		high[0] = fmax(high[0], good[i]);
		low[1] = fmin(low[1], bad[i]);
		high[1] = fmax(high[1], bad[i]);
	}
	return fabs(low[1] + high[1] - low[0] - high[0]) / 2 / fmax(fmax(high[0] - low[0], high[1] - low[1]), 1e-300);
}

/* One look at the first pairs. A test that survives peeking needs no correction for how many there were. */
static enum ends_state state_of(const struct judge_difference *d, double apart, double smallest)
{
	if (d->pairs < PAIRS_CLEAR || (d->pairs < PAIRS_LEAST && apart < CLEAR))
		return ENDS_MORE;
	if (smallest > 0 && d->delta > -smallest && judge_ln_against_none(smallest, d->delta, d->se) < JUDGE_LN_FUTILE)
		return ENDS_SAME;
	if (judge_ln_bayes_factor(d->delta, d->se, d->pairs) >= log(EVIDENCE))
		return d->delta > 0 ? ENDS_REPRODUCED : ENDS_OPPOSITE;
	return ENDS_MORE;
}

/* The looks are taken after so many pairs. */
static unsigned next_look(unsigned pairs)
{
	unsigned more = pairs / 8;

	if (pairs < PAIRS_CLEAR)
		return pairs < PAIRS_FIRST ? PAIRS_FIRST : PAIRS_CLEAR;
	if (pairs < PAIRS_LEAST)
		return PAIRS_LEAST;
	more = more < 2 ? 2 : more;
	return pairs + (more < PAIRS_AT_ONCE ? more : PAIRS_AT_ONCE);
}

/*
 * All looks again, from the first one: what was decided then stands, whatever runs the search has added to the anchors.
 */
static void look_again(const struct evidence *e, const double *good, const double *bad, unsigned pairs, struct ends *x)
{
	unsigned look = PAIRS_FIRST;

	for (; look <= pairs && x->state == ENDS_MORE; look = next_look(look)) {
		struct judge_difference d = judge_clipped_difference(good, bad, look);

		x->state = state_of(&d, distance(good, bad, look), x->smallest);
		if (x->state != ENDS_MORE && x->state != ENDS_REPRODUCED)
			x->difference = d;
	}
	if (x->state != ENDS_MORE)
		return;
	if (pairs >= PAIRS_MOST || (e->opt->max_runs && (unsigned)e->n_runs >= e->opt->max_runs))
		x->state = ENDS_TOO_NOISY;
	else
		x->more = look - pairs;
}

/* As long as few pairs are there, what was claimed says how large the change may be. */
static bool is_by_layout(const struct evidence *e, const struct judge_difference *d)
{
	double claim = e->opt->claim > 0 ? evidence_from_change(e, e->opt->claim, d->pairs ? e->run[0].y : 1) : INFINITY;

	return layouts_matter(e, e->opt, d->pairs < PAIRS_FIRST ? claim : d->delta);
}

/* A small change that was reproduced: does it stay when the ends are linked in another order? The first look that says so counts. */
static int look_at_layouts(const struct evidence *e, unsigned pairs, struct ends *x)
{
	struct run *good = NULL, *bad = NULL;
	int n_good = evidence_runs(e, 0, INT64_MIN, &good), n_bad = n_good < 0 ? n_good : 0;
	enum layouts_state state = LAYOUTS_MORE;
	unsigned look = LAYOUT_RUNS * e->opt->layouts;

	if (n_bad >= 0)
		n_bad = evidence_runs(e, e->dag->n - 1, INT64_MIN, &bad);
	for (; n_bad >= 0 && state == LAYOUTS_MORE && look <= pairs; look *= 2)
		state = layouts_look(good, (int)look, bad, (int)look, e->sigma, NAN, 0);
	free(good);
	free(bad);
	if (state == LAYOUTS_GOES)
		x->state = ENDS_LAYOUT;
	if (state == LAYOUTS_MORE) {
		x->state = pairs >= PAIRS_MOST ? ENDS_TOO_NOISY : ENDS_MORE;
		x->more = look - pairs;
	}
	return n_bad < 0 ? n_bad : 0;
}

int ends_look(const struct evidence *e, struct ends *ret)
{
	struct ends x = {.state = ENDS_MORE};
	int bad_node = e->dag->n - 1;
	unsigned pairs = least(e->runs[0], e->runs[bad_node]);
	double *good = values_of(e, 0, pairs), *bad = values_of(e, bad_node, pairs);

	if (!good || !bad) {
		free(good);
		free(bad);
		return -ENOMEM;
	}
	x.difference = judge_clipped_difference(good, bad, pairs);
	x.difference.pairs = pairs;
	x.smallest = smallest_change(e, pairs ? good[0] : 1);
	x.by_layout = is_by_layout(e, &x.difference);
	if (!x.by_layout && pairs >= PAIRS_FIRST && x.difference.delta > 0 && distance(good, bad, pairs) > EXACT)
		x.state = ENDS_EXACT;
	else
		look_again(e, good, bad, pairs, &x);
	free(good);
	free(bad);
	if (x.by_layout && x.state == ENDS_REPRODUCED && look_at_layouts(e, pairs, &x) < 0)
		return -ENOMEM;
	x.needed = judge_pairs_needed(e->opt->claim > 0 ? 2 * x.smallest : fmax(x.smallest, x.difference.delta),
				x.difference.sd);
	*ret = x;
	return 0;
}
