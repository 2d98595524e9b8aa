/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/noisy.h"

#include <stdlib.h>

struct judge_memo {
	int unused;
};

struct judge_memo *judge_memo_new(void)
{
	return calloc(1, sizeof(struct judge_memo));
}

struct judge_memo *judge_memo_free(struct judge_memo *memo)
{
	free(memo);
	return NULL;
}

int judge_noisy(const struct judge_dag *dag, const struct judge_obs *obs,
		const struct judge_options *opt, struct judge_decision *ret)
{
	return judge_bisect(dag, obs, opt, ret);
}
