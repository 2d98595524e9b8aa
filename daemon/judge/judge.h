/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What to measure next, and when the search is over: a pure function of all observations.
 *
 * No I/O, no clock, no random source, no state: the same input gives the same answer, so a caller
 * that was killed asks again. The anchors come first; no difference for the worse between them ends
 * the search. Exact metrics then take one run a commit, and this is bisection on the graph as git
 * does it; with several slots also those that would follow, where their images are there already. It
 * goes on until every change of the range is known (changes.h). The noisy classes are searched by
 * posterior (noisy.h): what to run next is what tells most for its seconds, the answer is confirmed by fresh runs of parent and culprit. Commits that
 * cannot be tested are avoided but stay candidates.
 *
 * Observations and options are borrowed. A decision is the caller's; judge_decision_done() frees
 * its content. -EINVAL: a wrong graph, an option out of range, values NULL; -E2BIG and -ENOMEM as
 * in stats.h.
 */
#ifndef MMB_JUDGE_JUDGE_H
#define MMB_JUDGE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	/* Noisy classes. One entry a value, NULL: all 0. */
	const int64_t *order;	     /* its place in time among all runs of the search, ascending */
	const unsigned char *layout; /* build variant it ran on, 0: as the commit is */
	int image;		     /* equal numbers > 0: one image, whose values all of them list; 0: not known */
	/* All classes. */
	double build_seconds; /* what an image would cost now; 0: it is there */
};

/* From `order` on the runs of this candidate and its parents are a fresh look at it. */
struct judge_mark {
	int node;
	int64_t order; /* runs with a larger one are fresh */
};

/* What the messages of commits say of others in the range: this one was reverted by that one. */
struct judge_hint {
	int reverted, reverting; /* nodes */
};

/* What is kept between calls to be quicker; never changes an answer. One search each. */
struct judge_memo;
struct judge_memo *judge_memo_new(void); /* NULL: no memory */
struct judge_memo *judge_memo_free(struct judge_memo *memo);

struct judge_options {
	enum judge_class cls;
	enum judge_better better;
	double floor;  /* exact: see judge_compare(); noisy: smallest relative change worth a search */
	bool first_parent;
	const struct judge_hint *hints; /* exact: reverts that are looked at, in order */
	size_t n_hints;
	/* Noisy classes; what is 0 or NULL has a default. */
	double claim;	      /* relative change that made somebody ask, 0.2 is 20 %; 0: not known */
	double run_seconds;   /* of one more run; 0 is 1 */
	double confidence;    /* probability at which one answer is enough; 0 is 0.99 */
	unsigned max_runs;    /* budget: runs of all nodes together; 0 is JUDGE_MAX_RUNS */
	bool jitter;	      /* the same source built otherwise may measure otherwise */
	unsigned char layouts; /* build variants that can be asked for; 0 is 1 */
	unsigned slots;	      /* all classes: wants that can be worked on at once; 0 is 1 */
	const struct judge_mark *marks; /* all that decisions have asked to remember, in order */
	size_t n_marks;
	struct judge_memo *memo; /* the caller's; may be NULL */
};

struct judge_want {
	int node;
	unsigned runs; /* ok runs wanted on this node (and layout) in total */
	unsigned char layout;
};

enum judge_phase { JUDGE_ANCHORS, JUDGE_SEARCH, JUDGE_CONFIRM, JUDGE_EXPLAIN };
#define JUDGE_WANTS_MAX 16
#define JUDGE_MAX_RUNS 4000

enum judge_verdict { JUDGE_CULPRIT, JUDGE_SET, JUDGE_NOT_REPRODUCED, JUDGE_GAVE_UP };
enum judge_action { JUDGE_MEASURE, JUDGE_DONE };

struct judge_candidate {
	int node;
	double probability;
};

enum judge_change_kind {
	JUDGE_REGRESSION,
	JUDGE_IMPROVEMENT,
	JUDGE_RECOVERED, /* a regression that a later change of the range took back */
};

/* One of the changes of an exact metric in the range. */
struct judge_change {
	enum judge_change_kind kind;
	int node;   /* the first commit that was measured to have it */
	int good;   /* the nearest one before that was measured */
	int *nodes; /* it is one of these, ascending; the last one is `node` */
	size_t n_nodes;
	double before, after, ratio;
	int recovered_by; /* RECOVERED: the place of the change that took it back; else -1 */
	bool cut;	  /* the budget was spent before the commit was found */
};

struct judge_decision {
	enum judge_action action;
	enum judge_phase phase;
	/* MEASURE: to be run in this order (later ones of one node ask for more), as often as slots allow at once. */
	struct judge_want wants[JUDGE_WANTS_MAX];
	size_t n_wants;
	bool has_mark; /* MEASURE: `mark` is to be stored with the search before the wants are met */
	struct judge_mark mark;
	enum judge_verdict verdict;	    /* DONE only */
	int culprit;			    /* CULPRIT only, else -1 */
	struct judge_candidate *candidates; /* CULPRIT and SET: probabilities add up to 1 */
	size_t n_candidates;
	int last_good, first_bad;	/* nearest measured commits around what is left */
	size_t remaining;		/* candidates left, the first bad one included */
	unsigned steps_left;		/* estimate: commits to measure after the anchors */
	struct judge_comparison change; /* good anchor against bad; n_before 0: not known yet */
	/* Noisy classes, NAN or 0 until known. */
	double effect;	     /* change between the anchors in standard deviations of one run */
	double explained, explained_low, explained_high; /* share of the change that the culprit makes, 95 % */
	bool partial;	     /* CULPRIT: the rest of the change has another cause, see rest_* */
	int rest_good, rest_bad; /* partial: where it is to be looked for */
	unsigned runs_needed; /* NOT_REPRODUCED, GAVE_UP: an end, to see a change of the claim's size; 0: not a matter of runs */
	/* DONE, exact: all changes in the order of the graph, the main one among them. 0: not looked for. */
	struct judge_change *changes;
	size_t n_changes;
	int main_change; /* its place; -1: none of them */
	char reason[160];		/* one line for a person: why this */
};

/* Frees the content; a decision that is all zero is fine too. */
void judge_decision_done(struct judge_decision *d);

/*
 * obs has dag->n entries. Exact data that contradict themselves, a good commit that descends from a
 * bad one, still end: in a bad commit whose parents are good, and `reason` says so. Noisy searches end
 * in GAVE_UP with what is likely in `candidates` when the budget is spent.
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
