/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_HINTS_H
#define MMB_HINTS_H

/*
 * Which commits of a graph say that they revert another one of it: "This reverts commit <id>" (12 digits or more), else
 * 'Revert "subject"' of the latest commit before with that subject. Messages are claims: the judge measures before it believes one.
 *
 * The list is the caller's to free. Commits that cannot be read are passed over; only memory can run out (-ENOMEM).
 */
#include "daemon/judge/judge.h"
#include "daemon/repo.h"

int hints_find(struct repo *repo, const struct graph *graph, struct judge_hint **ret, size_t *ret_n);

#endif
