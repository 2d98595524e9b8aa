/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What to run next in a noisy search: what is expected to tell most bits for its seconds. Private to this room.
 *
 * Three kinds of action compete: runs of a commit that is not built yet, more runs of one that is (or of another layout of it), more
 * runs of an anchor, whose level all others are read against. After JUDGE.md C.6; without the last
 * kind, and without counting what neighbours on the same side tell already, searches run one commit for ever.
 */
#ifndef MMB_JUDGE_PICK_H
#define MMB_JUDGE_PICK_H

#include "daemon/judge/evidence.h"
#include "daemon/judge/info.h"
#include "daemon/judge/posterior.h"

struct action {
	int node; /* -1: nothing tells anything */
	unsigned char layout;
	unsigned runs;	/* more of them */
	double bits;	/* expected */
	double seconds; /* expected */
	bool reference; /* an anchor */
};

/* Up to `most` actions to work on at once, the best first; returns how many, or -ENOMEM. */
int pick_actions(const struct evidence *e, const struct posterior *p, const struct info_table *info, int most,
		 struct action *ret);

#endif
