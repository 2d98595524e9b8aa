// SPDX-License-Identifier: GPL-2.0-or-later
/* One line a scenario, and whether the judge meets its bar there. */
#include "daemon/simulate/batch.h"

#include <math.h>

/* Runs a scenario unless that was done already. */
static int run_scenario(struct batch *s, const struct scenario *scenario, struct error *err,
			const struct tally **ret)
{
	struct tally *tally = &s->tallies[scenario - scenarios];
	unsigned usual = scenario->trials ? scenario->trials : SCENARIO_TRIALS;
	int r = 0;

	if (!tally->trials)
		r = batch_run(s, &scenario->world, &scenario->options, scenario->id, s->method,
			       s->trials ? s->trials : usual, err, tally);
	*ret = tally;
	return r;
}

static void print_row(const struct scenario *scenario, const struct tally *t)
{
	double right = tally_percent(t, OUTCOME_RIGHT), wrong = tally_percent(t, OUTCOME_WRONG);

	(void)printf("%-12s %4u trials  right %5.1f %%  wrong %4.1f %%  other %5.1f %%  cost "
		     "%5.0f+-%-3.0f (all %5.0f)  builds %4.1f  runs %5.1f  %.2f ms a decision",
		     scenario->id, t->trials, right, wrong, fabs(100 - right - wrong),
		     tally_mean(t, t->cost), tally_cost_error(t), tally_mean(t, t->cost_all),
		     tally_mean(t, t->builds), tally_mean(t, t->runs), tally_cpu_ms(t));
}

static void print_details(const struct tally *t)
{
	for (size_t i = OUTCOME_WIDE; i < OUTCOME_N; i++)
		if (t->outcomes[i])
			(void)printf("  %s %.1f", outcome_names[i],
				     tally_percent(t, (enum outcome)i));
	if (t->flagged)
		(void)printf("  partial %.1f", 100 * tally_mean(t, t->flagged));
	if (t->claims_wrong)
		(void)printf("  first claim wrong %.1f", 100 * tally_mean(t, t->claims_wrong));
	if (t->differs)
		(void)printf("  %u decisions differ after a restart", t->differs);
	if (fabs(t->wall - t->cost_all) > 1)
		(void)printf("  wall %.0f", tally_mean(t, t->wall));
}

/* How a scenario stands to its bar. */
enum standing { NO_BAR, MET, TOO_FEW, MISSED };

static int show(struct batch *s, const struct scenario *scenario, const struct tally *t,
		enum standing standing, const char *missed, struct error *err)
{
	static const char *const words[] = {"no bar (", "met", "too few trials to tell: ", "MISSED: "};

	if (s->text) {
		print_row(scenario, t);
		print_details(t);
		(void)printf("  %s%s%s\n", words[standing], standing == NO_BAR ? scenario->help : missed,
			     standing == NO_BAR ? ")" : "");
		(void)fflush(stdout);
	}
	return batch_add(s,
			  json_pack("{s:s, s:s, s:o}", "scenario", scenario->id, "help",
				    scenario->help, "met",
				    standing == MET || standing == MISSED ? json_boolean(standing == MET) : json_null()),
			  t, err);
}

/* The bar is the judge's; rivals are only shown. */
static int report(struct batch *s, const struct scenario *scenario, const struct tally *t,
		  struct error *err)
{
	const struct scenario *base =
		scenario->bar.cost_of ? scenario_find(scenario->bar.cost_of) : NULL;
	const struct tally *of = NULL;
	const bool barred = scenario_has_bar(scenario) && s->method == &methods[0];
	const unsigned usual = scenario->trials ? scenario->trials : SCENARIO_TRIALS;
	char missed[TALLY_MISSED_MAX] = "";
	enum standing standing = barred ? MET : NO_BAR;

	if (base && barred) {
		int r = run_scenario(s, base, err, &of);

		if (r < 0)
			return r;
	}
	if (barred && !tally_meets(t, &scenario->bar, of ? tally_mean(of, of->cost) : 0, missed))
		standing = t->trials < usual && !tally_contradicts(t, &scenario->bar) ? TOO_FEW : MISSED;
	s->missed = s->missed || standing == MISSED;
	return show(s, scenario, t, standing, missed, err);
}

int batch_scenarios(struct batch *s, const char *pattern, struct error *err)
{
	const struct tally *t = NULL;
	bool any = false;

	for (size_t i = 0; i < n_scenarios; i++) {
		if (!scenario_matches(&scenarios[i], pattern))
			continue;
		any = true;
		int r = run_scenario(s, &scenarios[i], err, &t);

		if (r >= 0)
			r = report(s, &scenarios[i], t, err);
		if (r < 0)
			return r;
	}
	return any ? 0 : error_set(err, -EINVAL, "unknown scenario '%s'", pattern);
}
