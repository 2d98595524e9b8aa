/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How likely the runs of one build are at each level and spread. Private to this room.
 *
 * A run is y = mu + u + e: mu the level of its side, u ~ N(0, lambda s^2) one draw a build (code layout), e one a
 * boot, contaminated normal: (1 - eps) N(0, s^2) + eps N(0, (6 s)^2), eps = 0.04, so that a single run
 * can only say so much (JUDGE.md C.4). Levels and spreads live on a grid around estimates; the
 * estimates are rounded, so that the tables of most builds stay valid when a run is added.
 */
#ifndef MMB_JUDGE_MODEL_H
#define MMB_JUDGE_MODEL_H

#include "daemon/judge/evidence.h"

#define MODEL_LEVELS 31 /* of each side: -1.5 to 1.5 sigma */
#define MODEL_STEP 0.1 /* between them, in sigmas */
#define MODEL_SPREADS 6
#define MODEL_LAMBDAS 3

struct grid {
	double level[2]; /* middle of the good and the bad side's levels */
	double sigma;
	int lambdas; /* 1: builds do not differ */
};

/* Levels and spread rounded to the lattice that makes tables last. */
struct grid model_grid(double good, double bad, double sigma, bool jitter);

bool model_same_grid(const struct grid *a, const struct grid *b);
double model_spread(const struct grid *g, int s);
double model_lambda(int k);
double model_lambda_prior(const struct grid *g, int k);

/* ln p(runs of the build | side's level l, spread s, lambda k). */
struct cell_table {
	double ln[MODEL_LAMBDAS][MODEL_SPREADS][2][MODEL_LEVELS];
};

/* ln of the contaminated normal's density, tabled; NULL: no memory. */
struct density;
struct density *density_new(void);
struct density *density_free(struct density *d);

/*
 * A cell's table, kept with what it was made from: made anew only as far as the grid or the runs changed.
 * All zero is an empty one; table_free().
 */
struct table;
struct table *table_new(void);
struct table *table_free(struct table *t);
/* NULL: no memory. Valid until the next call. */
const struct cell_table *table_of(struct table *t, const struct density *density, const struct grid *g,
				  const struct run *runs, int n);

#endif
