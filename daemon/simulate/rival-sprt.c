/* SPDX-License-Identifier: GPL-2.0-or-later */
/* git bisect with Wald's sequential test a step, between the levels that the ends have shown. The
 * error is shared out over the steps, and the levels are taken for exact, which they are not. */
#include "daemon/simulate/rival.h"

#include <math.h>

#define ERROR_ALL 0.01
#define STEP_RUNS_MAX 400
#define CLIP_SIGMA 2.5 /* beyond either level */

struct levels {
	struct rival_ends ends;
	double limit; /* of the log likelihood ratio, either way */
};

static int test(struct world *w, int node, const void *arg, bool *ret_bad)
{
	const struct levels *l = arg;
	double delta = l->ends.bad - l->ends.good, middle = (l->ends.bad + l->ends.good) / 2;
	double reach = fabs(delta) / 2 + CLIP_SIGMA * l->ends.sigma, value, sum = 0;

	for (int n = 0; n < STEP_RUNS_MAX && fabs(sum) < l->limit; n++) {
		int r = rival_runs(w, node, 1, &value);

		if (r < 0)
			return r;
		value = fmax(-reach, fmin(reach, value - middle));
		sum += delta * value / (l->ends.sigma * l->ends.sigma);
	}
	*ret_bad = sum > 0;
	return 0;
}

int rival_sprt(struct world *w, const struct trial_options *options, int parameter,
	       struct trial *ret)
{
	struct levels l;
	double error = ERROR_ALL / ceil(log2(fmax(2, w->options.commits)));
	int r = rival_find_ends(w, ret, &l.ends);

	(void)options;
	(void)parameter;
	if (r <= 0)
		return r;
	l.limit = log((1 - error) / error);
	return rival_bisect(w, test, &l, ret);
}
