/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What to run next when a failure is searched for: a kernel that does not build or boot, crashes or
 * overruns its limit.
 *
 * Every way to end has a number, its kind, that the caller gives: equal status and title, equal
 * kind. What the bad end shows most is what is searched for. A commit with the same is bad (a quorum
 * of two runs, or one failed build), one that ends well often enough is good, one that fails in
 * another way cannot be tested: it hides what would come after it.
 *
 * A failure that comes in every run of a deterministic machine needs one run to be missed. Among
 * noise its rate is measured at the bad end first; then a commit is good after so many runs without
 * it that a bad one had shown it but for a small probability, in which it counts how well the rate
 * is known (a uniform prior: k of m runs leave the beta distribution of k + 1 and m - k + 1). The
 * error that may be made in all is shared out over the steps, and the parents of the culprit get as many
 * runs again. No state: the same observations give the same answer.
 *
 * Observations are borrowed, a decision is the caller's as in judge.h. -EINVAL: a wrong graph, an
 * option out of range; -ENOMEM.
 */
#ifndef MMB_JUDGE_STATUS_H
#define MMB_JUDGE_STATUS_H

#include "daemon/judge/judge.h"

#define JUDGE_KIND_OK 0
#define JUDGE_STATUS_RUNS 1000 /* budget where none is given */

enum judge_image { JUDGE_IMAGE_UNKNOWN, JUDGE_IMAGE_BUILT, JUDGE_IMAGE_FAILED };

struct judge_ending {
	int kind; /* JUDGE_KIND_OK or positive */
	unsigned runs;
};

/* One a node. */
struct judge_status_obs {
	enum judge_image image;
	int build_kind;			     /* FAILED: how */
	const struct judge_ending *endings; /* BUILT: how its runs ended; a kind once, in the order of their first runs */
	size_t n_endings;
};

struct judge_status_options {
	bool first_parent;
	bool deterministic; /* all runs of an image are expected to end alike */
	double error;	    /* probability at which a wrong commit may be named; 0 is 0.01 */
	unsigned max_runs;  /* budget; 0 is JUDGE_STATUS_RUNS */
};

/* What is searched for, as the bad end shows it. */
struct judge_failure {
	int kind; /* JUDGE_KIND_OK: nothing yet */
	bool of_build;
	unsigned same, runs; /* at the bad end: with it, and with it or well */
	unsigned good_runs;  /* runs without it that make a commit good; 0: not known yet */
	double error;	     /* of what was called good, as far as the search is; 0 when all runs end alike */
};

/* `runs` of a want are runs that ended in any way; 0: the image is enough. runs_needed is of the whole search. */
int judge_status(const struct judge_dag *dag, const struct judge_status_obs *obs, const struct judge_status_options *opt,
		 struct judge_decision *ret, struct judge_failure *ret_failure);

/* The side of one of the n nodes, as judge_status() reads it with this failure. */
enum judge_side judge_status_side(const struct judge_status_obs *obs, const struct judge_failure *failure,
				  const struct judge_status_options *opt);

/* So many runs in a row without a failure that came in k of m runs happen with a probability of at most `error`. */
unsigned judge_status_good_runs(unsigned k, unsigned m, double error);

#endif
