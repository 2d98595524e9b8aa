/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is there a change between the anchors at all? Interleaved pairs of them, until a test that survives
 * peeking says so (JUDGE.md C.3). Private to this room.
 */
#ifndef MMB_JUDGE_ENDS_H
#define MMB_JUDGE_ENDS_H

#include "daemon/judge/bayes-factor.h"
#include "daemon/judge/evidence.h"

enum ends_state {
	ENDS_MORE,	 /* more pairs */
	ENDS_REPRODUCED, /* worse, beyond doubt */
	ENDS_EXACT,	 /* so much worse that one run tells a side */
	ENDS_OPPOSITE,	 /* better, beyond doubt */
	ENDS_SAME,	 /* no change as large as asked for */
	ENDS_LAYOUT,	 /* worse, but it depends on the order in which functions are linked */
	ENDS_TOO_NOISY,	 /* out of budget */
};

struct ends {
	enum ends_state state;
	struct judge_difference difference; /* bad less good, of all pairs; higher is worse */
	unsigned more;	 /* MORE: so many pairs */
	unsigned needed; /* pairs that a change of the claimed size would need */
	bool by_layout; /* so small that it must be seen in more than one layout */
	double smallest; /* change worth asking for, on the evidence's scale; 0: any */
};

/* -ENOMEM. */
int ends_look(const struct evidence *e, struct ends *ret);

#endif
