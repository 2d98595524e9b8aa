/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All runs of a search, as the model wants them. Private to this room.
 *
 * One run is one boot: a number y on a scale on which higher is worse, and logarithmic where all values are
 * positive, so that a difference is a relative change. Runs of one build (commit and layout) form
 * a cell. Commits of one image share the cells of the first of them.
 *
 * Graph, observations and options are borrowed; the evidence owns its arrays. -ENOMEM; -E2BIG: more runs than
 * an int counts.
 */
#ifndef MMB_JUDGE_EVIDENCE_H
#define MMB_JUDGE_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/judge/judge.h"

struct run {
	double y;
	int64_t order; /* the caller's */
	int at;	       /* place in time among all runs, 0 is the first */
	unsigned char layout;
};

struct cell {
	int node;
	unsigned char layout;
	int first, n; /* runs of it: run[first] to run[first + n - 1], in time */
};

/* cell[first] to cell[end - 1] */
struct cell_span {
	int first, end;
};

struct evidence {
	const struct judge_dag *dag;
	const struct judge_obs *obs;
	const struct judge_options *opt;
	bool logarithmic;
	double sign; /* -1: higher values are better */
	struct run *run;
	int n_runs;
	struct cell *cell; /* by node, then layout */
	int n_cells;
	int *same;  /* a node: the first one of its image, or itself */
	int *runs;  /* a node: runs of its image, on all layouts */
	struct cell_span *cells; /* a node: its image's, which are neighbours */
	double *scratch; /* room for two numbers a run */
	double sigma; /* spread of one run about its cell's level, > 0 */
};

int evidence_init(const struct judge_dag *dag, const struct judge_obs *obs,
		  const struct judge_options *opt, struct evidence *ret);
void evidence_done(struct evidence *e);

/* How a relative change looks on this scale, and back. `level` is a value of the caller's, for linear scales. */
double evidence_from_change(const struct evidence *e, double change, double level);

/* The cell of (node, layout) or NULL. */
const struct cell *evidence_cell(const struct evidence *e, int node, unsigned char layout);

/*
 * The runs of a node's image that come after `after`, in time: the caller frees *ret. Returns how many, or -ENOMEM.
 */
int evidence_runs(const struct evidence *e, int node, int64_t after, struct run **ret);

struct level {
	double mean;
	int n; /* runs */
	int cells;
};

/* Mean of all runs of a node's image that come after `after`, clipped at 2.5 sigma about their median. n 0: there is none. */
struct level evidence_level(const struct evidence *e, int node, int64_t after);

/*
 * A drift of the machine in the course of the search, seen on both anchors, is taken off all runs: a run's correction is the kernel
 * average of the anchors' residuals (JUDGE.md C.10). Only if it makes the anchors' own left-out residuals smaller by a tenth:
 * *ret_drifts then. -ENOMEM.
 */
int evidence_take_off_drift(struct evidence *e, bool *ret_drifts);

#endif
