/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/simulate/rival.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "daemon/judge/stats.h"
#include "lib/cleanup.h"

#define PAIRS_MAX 250
#define PAIRS_MIN 10
#define PAIRS_CLEAR 3 /* as many do when the ends are this far apart: */
#define CLEAR_SIGMA 8
#define BAYES_LIMIT 20.0
#define CLIP_SIGMA 2.5
#define MAD_SIGMA 1.4826

double rival_normal(double z)
{
	return 0.5 * erfc(-z / sqrt(2));
}

int rival_runs(struct world *w, int node, unsigned n, double *values)
{
	int r = 0;

	(void)world_build(w, node, 0);
	for (unsigned i = 0; i < n && r >= 0; i++)
		r = world_run(w, node, 0, &values[i]);
	return r;
}

/* Values 1 and 2 stand for good and bad: the exact class of the judge is git's bisection. */
static const double verdicts[] = {1, 2};

static int test_node(struct world *w, int node, rival_test *test, const void *arg,
		     struct judge_obs *obs)
{
	bool bad = node > 0;

	if (node > 0 && node < w->graph.dag.n - 1) {
		if (!world_build(w, node, 0)) {
			obs->state = JUDGE_SKIPPED;
			return 0;
		}
		int r = test(w, node, arg, &bad);

		if (r < 0)
			return r;
	}
	obs->state = JUDGE_TESTED;
	obs->values = &verdicts[bad];
	obs->n_values = 1;
	return 0;
}

static int take_answer(const struct world *w, const struct judge_decision *d, struct trial *ret)
{
	_cleanup_free_ int *nodes = calloc(d->n_candidates + 1, sizeof(*nodes));

	if (!nodes)
		return -ENOMEM;
	for (size_t i = 0; i < d->n_candidates; i++)
		nodes[i] = d->candidates[i].node;
	return referee_judge(w, nodes, d->n_candidates, &ret->outcome);
}

int rival_bisect(struct world *w, rival_test *test, const void *arg, struct trial *ret)
{
	const struct judge_options options = {
		.cls = JUDGE_EXACT, .better = JUDGE_LOWER, .floor = 0.5};
	_cleanup_free_ struct judge_obs *obs = calloc((size_t)w->graph.dag.n, sizeof(*obs));
	bool over = false;
	int r = obs ? 0 : -ENOMEM;

	while (r >= 0 && !over) {
		_cleanup_(judge_decision_done) struct judge_decision d = {0};

		r = judge_next(&w->graph.dag, obs, &options, &d);
		if (r < 0)
			break;
		ret->decisions++;
		over = d.action == JUDGE_DONE;
		if (over)
			r = take_answer(w, &d, ret);
		for (size_t i = 0; i < d.n_wants && r >= 0; i++)
			r = test_node(w, d.wants[i].node, test, arg, &obs[d.wants[i].node]);
	}
	return r;
}

/* One sample, clipped at 2.5 robust standard deviations about its median. */
struct clipped {
	double mean, sd;
};

static struct clipped clip(const double *values, unsigned n)
{
	struct clipped c = {0};
	double distance[PAIRS_MAX], middle = judge_median(values, n), limit, square = 0;

	for (unsigned i = 0; i < n; i++)
		distance[i] = fabs(values[i] - middle);
	limit = CLIP_SIGMA * MAD_SIGMA * judge_median(distance, n);
	for (unsigned i = 0; i < n; i++)
		c.mean += fmax(middle - limit, fmin(middle + limit, values[i])) / n;
	for (unsigned i = 0; i < n; i++) {
		double x = fmax(middle - limit, fmin(middle + limit, values[i])) - c.mean;

		square += x * x;
	}
	c.sd = n > 1 ? sqrt(square / (n - 1)) : 0;
	return c;
}

/* ln of the two-sample t Bayes factor, effect sizes N(0,1) a priori (JUDGE.md C.3). */
static double log_bayes(double t, unsigned n)
{
	double ne = n / 2.0, df = 2.0 * n - 2;

	return -0.5 * log1p(ne) +
	       (df + 1) / 2 * (log1p(t * t / df) - log1p(t * t / (df * (1 + ne))));
}

/* 1: worse, 0: go on, -1: not as claimed, -2: better. */
static int weigh_ends(const struct clipped *good, const struct clipped *bad, unsigned n,
		      double claim, double *ret_sigma)
{
	double delta = bad->mean - good->mean;
	double sigma = sqrt((good->sd * good->sd + bad->sd * bad->sd) / 2);
	double se2 = fmax(2 * sigma * sigma / n, 1e-18), m = claim / 2;

	*ret_sigma = fmax(sigma, 1e-9);
	if (n < (fabs(delta) > CLEAR_SIGMA * sigma ? PAIRS_CLEAR : PAIRS_MIN))
		return 0;
	if (log_bayes(delta / sqrt(se2), n) >= log(BAYES_LIMIT))
		return delta > 0 ? 1 : -2;
	return m * (delta - m / 2) / se2 < log(0.01) ? -1 : 0;
}

int rival_find_ends(struct world *w, struct trial *ret, struct rival_ends *ret_ends)
{
	double good[PAIRS_MAX], bad[PAIRS_MAX], claim = w->options.claim;
	int last = w->graph.dag.n - 1;

	if (claim <= 0)
		claim = fabs(world_total(w));
	for (unsigned n = 0; n < PAIRS_MAX; n++) {
		int r = rival_runs(w, 0, 1, &good[n]);

		if (r >= 0)
			r = rival_runs(w, last, 1, &bad[n]);
		if (r < 0)
			return r;
		struct clipped a = clip(good, n + 1), b = clip(bad, n + 1);

		*ret_ends = (struct rival_ends){.good = a.mean, .bad = b.mean};
		r = weigh_ends(&a, &b, n + 1, claim, &ret_ends->sigma);
		if (r > 0)
			return 1;
		if (r < 0) {
			ret->outcome = r == -1 ? OUTCOME_NOT_REPRODUCED : OUTCOME_OPPOSITE;
			return 0;
		}
	}
	ret->outcome = OUTCOME_GAVE_UP;
	return 0;
}
