/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which candidate is the culprit: the posterior over all of them, levels and spreads integrated out. Private to this room.
 *
 * How well a candidate explains the runs depends only on which measured commits contain it, so it is worked out once for each such
 * class: on a strand that is one a gap between measured commits.
 */
#ifndef MMB_JUDGE_POSTERIOR_H
#define MMB_JUDGE_POSTERIOR_H

#include "daemon/judge/evidence.h"
#include "daemon/judge/memo.h"
#include "daemon/judge/model.h"

struct posterior {
	int n;
	double *mass; /* a node: P(it is the culprit); the good anchor has 0 */
	double *bad;  /* a node: P(it is bad) */
	int *atom;    /* a node: the last one of those that no testable commit tells apart */
	double *atom_mass; /* of atom leaders, else 0 */
	int best;	   /* leader of the likeliest atom */
	double step;	   /* expected change, bad less good, on the evidence's scale */
	double sigma;	   /* expected spread of one run, root mean square */
	double lambda;	   /* expected variance between builds, in variances of one run */
	bool impossible;   /* no candidate explains all constraints: slow and equal images contradict each other */
};

/* -ENOMEM. The anchors must have runs. */
int posterior_init(const struct evidence *e, struct judge_memo *memo, struct posterior *ret);
void posterior_done(struct posterior *p);

/* Has the node values, or can it get any? Not skipped and not slow. */
bool posterior_testable(const struct evidence *e, int node);

#endif
