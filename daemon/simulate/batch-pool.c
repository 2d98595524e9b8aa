// SPDX-License-Identifier: GPL-2.0-or-later
/* All methods among real noise; and the judge where nothing changed. */
#include "daemon/simulate/batch.h"

#include "daemon/simulate/pool.h"

static const int commits[] = {64, 1000};
/* Claimed where nothing changed, in spreads: what somebody would ask about. */
#define CLAIM_SPREADS 1.0

static int run_cell(struct batch *s, const struct world_pool *pool, const struct method *method, int n, bool changed,
		    struct error *err, struct tally *ret)
{
	/* world.h: a unit of a level is a percent. What the level of a step is does not matter, only on which side of it a run is. */
	const struct world_options world = {
		.commits = n,
		.steps = {changed ? 1 : 0},
		.claim = 100 * (changed ? pool->change : CLAIM_SPREADS * pool->spread),
		.pool = pool,
	};
	const struct trial_options options = {0};
	char name[32];

	(void)snprintf(name, sizeof(name), "pool-%d%s", n, changed ? "" : "-same");
	int r = batch_run(s, &world, &options, name, method, s->trials ? s->trials : SCENARIO_TRIALS, err, ret);

	if (r >= 0)
		r = batch_add(s, json_pack("{s:s, s:i, s:b, s:f, s:f}", "method", method->name, "commits", n, "changed", changed,
					   "change", changed ? pool->change : 0.0, "spread", pool->spread), ret, err);
	return r;
}

static int search_all(struct batch *s, const struct world_pool *pool, int n, struct error *err)
{
	for (size_t m = 0; m < n_methods; m++) {
		struct tally t;
		int r = run_cell(s, pool, &methods[m], n, true, err, &t);

		if (r < 0)
			return r;
		if (s->text)
			(void)printf("%5d %-9s right %5.1f %%  wrong %5.1f %%  %6.0f s (all %6.0f)  builds %4.1f  runs %5.1f\n", n,
				     methods[m].name, tally_percent(&t, OUTCOME_RIGHT), tally_percent(&t, OUTCOME_WRONG),
				     tally_mean(&t, t.cost), tally_mean(&t, t.cost_all), tally_mean(&t, t.builds),
				     tally_mean(&t, t.runs));
		(void)fflush(stdout);
	}
	return 0;
}

static int search_nothing(struct batch *s, const struct world_pool *pool, int n, struct error *err)
{
	struct tally t;
	int r = run_cell(s, pool, s->method, n, false, err, &t);

	if (r >= 0 && s->text)
		(void)printf("%5d %-9s nothing changed, %.3g %% claimed: accused in %.1f %% of %u trials, not reproduced in %.1f %%, "
			     "%.0f s\n",
			     n, s->method->name, 100 * CLAIM_SPREADS * pool->spread, tally_percent(&t, OUTCOME_WRONG), t.trials,
			     tally_percent(&t, OUTCOME_NOT_REPRODUCED), tally_mean(&t, t.cost));
	return r;
}

int batch_pool(struct batch *s, const struct world_pool *pool, struct error *err)
{
	if (pool->bad && !(pool->change > 0))
		return error_set(err, -EINVAL, "the last row is not worse than the first: nothing to search for");
	if (s->text && pool->bad)
		(void)printf("%zu real runs of the good side, %zu of the bad: %+.1f %%, %.2g spreads of %.2g %%\n", pool->n_good,
			     pool->n_bad, 100 * pool->change, pool->effect, 100 * pool->spread);
	for (size_t i = 0; i < ARRAY_SIZE(commits); i++) {
		int r = pool->bad ? search_all(s, pool, commits[i], err) : 0;

		if (r >= 0)
			r = search_nothing(s, pool, commits[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}
