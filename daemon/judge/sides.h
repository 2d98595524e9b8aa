/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Good or bad: reads single commits against the two anchors. Private to this room.
 *
 * A reader is a plain value made from the anchors' observations; it keeps no pointer. Nothing fails
 * but judge_reader_init(), with -ENODATA when the anchors give no measure to read others by.
 */
#ifndef MMB_JUDGE_SIDES_H
#define MMB_JUDGE_SIDES_H

#include <stdbool.h>

#include "daemon/judge/judge.h"

struct judge_reader {
	bool by_limit;	  /* the bad anchor is SLOW: what ran to its end is good */
	bool bad_is_high; /* bad values lie above the threshold */
	double threshold; /* half-way between the anchors */
};

/* Is this commit unusable: SKIPPED, or a value that is no number? */
bool judge_unusable(const struct judge_obs *obs);

int judge_reader_init(const struct judge_obs *good, const struct judge_obs *bad,
		      const struct judge_options *opt, struct judge_reader *ret);
enum judge_side judge_reader_side(const struct judge_reader *reader, const struct judge_obs *obs);

#endif
