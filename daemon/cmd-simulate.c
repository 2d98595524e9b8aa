// SPDX-License-Identifier: GPL-2.0-or-later
/* mmbisect simulate: searches of made-up histories, where the truth is known. Needs no repository and no state. */
#include "daemon/cli.h"

#include "daemon/simulate/runner.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/str.h"

#include <math.h>

struct simulation {
	const struct cli *cli;
	const struct method *method;
	struct tally *tallies; /* one a scenario; without trials: not run yet */
	json_t *rows;
	bool missed;
	/* of the progress line */
	const char *id;
	unsigned trials;
	uint64_t started_ns;
};

static void simulation_done(struct simulation *s)
{
	free(s->tallies);
	json_decref(s->rows);
}

static void show_progress(void *userdata, unsigned done)
{
	struct simulation *s = userdata;
	double passed = (double)(now_mono_ns() - s->started_ns) / NSEC_PER_SEC;
	char left[32];

	log_progress("%s: %u of %u trials, %s left", s->id, done, s->trials,
		     str_duration(passed * (s->trials - done) / done, left));
}

static unsigned job_count(const struct cli *cli)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return cli->jobs ? cli->jobs : cores > 1 ? (unsigned)cores : 1;
}

static int run_trials(struct simulation *s, const struct world_options *world, const struct trial_options *options,
		      const char *id, const struct method *method, unsigned trials, struct error *err, struct tally *ret)
{
	struct runner runner = { .world = world, .method = method, .options = options,
				 .seed = s->cli->seed_given ? s->cli->seed : 1, .name = id, .trials = trials,
				 .jobs = job_count(s->cli), .progress = s->cli->quiet ? NULL : show_progress, .userdata = s };
	int r;

	s->id = id;
	s->trials = runner.trials;
	s->started_ns = now_mono_ns();
	r = runner_run(&runner, err, ret);
	log_progress_end();
	return r;
}

/* Runs a scenario unless that was done already. */
static int run_scenario(struct simulation *s, const struct scenario *scenario, struct error *err, const struct tally **ret)
{
	struct tally *tally = &s->tallies[scenario - scenarios];
	const unsigned usual = scenario->trials ? scenario->trials : SCENARIO_TRIALS;
	int r = 0;

	if (!tally->trials)
		r = run_trials(s, &scenario->world, &scenario->options, scenario->id, s->method,
			       s->cli->trials ? s->cli->trials : usual, err, tally);
	*ret = tally;
	return r;
}

static json_t *tally_json(const struct tally *t)
{
	json_t *row = json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "trials", (int)t->trials, "cost",
				tally_mean(t, t->cost), "cost_error", tally_cost_error(t), "cost_all",
				tally_mean(t, t->cost_all), "wall", tally_mean(t, t->wall), "builds",
				tally_mean(t, t->builds), "runs", tally_mean(t, t->runs), "decisions",
				tally_mean(t, t->decisions), "cpu_ms", tally_cpu_ms(t), "partial",
				100 * tally_mean(t, t->flagged));

	for (size_t i = 0; row && i < OUTCOME_N; i++)
		(void)json_object_set_new(row, outcome_names[i], json_real(tally_percent(t, (enum outcome)i)));
	return row;
}

static void print_row(const struct scenario *scenario, const struct tally *t)
{
	double right = tally_percent(t, OUTCOME_RIGHT), wrong = tally_percent(t, OUTCOME_WRONG);

	(void)printf("%-12s %4u trials  right %5.1f %%  wrong %4.1f %%  other %5.1f %%  cost %5.0f+-%-3.0f (all %5.0f)  "
		     "builds %4.1f  runs %5.1f  %.2f ms a decision",
		     scenario->id, t->trials, right, wrong, fabs(100 - right - wrong), tally_mean(t, t->cost),
		     tally_cost_error(t), tally_mean(t, t->cost_all), tally_mean(t, t->builds), tally_mean(t, t->runs),
		     tally_cpu_ms(t));
}

static void print_details(const struct tally *t)
{
	for (size_t i = OUTCOME_WIDE; i < OUTCOME_N; i++)
		if (t->outcomes[i])
			(void)printf("  %s %.1f", outcome_names[i], tally_percent(t, (enum outcome)i));
	if (t->flagged)
		(void)printf("  partial %.1f", 100 * tally_mean(t, t->flagged));
	if (t->claims_wrong)
		(void)printf("  first claim wrong %.1f", 100 * tally_mean(t, t->claims_wrong));
	if (t->differs)
		(void)printf("  %u decisions differ after a restart", t->differs);
	if (fabs(t->wall - t->cost_all) > 1)
		(void)printf("  wall %.0f", tally_mean(t, t->wall));
}

/* The bar is the judge's; rivals are only shown. */
static int report_scenario(struct simulation *s, const struct scenario *scenario, const struct tally *t, struct error *err)
{
	const struct scenario *base = scenario->bar.cost_of ? scenario_find(scenario->bar.cost_of) : NULL;
	const struct tally *of = NULL;
	const bool barred = scenario_has_bar(scenario) && s->method == &methods[0];
	char missed[TALLY_MISSED_MAX];
	bool met;
	json_t *row;

	if (base && barred) {
		int r = run_scenario(s, base, err, &of);

		if (r < 0)
			return r;
	}
	met = !barred || tally_meets(t, &scenario->bar, of ? tally_mean(of, of->cost) : 0, missed);
	s->missed |= !met;
	row = tally_json(t);
	if (!row || json_object_set_new(row, "scenario", json_string(scenario->id)) < 0 ||
	    json_object_set_new(row, "met", barred ? json_boolean(met) : json_null()) < 0 ||
	    json_array_append_new(s->rows, row) < 0)
		return error_errno(err, -ENOMEM, "simulate");
	if (s->cli->json)
		return 0;
	print_row(scenario, t);
	print_details(t);
	if (barred)
		(void)printf("  %s%s\n", met ? "met" : "MISSED: ", met ? "" : missed);
	else
		(void)printf("  no bar (%s)\n", scenario->help);
	(void)fflush(stdout);
	return 0;
}

static int run_scenarios(struct simulation *s, struct error *err)
{
	const char *pattern = s->cli->scenario;
	const struct tally *t;
	bool any = false;

	for (size_t i = 0; i < n_scenarios; i++) {
		int r;

		if (!scenario_matches(&scenarios[i], pattern))
			continue;
		any = true;
		r = run_scenario(s, &scenarios[i], err, &t);
		if (r >= 0)
			r = report_scenario(s, &scenarios[i], t, err);
		if (r < 0)
			return r;
	}
	return any ? 0 : error_set(err, -EINVAL, "unknown scenario '%s'", pattern);
}

/* One trial alone, with each decision. */
static int run_trial(const struct simulation *s, struct error *err)
{
	const struct scenario *scenario = s->cli->scenario ? scenario_find(s->cli->scenario) : NULL;
	struct trial_options options;
	struct trial t;
	int r;

	if (!scenario)
		return error_set(err, -EINVAL, "--trial goes with one --scenario");
	options = scenario->options;
	options.trace = stdout;
	r = trial_run(&scenario->world, s->method, &options, s->cli->seed_given ? s->cli->seed : 1, scenario->id, s->cli->trial,
		      &t);
	if (r < 0)
		return error_errno(err, r, "trial %u", s->cli->trial);
	(void)printf("%s%s: %.0f s (all %.0f), %u builds, %u runs, %u decisions of %.2f ms, the longest %.2f ms\n",
		     outcome_names[t.outcome], t.partial ? ", partial" : "", t.answer_seconds, t.seconds, t.builds, t.runs,
		     t.decisions, t.decisions ? 1000 * t.cpu / t.decisions : 0, 1000 * t.cpu_max);
	return 0;
}

static int print_document(const struct simulation *s)
{
	_cleanup_json_ json_t *document = json_pack("{s:s, s:s, s:i, s:O}", "kind", "simulate", "method", s->method->name, "seed",
						    s->cli->seed_given ? (int)s->cli->seed : 1, "rows", s->rows);

	return document ? cli_print_json(document) : -ENOMEM;
}

int cmd_simulate(const struct cli *cli)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(simulation_done) struct simulation s = { .cli = cli, .rows = json_array() };
	int r;

	s.method = method_find(cli->method ? cli->method : "judge");
	s.tallies = calloc(n_scenarios, sizeof(*s.tallies));
	if (!s.method)
		r = error_set(&err, -EINVAL, "unknown method '%s'", cli->method);
	else if (!s.tallies || !s.rows)
		r = error_errno(&err, -ENOMEM, "simulate");
	else if (cli->trial_given)
		r = run_trial(&s, &err);
	else
		r = run_scenarios(&s, &err);
	if (r < 0)
		return cli_fail(&err);
	if (cli->json && !cli->trial_given && print_document(&s) < 0)
		return CLI_INFRA;
	return s.missed ? CLI_NO_ANSWER : CLI_ANSWER;
}
