/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What most people do: git bisect run with a script that runs a benchmark K times and compares the
 * median with a limit half-way between the ends. */
#include "daemon/simulate/rival.h"

#include "daemon/judge/stats.h"
#include "lib/cleanup.h"

#define RUNS_MAX 100
#define ENDS_MIN 5 /* runs of each end */

struct limit {
	unsigned runs;
	double value;
};

static int test(struct world *w, int node, const void *arg, bool *ret_bad)
{
	const struct limit *limit = arg;
	double values[RUNS_MAX];
	int r = rival_runs(w, node, limit->runs, values);

	*ret_bad = r >= 0 && judge_median(values, limit->runs) > limit->value;
	return r;
}

int rival_repeat(struct world *w, const struct trial_options *options, int parameter,
		 struct trial *ret)
{
	struct limit limit = {.runs = MIN((unsigned)parameter, RUNS_MAX)};
	unsigned n = MAX(limit.runs, ENDS_MIN);
	double good[RUNS_MAX], bad[RUNS_MAX];
	int r = rival_runs(w, 0, n, good);

	(void)options;
	if (r >= 0)
		r = rival_runs(w, w->graph.dag.n - 1, n, bad);
	if (r < 0)
		return r;
	limit.value = (judge_median(good, n) + judge_median(bad, n)) / 2;
	return rival_bisect(w, test, &limit, ret);
}
