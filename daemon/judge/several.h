/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * More than one commit at once, exact class: beside the next test those that would follow it, whatever it says. Private to this room.
 *
 * An image costs more than a run and images are made one at a time, so a guess is only worth it where the image is there: each
 * commit that is added has build_seconds 0, and nothing is added to a first one that has not. -ENOMEM.
 */
#ifndef MMB_JUDGE_SEVERAL_H
#define MMB_JUDGE_SEVERAL_H

#include "daemon/judge/search.h"

/* sides as they are known, s made of them. ret holds s->pick first; at most `most` nodes. Returns how many. */
int judge_pick_several(const struct judge_dag *dag, const struct judge_obs *obs, bool first_parent, const enum judge_side *sides,
		       const struct judge_search *s, int most, int *ret);

#endif
