/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is it really this one? Fresh interleaved runs of the culprit and its parents, and then how much of the change it makes.
 * Private to this room.
 *
 * The search looked where the runs pointed, so the runs that made it stop are not to be trusted alone: only those after the mark
 * count here (JUDGE.md C.8). A sequential probability ratio test of 0.7 of the step against none, 2 % error
 * each way.
 */
#ifndef MMB_JUDGE_CONFIRM_H
#define MMB_JUDGE_CONFIRM_H

#include "daemon/judge/evidence.h"
#include "daemon/judge/posterior.h"

#define CONFIRM_PARENTS_MAX 7
#define CONFIRM_WITNESSES_MAX 4
#define CONFIRM_SIDES_MAX (CONFIRM_PARENTS_MAX + CONFIRM_WITNESSES_MAX)

enum confirm_state { CONFIRM_MORE, CONFIRM_YES, CONFIRM_NO };

struct confirm {
	enum confirm_state state;
	bool moves; /* NO: it depends on the order in which functions are linked */
	int parent[CONFIRM_PARENTS_MAX]; /* testable commits just outside of the atom; the good anchor when there is none */
	int n_parents;
	int witness[CONFIRM_WITNESSES_MAX]; /* are run for the culprit: itself, or the nearest testable commits that have it */
	int n_witnesses;
	int fresh[CONFIRM_SIDES_MAX]; /* runs after the mark: of each parent, then of each witness */
	int64_t settled; /* YES: the last run that was needed for it */
};

/* Of the atom whose leader is mark->node. -ENOMEM. */
int confirm_look(const struct evidence *e, const struct posterior *p, const struct judge_mark *mark, struct confirm *ret);

/* Share of the whole change that lies between parent and culprit. */
struct explained {
	double share, low, high; /* 95 % */
	bool more_before, more_after; /* another change between good and parent, between culprit and bad */
	int wants[2]; /* nodes that should be run again before this is said, -1 none */
};

struct explained confirm_explain(const struct evidence *e, const struct posterior *p, int culprit, int parent);

#endif
