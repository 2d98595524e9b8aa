/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_RECORDING_H
#define MMB_RECORDING_H

/*
 * A search on paper: a graph of commits, and a table of what was measured of them (docs/architecture.md, "A recorded search").
 *
 * A struct recording owns all of it. Files may be written by hand: what is wrong with one is said in words, -EINVAL.
 */
#include "daemon/judge/judge.h"
#include "lib/error.h"
#include "lib/json.h"

/* What the table says of an image. */
struct recorded {
	enum judge_state state; /* JUDGE_UNTESTED: the table does not have it */
	double *samples;
	unsigned char *layout; /* of each; NULL: all 0 */
	size_t n;
};

struct recording {
	struct judge_dag dag; /* node 0 good, last node bad */
	int *parent_start, *parents;
	int n_parents;
	char **ids, **subjects; /* a node each; a subject may be NULL */
	int *image;		/* a node: its place in `table`; nodes of one image share it */
	struct recorded *table; /* a node each; only the places that `image` names are used */
	char *metric, *unit;	/* NULL: not said */
	double build_seconds;	/* of an image that is not there */
	struct judge_options options;
	struct judge_hint *hints; /* options.hints */
};

int recording_read(const json_t *document, struct error *err, struct recording *ret);
void recording_done(struct recording *recording);

#endif
