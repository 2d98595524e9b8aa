/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a search keeps between two questions, all of it made again when it does not fit. Private to this room.
 */
#ifndef MMB_JUDGE_MEMO_H
#define MMB_JUDGE_MEMO_H

#include "daemon/judge/ancestry.h"
#include "daemon/judge/info.h"
#include "daemon/judge/judge.h"
#include "daemon/judge/model.h"

/* -ENOMEM. */
int memo_ancestry(struct judge_memo *memo, const struct judge_dag *dag, bool first_parent,
		  const struct ancestry **ret);

/* Made when first asked for; NULL: no memory. */
const struct info_table *memo_info(struct judge_memo *memo);
const struct density *memo_density(struct judge_memo *memo);

/* The table of a build; NULL: no memory. */
struct table *memo_table(struct judge_memo *memo, int node, unsigned char layout);

#endif
