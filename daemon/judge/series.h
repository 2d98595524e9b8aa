/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The history of one metric: its levels, and the steps between them.
 *
 * Noisy classes: judge_partition() over one number a point, the logarithm of its median where all
 * values are positive. Points differ by more than their boots do (each is another build), so n
 * boots of one point are one number. A step needs two points behind it: a single one that is off is
 * a spike. Exact class: there is no noise, so each value counts, also a single one: a step is where
 * a value is worse than the best of its segment, or better than its first, by more than the floor.
 *
 * Many small steps in one direction are seen by their sum: against the best level since the last
 * step that counts, or since what was accepted (`base`).
 *
 * Points are borrowed; judge_series_done() frees what the answer holds. -EINVAL: no points, an
 * option out of range; -EDOM: a value that is not finite; -E2BIG: more than JUDGE_SERIES_MAX
 * points; -ENOMEM.
 */
#ifndef MMB_JUDGE_SERIES_H
#define MMB_JUDGE_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/judge/compare.h"

#define JUDGE_SERIES_MAX 4096
#define JUDGE_SERIES_ALPHA 0.01

/* A commit or tip, in the order of the history. n 0: not measured, it belongs to no side of a step.
 */
struct judge_point {
	const double *values;
	size_t n;
};

struct judge_series_options {
	enum judge_class cls;
	enum judge_better better;
	double floor; /* smallest relative change that counts */
	double alpha; /* noisy: probability of any step in a series without one; 0 is
			 JUDGE_SERIES_ALPHA */
	size_t base;  /* what was before this point was accepted: no measure for what creeps */
};

struct judge_segment {
	size_t first, last; /* points with values */
	size_t n_values;
	double level;	  /* median of its values */
	double low, high; /* 95 % interval of the level; NAN: one point */
	int back_at;	  /* the older segment whose level this is again, -1 none */
};

/* From segment k to segment k + 1. */
struct judge_step {
	size_t before, after; /* the change is in one of (before, after]: more than one if some were
				 not measured */
	double ratio;	      /* level after / level before */
	double low, high;     /* 95 % interval of the ratio; the ratio itself if exact */
	double p;	      /* times the places it could have been at, at most 1; 0 if exact */
	enum judge_relation relation; /* SAME: a true step, but below the floor */
	bool creep; /* WORSE, but no single step is: below the floor, or since the best level */
	int best;   /* the best segment since `base` before this step */
	double since_best; /* level after / level of `best` */
	int recovered; /* a later segment that is back at or beyond the level before, -1 none: it is
			  open */
	double left; /* share of it in the last segment: 1 all, 0 none, negative: better than before
		      */
};

struct judge_series {
	struct judge_segment *segments;
	size_t n_segments;
	struct judge_step *steps; /* n_segments - 1 */
	bool *spike;		  /* a point: off its segment's level, and no step */
};

int judge_series(const struct judge_point *points, size_t n, const struct judge_series_options *opt,
		 struct judge_series *ret);

/* An answer that is all zero is fine too. */
void judge_series_done(struct judge_series *s);

#endif
