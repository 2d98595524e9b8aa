/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Grid points beyond the levels, for builds that lie off them. */
#define MARGIN 17
#define WIDE (MODEL_LEVELS + 2 * MARGIN)
#define MIDDLE 15 /* (MODEL_LEVELS - 1) / 2 */
_Static_assert(2 * MIDDLE + 1 == MODEL_LEVELS, "the middle level");

#define OUTLIERS 0.04
#define OUTLIER_SPREAD 6.0

static const double spreads[MODEL_SPREADS] = {0.6, 0.75, 0.92, 1.12, 1.35, 1.7};
static const double lambdas[MODEL_LAMBDAS] = {0, 0.05, 0.20};
static const double lambda_priors[MODEL_LAMBDAS] = {0.75, 0.15, 0.10};

/* Draws of a build about its side's level: a normal in seven points. */
#define DRAWS 7
static const double draws[DRAWS] = {-2.25, -1.5, -0.75, 0, 0.75, 1.5, 2.25};

/* Of grid point l, which may lie in the margin. */
static double level_at(const struct grid *g, int side, int l)
{
	return g->level[side] + MODEL_STEP * g->sigma * (l - MIDDLE);
}

double model_spread(const struct grid *g, int s)
{
	return g->sigma * spreads[s];
}

double model_lambda(int k)
{
	return lambdas[k];
}

double model_lambda_prior(const struct grid *g, int k)
{
	return g->lambdas == 1 ? 1 : lambda_priors[k];
}

struct grid model_grid(double good, double bad, double sigma, bool jitter)
{
	struct grid g = {.lambdas = jitter ? MODEL_LAMBDAS : 1};

	g.sigma = pow(1.1, round(log(sigma) / log(1.1)));
	g.level[0] = round(good / (0.25 * g.sigma)) * 0.25 * g.sigma;
	g.level[1] = round(bad / (0.25 * g.sigma)) * 0.25 * g.sigma;
	return g;
}

/* ln of the contaminated normal's density for spread 1, tabled over |z|. */
#define Z_MAX 40.0
#define Z_STEPS 2000
struct density {
	double ln[Z_STEPS + 2];
};

static double ln_density_exactly(double z)
{
	double narrow = log1p(-OUTLIERS) - z * z / 2;
	double wide = log(OUTLIERS / OUTLIER_SPREAD) - z * z / (2 * OUTLIER_SPREAD * OUTLIER_SPREAD);
	double high = fmax(narrow, wide);

	return high + log(exp(narrow - high) + exp(wide - high));
}

struct density *density_new(void)
{
	struct density *d = calloc(1, sizeof(*d));

	for (int i = 0; d && i < Z_STEPS + 2; i++)
		d->ln[i] = ln_density_exactly(i * Z_MAX / Z_STEPS);
	return d;
}

struct density *density_free(struct density *d)
{
	free(d);
	return NULL;
}

static double ln_density(const struct density *d, double z)
{
	double x = fabs(z) * (Z_STEPS / Z_MAX);
	int i = (int)x;

	if (!(x < Z_STEPS))
		return ln_density_exactly(z);
	return d->ln[i] + (x - i) * (d->ln[i + 1] - d->ln[i]);
}

struct table {
	struct grid grid;
	double *y; /* what is in `wide` */
	int n, capacity;
	double wide[MODEL_SPREADS][2][WIDE]; /* sums over runs, no draw of the build */
	struct cell_table out;
	bool out_valid;
};

struct table *table_new(void)
{
	return calloc(1, sizeof(struct table));
}

struct table *table_free(struct table *t)
{
	if (t)
		free(t->y);
	free(t);
	return NULL;
}

static bool same(double a, double b)
{
	return !(a < b) && !(a > b);
}

bool model_same_grid(const struct grid *a, const struct grid *b)
{
	return same(a->level[0], b->level[0]) && same(a->level[1], b->level[1]) && same(a->sigma, b->sigma) &&
	       a->lambdas == b->lambdas;
}

static bool is_prefix(const struct table *t, const struct run *runs, int n)
{
	if (t->n > n)
		return false;
	for (int i = 0; i < t->n; i++)
		if (!same(t->y[i], runs[i].y))
			return false;
	return true;
}

static void add_run(struct table *t, const struct density *density, double y)
{
	for (int s = 0; s < MODEL_SPREADS; s++) {
		double spread = model_spread(&t->grid, s), ln_spread = log(spread);

		for (int side = 0; side < 2; side++) {
			double z = (y - level_at(&t->grid, side, -MARGIN)) / spread;
			double step = MODEL_STEP * t->grid.sigma / spread;

			for (int l = 0; l < WIDE; l++)
				t->wide[s][side][l] += ln_density(density, z - l * step) - ln_spread;
		}
	}
}

/* ln of the mean of exp over the draws of a build, its level being grid point l. */
static double over_draws(const double *wide, int l, double tau)
{
	double ln[DRAWS], high = -INFINITY, sum = 0, weight = 0;

	for (int d = 0; d < DRAWS; d++) {
		double x = fmin(fmax(l + MARGIN + draws[d] * tau / MODEL_STEP, 0), WIDE - 1.001);
		int i = (int)x;

		ln[d] = wide[i] + (x - i) * (wide[i + 1] - wide[i]);
		high = fmax(high, ln[d]);
	}
	for (int d = 0; d < DRAWS; d++) {
		double w = exp(-draws[d] * draws[d] / 2);

		sum += w * exp(ln[d] - high);
		weight += w;
	}
	return high + log(sum / weight);
}

static void make_out(struct table *t)
{
	for (int s = 0; s < MODEL_SPREADS; s++)
		for (int side = 0; side < 2; side++) {
			const double *wide = t->wide[s][side];

			memcpy(t->out.ln[0][s][side], wide + MARGIN, MODEL_LEVELS * sizeof(*wide));
			for (int k = 1; k < t->grid.lambdas; k++) {
				double tau = sqrt(lambdas[k]) * spreads[s];

				for (int l = 0; l < MODEL_LEVELS; l++)
					t->out.ln[k][s][side][l] = over_draws(wide, l, tau);
			}
		}
	t->out_valid = true;
}

static bool reserve(struct table *t, int n)
{
	int capacity = 2 * n + 8;
	double *y;

	if (n <= t->capacity)
		return true;
	y = realloc(t->y, (size_t)capacity * sizeof(*y));
	if (!y)
		return false;
	t->y = y;
	t->capacity = capacity;
	return true;
}

const struct cell_table *table_of(struct table *t, const struct density *density, const struct grid *g,
				  const struct run *runs, int n)
{
	if (!reserve(t, n))
		return NULL;
	if (!model_same_grid(&t->grid, g) || !is_prefix(t, runs, n)) {
		t->grid = *g;
		t->n = 0;
		t->out_valid = false;
		memset(t->wide, 0, sizeof(t->wide));
	}
	for (; t->n < n; t->n++) {
		t->y[t->n] = runs[t->n].y;
		add_run(t, density, runs[t->n].y);
		t->out_valid = false;
	}
	if (!t->out_valid)
		make_out(t);
	return &t->out;
}
