/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/evidence.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "daemon/judge/sides.h"
#include "daemon/judge/stats.h"

#define CLIP 2.5
/* Runs over which the machine's drift is taken to stay about the same: what predicts the anchors best. */
static const double drift_reaches[] = {5, 10, 20, 40, 80};
#define DRIFT_RUNS_MIN 16
#define DRIFT_GAIN 0.9

/* What ran cannot be used where the commit does not count as testable. */
static size_t usable_values(const struct judge_obs *o)
{
	return judge_unusable(o) || o->state == JUDGE_SLOW ? 0 : o->n_values;
}

/* same[]: the first node of each image. */
static int find_images(struct evidence *e)
{
	int *first, highest = 0;

	for (int i = 0; i < e->dag->n; i++)
		if (e->obs[i].image > highest)
			highest = e->obs[i].image;
	first = calloc((size_t)highest + 1, sizeof(*first));
	if (!first)
		return -ENOMEM;
	for (int i = 0; i < e->dag->n; i++) {
		int image = e->obs[i].image;

		e->same[i] = i;
		if (image <= 0)
			continue;
		if (first[image])
			e->same[i] = first[image] - 1;
		else
			first[image] = i + 1;
	}
	free(first);
	return 0;
}

static bool all_positive(const struct evidence *e)
{
	for (int i = 0; i < e->dag->n; i++)
		if (!judge_all_positive(e->obs[i].values, usable_values(&e->obs[i])))
			return false;
	return true;
}

/* Cells and runs of one node that stands for its image. */
static void add_node(struct evidence *e, int node)
{
	const struct judge_obs *o = &e->obs[node];
	size_t n = usable_values(o);

	e->runs[node] = (int)n;
	e->cells[node].first = e->n_cells;
	for (int layout = 0; layout <= UCHAR_MAX; layout++) {
		struct cell cell = {node, (unsigned char)layout, e->n_runs, 0};

		for (size_t k = 0; k < n; k++) {
			if ((o->layout ? o->layout[k] : 0) != layout)
				continue;
			e->run[e->n_runs++] = (struct run){
				.y = e->sign * (e->logarithmic ? log(o->values[k]) : o->values[k]),
				.order = o->order ? o->order[k] : 0,
				.layout = (unsigned char)layout,
			};
			cell.n++;
		}
		if (cell.n)
			e->cell[e->n_cells++] = cell;
		if (!o->layout)
			break;
	}
	e->cells[node].end = e->n_cells;
}

struct moment {
	int64_t order;
	int run;
};

static int by_order(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->run - y->run;
}

static int number_in_time(struct evidence *e)
{
	struct moment *moments = calloc((size_t)e->n_runs + 1, sizeof(*moments));

	if (!moments)
		return -ENOMEM;
	for (int i = 0; i < e->n_runs; i++)
		moments[i] = (struct moment){e->run[i].order, i};
	qsort(moments, (size_t)e->n_runs, sizeof(*moments), by_order);
	for (int i = 0; i < e->n_runs; i++)
		e->run[moments[i].run].at = i;
	free(moments);
	return 0;
}

static double cell_median(const struct evidence *e, const struct cell *c)
{
	for (int k = 0; k < c->n; k++)
		e->scratch[k] = e->run[c->first + k].y;
	return judge_sort_median(e->scratch, (size_t)c->n);
}

/*
 * Spread of a run: the median of all residuals about their own cell's median, cells of four runs or more (with fewer the
 * median sticks to the runs). From all commits: the anchors alone are too few (JUDGE.md C.4).
 */
static double find_sigma(const struct evidence *e)
{
	double *residual = e->scratch + e->n_runs;
	size_t n = 0;

	for (int least = 4; n == 0 && least >= 2; least -= 2)
		for (int c = 0; c < e->n_cells; c++) {
			const struct cell *cell = &e->cell[c];
			double median;

			if (cell->n < least)
				continue;
			median = cell_median(e, cell);
			for (int k = 0; k < cell->n; k++)
				residual[n++] = fabs(e->run[cell->first + k].y - median) *
						sqrt(cell->n / (cell->n - 1.0));
		}
	return n ? JUDGE_MAD_TO_SD * judge_sort_median(residual, n) : 0;
}

static void set_sigma(struct evidence *e)
{
	double largest = 0;

	for (int i = 0; i < e->n_runs; i++)
		largest = fmax(largest, fabs(e->run[i].y));
	/* the resolution of the metric is not known: nothing is finer than this */
	e->sigma = fmax(find_sigma(e), 1e-9 * fmax(1, largest));
}

static int fill(struct evidence *e)
{
	int r = find_images(e);

	if (r < 0)
		return r;
	e->logarithmic = all_positive(e);
	for (int i = 0; i < e->dag->n; i++) {
		if (e->same[i] == i) {
			add_node(e, i);
			continue;
		}
		e->runs[i] = e->runs[e->same[i]];
		e->cells[i] = e->cells[e->same[i]];
	}
	set_sigma(e);
	return number_in_time(e);
}

int evidence_init(const struct judge_dag *dag, const struct judge_obs *obs,
		  const struct judge_options *opt, struct evidence *ret)
{
	struct evidence e = {.dag = dag, .obs = obs, .opt = opt};
	size_t n = (size_t)dag->n, runs = 0;
	int r;

	e.sign = opt->better == JUDGE_HIGHER ? -1 : 1;
	for (int i = 0; i < dag->n; i++)
		runs += obs[i].n_values;
	if (runs > INT_MAX / 4)
		return -E2BIG;
	e.run = calloc(runs + 1, sizeof(*e.run));
	e.cell = calloc(runs + 1, sizeof(*e.cell));
	e.same = calloc(n, sizeof(*e.same));
	e.runs = calloc(n, sizeof(*e.runs));
	e.cells = calloc(n, sizeof(*e.cells));
	e.scratch = calloc(2 * runs + 1, sizeof(*e.scratch));
	r = e.run && e.cell && e.same && e.runs && e.cells && e.scratch ? fill(&e) : -ENOMEM;
	if (r < 0)
		evidence_done(&e);
	else
		*ret = e;
	return r;
}

void evidence_done(struct evidence *e)
{
	free(e->run);
	free(e->cell);
	free(e->same);
	free(e->runs);
	free(e->cells);
	free(e->scratch);
	*e = (struct evidence){0};
}

double evidence_from_change(const struct evidence *e, double change, double level)
{
	return e->logarithmic ? log1p(change) : change * fabs(level);
}

const struct cell *evidence_cell(const struct evidence *e, int node, unsigned char layout)
{
	for (int c = e->cells[node].first; c < e->cells[node].end; c++)
		if (e->cell[c].layout == layout)
			return &e->cell[c];
	return NULL;
}

static int by_time(const void *a, const void *b)
{
	return ((const struct run *)a)->at - ((const struct run *)b)->at;
}

int evidence_runs(const struct evidence *e, int node, int64_t after, struct run **ret)
{
	struct run *runs = calloc((size_t)e->runs[node] + 1, sizeof(*runs));
	int n = 0;

	if (!runs)
		return -ENOMEM;
	for (int c = e->cells[node].first; c < e->cells[node].end; c++)
		for (int k = e->cell[c].first; k < e->cell[c].first + e->cell[c].n; k++)
			if (e->run[k].order > after)
				runs[n++] = e->run[k];
	qsort(runs, (size_t)n, sizeof(*runs), by_time);
	*ret = runs;
	return n;
}

struct level evidence_level(const struct evidence *e, int node, int64_t after)
{
	struct level level = {.mean = NAN};
	double *y = e->scratch, median, sum = 0;

	for (int c = e->cells[node].first; c < e->cells[node].end; c++) {
		int before = level.n;

		for (int k = e->cell[c].first; k < e->cell[c].first + e->cell[c].n; k++)
			if (e->run[k].order > after)
				y[level.n++] = e->run[k].y;
		level.cells += level.n > before;
	}
	median = judge_sort_median(y, (size_t)level.n);
	for (int k = 0; k < level.n; k++)
		sum += fmin(fmax(y[k], median - CLIP * e->sigma), median + CLIP * e->sigma);
	if (level.n)
		level.mean = sum / level.n;
	return level;
}

/* Residuals of both anchors, y in place of the value; ret has room for them. Returns how many. */
static int anchor_residuals(const struct evidence *e, struct run *ret)
{
	const int anchors[] = {0, e->dag->n - 1};
	int n = 0;

	for (int i = 0; i < 2; i++) {
		const struct cell_span *span = &e->cells[anchors[i]];
		double mean = evidence_level(e, anchors[i], INT64_MIN).mean;

		for (int c = span->first; c < span->end; c++)
			for (int k = e->cell[c].first; k < e->cell[c].first + e->cell[c].n; k++) {
				ret[n] = e->run[k];
				ret[n++].y = fmin(fmax(e->run[k].y - mean, -CLIP * e->sigma), CLIP * e->sigma);
			}
	}
	qsort(ret, (size_t)n, sizeof(*ret), by_time);
	return n;
}

/* The kernel average at a moment; `but` leaves one residual out, -1 none. Far ones do not count. */
static double drift_at(const struct run *r, int n, double reach, int at, int but)
{
	double sum = 0, weight = 1;

	for (int i = 0; i < n; i++) {
		double k = exp(-fabs((double)(r[i].at - at)) / reach);

		if (i == but || k < 1e-4)
			continue;
		sum += k * r[i].y;
		weight += k;
	}
	return sum / weight;
}

/* Sum of squares of what is left of the residuals, each predicted by the others. */
static double left_out(const struct run *r, int n, double reach)
{
	double sum = 0;

	for (int i = 0; i < n; i++) {
		double left = r[i].y - drift_at(r, n, reach, r[i].at, i);

		sum += left * left;
	}
	return sum;
}

int evidence_take_off_drift(struct evidence *e, bool *ret_drifts)
{
	struct run *r = calloc((size_t)e->n_runs + 1, sizeof(*r));
	double before = 0, least = INFINITY, reach = 0;
	bool drifts;
	int n;

	if (!r)
		return -ENOMEM;
	n = anchor_residuals(e, r);
	for (int i = 0; i < n; i++)
		before += r[i].y * r[i].y;
	for (size_t k = 0; k < sizeof(drift_reaches) / sizeof(*drift_reaches); k++) {
		double left = left_out(r, n, drift_reaches[k]);

		if (left < least) {
			least = left;
			reach = drift_reaches[k];
		}
	}
	drifts = n >= DRIFT_RUNS_MIN && least < DRIFT_GAIN * before;
	for (int i = 0; drifts && i < e->n_runs; i++)
		e->run[i].y -= drift_at(r, n, reach, e->run[i].at, -1);
	free(r);
	if (drifts)
		set_sigma(e);
	*ret_drifts = drifts;
	return 0;
}
