// SPDX-License-Identifier: GPL-2.0-or-later
/* All methods side by side, and one over sizes of the change. */
#include "daemon/simulate/batch.h"

#define OUTLIERS 0.03

static const double effects[] = {5, 2, 1, 0.5};
static const int commits[] = {64, 1000, 15000};
static const double powers[] = {0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6};

/* Searches that take long are fewer. */
static unsigned trials_of(const struct batch *s, int n, double effect)
{
	unsigned trials = s->trials ? s->trials : SCENARIO_TRIALS;

	if (n >= 10000)
		trials = (trials + 1) / 2;
	if (effect < 0.3) /* half a minute each */
		return (trials + 29) / 30;
	return effect < 1 ? (trials + 1) / 2 : trials;
}

/* One cell; the name of its world is the same for all methods, and so are its trials. */
static int run_cell(struct batch *s, const struct method *method, int n, double effect,
		    struct error *err, struct tally *ret)
{
	const struct world_options world = {.commits = n, .steps = {effect}, .outliers = OUTLIERS};
	const struct trial_options options = {0};
	char name[32];

	(void)snprintf(name, sizeof(name), "%d-%g", n, effect);
	int r = batch_run(s, &world, &options, name, method, trials_of(s, n, effect), err, ret);

	if (r >= 0)
		r = batch_add(s,
			       json_pack("{s:s, s:i, s:f}", "method", method->name, "commits", n,
					 "effect", effect),
			       ret, err);
	return r;
}

static void print_cell(const struct batch *s, const struct tally *t)
{
	if (s->text)
		(void)printf(" %.1f / %.1f / %.0f |", tally_percent(t, OUTCOME_RIGHT),
			     tally_percent(t, OUTCOME_WRONG), tally_mean(t, t->cost));
}

static int table_row(struct batch *s, const struct method *method, int n, struct error *err)
{
	struct tally tallies[ARRAY_SIZE(effects)];

	for (size_t i = 0; i < ARRAY_SIZE(effects); i++) {
		int r = run_cell(s, method, n, effects[i], err, &tallies[i]);

		if (r < 0)
			return r;
	}
	if (!s->text)
		return 0;
	(void)printf("| %s |", method->name);
	for (size_t i = 0; i < ARRAY_SIZE(effects); i++)
		print_cell(s, &tallies[i]);
	(void)printf("\n");
	if (method == &methods[0]) {
		(void)printf("| %s, with the rest explained |", method->name);
		for (size_t i = 0; i < ARRAY_SIZE(effects); i++)
			(void)printf(" %.0f |", tally_mean(&tallies[i], tallies[i].cost_all));
		(void)printf("\n");
	}
	(void)fflush(stdout);
	return 0;
}

static void print_head(int n)
{
	(void)printf("\n%d commits: %% right / %% wrong / mean seconds\n\n| method |", n);
	for (size_t i = 0; i < ARRAY_SIZE(effects); i++)
		(void)printf(" %g sigma |", effects[i]);
	(void)printf("\n|---|");
	for (size_t i = 0; i < ARRAY_SIZE(effects); i++)
		(void)printf("---|");
	(void)printf("\n");
}

int batch_table(struct batch *s, struct error *err)
{
	for (size_t k = 0; k < ARRAY_SIZE(commits); k++) {
		if (s->text)
			print_head(commits[k]);
		for (size_t m = 0; m < n_methods; m++) {
			int r = table_row(s, &methods[m], commits[k], err);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

int batch_power(struct batch *s, struct error *err)
{
	if (s->text)
		(void)printf("%s, %d commits\n\n%6s %8s %8s %8s %8s %8s %8s %8s\n", s->method->name,
			     commits[1], "sigma", "right %", "wrong %", "other %", "seconds", "all",
			     "builds", "runs");
	for (size_t i = 0; i < ARRAY_SIZE(powers); i++) {
		struct tally t;
		int r = run_cell(s, s->method, commits[1], powers[i], err, &t);

		if (r < 0)
			return r;
		if (!s->text)
			continue;
		double right = tally_percent(&t, OUTCOME_RIGHT);
		double wrong = tally_percent(&t, OUTCOME_WRONG);

		(void)printf("%6g %8.1f %8.1f %8.1f %8.0f %8.0f %8.1f %8.1f\n", powers[i], right,
			     wrong, 100 - right - wrong, tally_mean(&t, t.cost),
			     tally_mean(&t, t.cost_all), tally_mean(&t, t.builds),
			     tally_mean(&t, t.runs));
		(void)fflush(stdout);
	}
	return 0;
}
