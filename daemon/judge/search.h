/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bisection on the graph: from the sides of all nodes to what is left and what to test next.
 * Private to this room.
 *
 * The input is borrowed, the result owns its array: judge_search_done(). Only memory can run out
 * (-ENOMEM); the graph must have passed judge_dag_check().
 */
#ifndef MMB_JUDGE_SEARCH_H
#define MMB_JUDGE_SEARCH_H

#include <stdbool.h>

#include "daemon/judge/dag.h"
#include "daemon/judge/judge.h"

struct judge_search {
	int first_bad; /* the bad node that is looked behind */
	int last_good; /* the latest measured good node among its ancestors, else the good anchor */
	int *candidates; /* ascending; first_bad is the last one */
	int n_candidates;
	int n_untested;	    /* candidates that can still be tested */
	int n_skipped;	    /* candidates that cannot */
	int pick;	    /* what to test next, -1: nothing left to test */
	int pick_weight;    /* candidates that remain if pick is bad */
	bool contradictory; /* some good node descends from a bad one */
};

/* sides[0] is read as good and sides[n-1] as bad, whatever they say. */
int judge_search_run(const struct judge_dag *dag, bool first_parent, const enum judge_side *sides,
		     struct judge_search *ret);
void judge_search_done(struct judge_search *s);

#endif
