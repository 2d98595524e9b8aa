/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one who knows the truth says of an answer.
 *
 * Right is a commit that made things worse, or a set around it that nobody need take apart: the
 * others do not build. Such a set holds all commits that no test whatever can tell from the
 * culprit, and it may hold those that no test among the ancestors of the first bad commit can,
 * which is how far git looks. -ENOMEM is all that fails.
 */
#ifndef MMB_SIMULATE_REFEREE_H
#define MMB_SIMULATE_REFEREE_H

#include "daemon/simulate/world.h"

enum outcome {
	OUTCOME_RIGHT,
	OUTCOME_WRONG,
	OUTCOME_WIDE, /* a set that holds a culprit and is wider than it must be */
	OUTCOME_GAVE_UP,
	OUTCOME_NOT_REPRODUCED,
	OUTCOME_OPPOSITE, /* not reproduced: the bad end is better */
	OUTCOME_BROKEN,	  /* the method asked for what it had, or without end, or names nobody */
	OUTCOME_N,
};

/* An answer of n nodes, of which one is said to be the culprit: RIGHT, WRONG or WIDE. */
int referee_judge(const struct world *w, const int *nodes, size_t n, enum outcome *ret);
/* Is it a commit that made things worse? */
bool referee_is_culprit(const struct world *w, int node);
/* Or one that no test can tell from it? False when there is no memory to say. */
bool referee_is_near_culprit(const struct world *w, int node);

#endif
