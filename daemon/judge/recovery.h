/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which regressions of a range were taken back by a later change of it. Private to this room.
 * Changes are in the order of the graph. Nothing fails.
 */
#ifndef MMB_JUDGE_RECOVERY_H
#define MMB_JUDGE_RECOVERY_H

#include "daemon/judge/judge.h"

/*
 * An improvement takes back, of the regressions among its ancestors that stand: the one that a hint says it
 * reverts, if it took back half of it or more; else the one whose effect it undoes (the tenth of it is the
 * tolerance); else all since the one before which the level was as it is now. `scratch`: dag->n bytes.
 */
void recovery_find(const struct judge_dag *dag, const struct judge_options *opt,
		   struct judge_change *changes, size_t n, unsigned char *scratch);

/* The regression with the largest effect that still stands and is not cut, of equals the preferred node or the first; -1: none. */
int recovery_main(const struct judge_change *changes, size_t n, int preferred);

#endif
