/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What to measure next, and when the search is over: a pure function of all observations.
 *
 * No I/O, no clock, no random source, no state: the same input gives the same answer, so a caller
 * that was killed asks again. The anchors come first; no difference for the worse between them ends
 * the search. Then, one commit at a time, bisection on the graph as git does it; commits that
 * cannot be tested are avoided but stay candidates. Exact metrics take one run a commit and this is
 * plain binary search; the noisy classes take `runs` runs a commit and a rank test between the
 * anchors. (The search that weighs noise on the way is to take the place of
 * search.c and sides.c behind this header.)
 *
 * Observations and options are borrowed. A decision is the caller's; judge_decision_done() frees
 * its content. -EINVAL: a wrong graph, an option out of range, values NULL; -E2BIG and -ENOMEM as
 * in stats.h.
 */
#ifndef MMB_JUDGE_JUDGE_H
#define MMB_JUDGE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/judge/compare.h"
#include "daemon/judge/dag.h"

enum judge_state {
	JUDGE_UNTESTED,
	JUDGE_TESTED,
	JUDGE_SKIPPED, /* does not build or boot */
	JUDGE_SLOW,    /* overran its time limit where the good side did not: bad */
};

/*
 * One a node. UNTESTED and TESTED differ for the reader only: what counts is whether there are as
 * many values as wanted. A value that is not finite makes its node SKIPPED.
 */
struct judge_obs {
	enum judge_state state;
	const double *values; /* of the ok runs */
	size_t n_values;
};

struct judge_options {
	enum judge_class cls;
	enum judge_better better;
	double floor;  /* see judge_compare() */
	unsigned runs; /* ok runs a commit, noisy classes; 0 is 1; exact takes 1 */
	bool first_parent;
	double alpha; /* level of the rank test between the anchors, below 1; 0 is JUDGE_ALPHA */
};

struct judge_want {
	int node;
	unsigned runs; /* ok runs wanted on this node in total */
};

enum judge_verdict { JUDGE_CULPRIT, JUDGE_SET, JUDGE_NOT_REPRODUCED, JUDGE_GAVE_UP };
enum judge_action { JUDGE_MEASURE, JUDGE_DONE };

struct judge_candidate {
	int node;
	double probability;
};

struct judge_decision {
	enum judge_action action;
	struct judge_want wants[2]; /* MEASURE: the anchors that lack runs, or one commit */
	size_t n_wants;
	enum judge_verdict verdict;	    /* DONE only */
	int culprit;			    /* CULPRIT only, else -1 */
	struct judge_candidate *candidates; /* CULPRIT and SET: probabilities add up to 1 */
	size_t n_candidates;
	int last_good, first_bad;	/* nearest measured commits around what is left */
	size_t remaining;		/* candidates left, the first bad one included */
	unsigned steps_left;		/* estimate: commits to measure after the anchors */
	struct judge_comparison change; /* good anchor against bad; n_before 0: not known yet */
	char reason[160];		/* one line for a person: why this */
};

/* Frees the content; a decision that is all zero is fine too. */
void judge_decision_done(struct judge_decision *d);

/*
 * obs has dag->n entries. Noisy anchors that the rank test cannot tell apart are asked for up to
 * three times `runs` runs (so the test is taken up to three times). Data that contradict
 * themselves, a good commit that descends from a bad one, still end: in a bad commit whose parents
 * are good, and `reason` says so.
 */
int judge_next(const struct judge_dag *dag, const struct judge_obs *obs,
	       const struct judge_options *opt, struct judge_decision *ret);

enum judge_side { JUDGE_SIDE_UNKNOWN, JUDGE_SIDE_GOOD, JUDGE_SIDE_BAD, JUDGE_SIDE_SKIP };

/*
 * One of n nodes, as judge_next() reads it: nearer to the good or to the bad anchor, by medians, on
 * a logarithmic scale where both are positive. UNKNOWN while there are too few values here or on an
 * anchor, or the anchors' medians do not differ for the worse.
 */
enum judge_side judge_side(const struct judge_obs *obs, int node, int n,
			   const struct judge_options *opt);

#endif
