/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two samples of one metric, side by side: how large is the change, how sure is it, is it for the
 * worse?
 *
 * Samples are borrowed; the answer is a plain value. -EINVAL: an empty sample or a floor that is no
 * number >= 0. -EDOM: a value that is not finite. -E2BIG, -ENOMEM as in stats.h.
 */
#ifndef MMB_JUDGE_COMPARE_H
#define MMB_JUDGE_COMPARE_H

#include <stddef.h>

enum judge_class { JUDGE_EXACT, JUDGE_COUNT, JUDGE_TIME };
enum judge_better { JUDGE_LOWER, JUDGE_HIGHER };
enum judge_relation { JUDGE_SAME, JUDGE_WORSE, JUDGE_IMPROVED, JUDGE_UNCLEAR };

/* Level of the rank test of judge_compare(), and of a search that names none: 5 v 5 runs reach
 * 0.0079. */
#define JUDGE_ALPHA 0.01

struct judge_comparison {
	enum judge_relation relation;
	double before, after; /* medians, unit of the values */
	double ratio;	      /* after / before; 0/0 is 1, x/0 infinite */
	double low, high; /* 95 % interval of the ratio, NAN: too few values; the ratio itself if
			     exact */
	double p;	  /* two-sided; exact class: 0 when the samples are apart, else 1 */
	size_t n_before, n_after;
};

/*
 * floor: smallest relative change of the medians that counts, 0.005 is half a percent; any change
 * from zero counts. Noisy classes: WORSE and IMPROVED need p <= JUDGE_ALPHA and a change above the
 * floor, SAME needs the whole interval within the floor, anything else is UNCLEAR. The interval
 * holds the pairwise ratios (Hodges-Lehmann), widened to hold `ratio`. Exact class: one value a
 * side is enough.
 */
int judge_compare(const double *before, size_t n_before, const double *after, size_t n_after,
		  enum judge_class cls, enum judge_better better, double floor,
		  struct judge_comparison *ret);

/* (after - before) / |before|; infinite from zero to anything else. */
double judge_relative_change(double before, double after);
/* after / before; 0/0 is 1, x/0 infinite. */
double judge_ratio(double before, double after);

/* The relation of an existing comparison at another level of the rank test. */
enum judge_relation judge_relation_at(const struct judge_comparison *c, enum judge_class cls,
				      enum judge_better better, double floor, double alpha);

#endif
