/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does a difference between two commits stay when both are linked in another order? Private to this room.
 *
 * A small step in time may be nothing but where the linker put the functions, and no number of boots of
 * the same two images tells. So the layouts are the units here: the difference is taken in each one that
 * both sides have runs of, and judged by how these differences spread, not by how the runs do.
 *
 * Plain functions of runs; nothing is owned.
 */
#ifndef MMB_JUDGE_LAYOUTS_H
#define MMB_JUDGE_LAYOUTS_H

#include "daemon/judge/evidence.h"

/* A relative change below this is believed only when it was seen in more than one layout of both sides. */
#define LAYOUTS_CHANGE 0.05
#define LAYOUTS_MAX 8

enum layouts_state {
	LAYOUTS_MORE,  /* too few runs to say */
	LAYOUTS_STAYS, /* the same sign in all of them, and more than they differ by */
	LAYOUTS_GOES,  /* it depends on the layout */
};

/* Is it asked for at all: are there layouts, and is a change on the evidence's scale that small? */
bool layouts_matter(const struct evidence *e, const struct judge_options *opt, double change);

/* Variance between the layouts of one commit, of all commits that have several: beyond what the noise of runs makes of it. 0: not seen. */
double layouts_spread2(const struct evidence *e);

/*
 * b less a, higher is worse; n_a and n_b runs. `spread2`: variance between the layouts of one commit, where it is known
 * from all of the search (`step`, the change looked for, is then tested against none); NAN: by their own spread.
 */
enum layouts_state layouts_look(const struct run *a, int n_a, const struct run *b, int n_b, double sigma,
				double spread2, double step);

#endif
