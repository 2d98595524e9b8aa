/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All changes of an exact metric in one range, not only the first one. Private to this room.
 *
 * Exact values are levels. The changes that are known say which level each commit should have: the
 * good anchor's, moved by every change among its ancestors. The earliest measured commit with
 * another level than that is searched behind as any first bad commit is, until its parents are
 * measured or cannot be; that is one change more, and the next round knows it. A third level that
 * the main search came across starts such a round, and so does a level that the main culprit does
 * not explain. Where everything measured is explained, nothing more is asked for.
 *
 * What counts: more than the floor, and either 2 % of the whole change (a second regression on top
 * of a large one) or a tenth of its factor (a second one far below it). Steps too small to count
 * may still add up to a difference that does not: the search for it ends between neighbours that
 * are alike, the creep is put down to no commit and what is above it is expected to have it.
 *
 * Reverts that leave no trace: of each hint the reverted commit is measured when all else is
 * explained. Has it the level that is expected of it, it was no change. If not, its parent is next,
 * then the reverting commit and its parent: at most four measurements a revert.
 *
 * Budget: CHANGES_SEARCHED changes. Each costs one bisection at most, log2 of the commits between
 * two measured ones: so at most eight times what the main search cost. More changes than that in one
 * range are no matter of bisection; where the search was cut the rest is a set, marked `cut`.
 *
 * Recomputed from the observations with each call. -ENOMEM.
 */
#ifndef MMB_JUDGE_CHANGES_H
#define MMB_JUDGE_CHANGES_H

#include "daemon/judge/judge.h"

#define CHANGES_SEARCHED 8

/*
 * `d` is a DONE decision of the plain search. Turns it into a MEASURE of phase EXPLAIN, or fills in
 * its changes and puts the main one in the place of the culprit: the regression with the largest
 * effect of those that still stand at the bad end. Without any such change it stays as it is.
 */
int judge_explain(const struct judge_dag *dag, const struct judge_obs *obs,
		  const struct judge_options *opt, struct judge_decision *d);

#endif
