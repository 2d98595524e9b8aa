/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/layouts.h"

#include <math.h>
#include <stdlib.h>

#include "daemon/judge/stats.h"
#include "daemon/judge/student.h"

#define CLIP 2.5
/* Both sides have so many runs of a layout that more would say little. */
#define RUNS_ENOUGH 8
/* And with so many an outlier does not make one layout another. */
#define RUNS_SOME 4
/* ln((1 - beta) / alpha) with both 2 %, as the confirmation has it. */
#define BOUNDARY 3.8918202981106265
/* By their own spread: one-sided level of the t test, and that of the test whether noise alone could spread them so. */
#define T_TAIL 0.05
#define BY_NOISE_Z 3.0

/* The difference in one layout. */
struct unit {
	double delta;
	double noise2; /* its variance by the noise of the runs */
	int least;     /* runs of the side that has fewer */
};

bool layouts_matter(const struct evidence *e, const struct judge_options *opt, double change)
{
	double level = e->n_runs ? e->run[0].y : 1;

	return opt->jitter && opt->cls == JUDGE_TIME && opt->layouts > 1 &&
	       change < evidence_from_change(e, LAYOUTS_CHANGE, level);
}

double layouts_spread2(const struct evidence *e)
{
	double sum = 0;
	int df = 0;

	for (int i = 0; i < e->dag->n; i++) {
		double mean[LAYOUTS_MAX], middle = 0, level = evidence_level(e, i, INT64_MIN).mean;
		double low = level - CLIP * e->sigma, high = level + CLIP * e->sigma;
		int first = e->cells[i].first, n = e->cells[i].end - first;

		if (e->same[i] != i || n < 2 || n > LAYOUTS_MAX)
			continue;
		for (int c = 0; c < n; c++) {
			const struct cell *cell = &e->cell[first + c];

			mean[c] = 0;
			for (int k = cell->first; k < cell->first + cell->n; k++)
				mean[c] += fmin(fmax(e->run[k].y, low), high) / cell->n;
			middle += mean[c] / n;
			sum -= e->sigma * e->sigma / cell->n * (n - 1) / n;
		}
		for (int c = 0; c < n; c++)
			sum += (mean[c] - middle) * (mean[c] - middle);
		df += n - 1;
	}
	return df ? fmax(0, sum / df) : 0;
}

/* Mean of the runs of one layout, clipped about the middle of all of that side. */
static int mean_of(const struct run *runs, int n, int layout, double middle, double sigma, double *ret)
{
	double sum = 0;
	int count = 0;

	for (int i = 0; i < n; i++) {
		if (runs[i].layout != layout)
			continue;
		sum += fmin(fmax(runs[i].y, middle - CLIP * sigma), middle + CLIP * sigma);
		count++;
	}
	*ret = count ? sum / count : NAN;
	return count;
}

/* Median without room of its own: the value that half of the others are below. */
static double middle_of(const struct run *runs, int n)
{
	double best = n ? runs[0].y : 0;
	int least = n + 1;

	for (int i = 0; i < n; i++) {
		int below = 0, off;

		for (int k = 0; k < n; k++)
			below += k < i ? runs[k].y <= runs[i].y : runs[k].y < runs[i].y;
		off = abs(below - n / 2);
		if (off < least) {
			least = off;
			best = runs[i].y;
		}
	}
	return best;
}

static int find_units(const struct run *a, int n_a, const struct run *b, int n_b, double sigma, struct unit *ret)
{
	double middle_a = middle_of(a, n_a), middle_b = middle_of(b, n_b);
	int n = 0;

	for (int layout = 0; layout < LAYOUTS_MAX; layout++) {
		double before, after;
		int x = mean_of(a, n_a, layout, middle_a, sigma, &before);
		int y = mean_of(b, n_b, layout, middle_b, sigma, &after);

		if (x && y)
			ret[n++] = (struct unit){after - before, sigma * sigma * (1.0 / x + 1.0 / y), x < y ? x : y};
	}
	return n;
}

/* The spread between layouts is known: a change of `step` against none. */
static enum layouts_state by_known_spread(const struct unit *unit, int n, double spread2, double step)
{
	double llr = 0;
	bool same_sign = true, enough = true;

	for (int i = 0; i < n; i++) {
		llr += step * (unit[i].delta - step / 2) / (2 * spread2 + unit[i].noise2);
		same_sign &= unit[i].delta > 0;
		enough &= unit[i].least >= RUNS_ENOUGH;
	}
	if (n < 2)
		return LAYOUTS_MORE;
	if (llr >= BOUNDARY && same_sign)
		return LAYOUTS_STAYS;
	return llr <= -BOUNDARY || enough ? LAYOUTS_GOES : LAYOUTS_MORE;
}

/* Not known: a t test with as many values as there are layouts. */
static enum layouts_state by_own_spread(const struct unit *unit, int n)
{
	double mean = 0, squares = 0, noise2 = 0, t;
	bool same_sign = true, enough = true, some = true;

	if (n < 2)
		return LAYOUTS_MORE;
	for (int i = 0; i < n; i++) {
		mean += unit[i].delta / n;
		noise2 += unit[i].noise2 / n;
		same_sign &= unit[i].delta > 0;
		enough &= unit[i].least >= RUNS_ENOUGH;
		some &= unit[i].least >= RUNS_SOME;
	}
	for (int i = 0; i < n; i++)
		squares += (unit[i].delta - mean) * (unit[i].delta - mean);
	t = mean / fmax(sqrt(squares / (n - 1) / n), 1e-300);
	if (same_sign && t >= judge_student_quantile(2 * T_TAIL, n - 1))
		return LAYOUTS_STAYS;
	/* where the noise of the runs cannot be why they differ, more runs do not help */
	if (enough || (some && squares > noise2 * (n - 1) * (1 + BY_NOISE_Z * sqrt(2.0 / (n - 1)))))
		return LAYOUTS_GOES;
	return LAYOUTS_MORE;
}

enum layouts_state layouts_look(const struct run *a, int n_a, const struct run *b, int n_b, double sigma,
				double spread2, double step)
{
	struct unit unit[LAYOUTS_MAX];
	int n = find_units(a, n_a, b, n_b, sigma, unit);

	return isnan(spread2) ? by_own_spread(unit, n) : by_known_spread(unit, n, spread2, step);
}
