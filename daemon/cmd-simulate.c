// SPDX-License-Identifier: GPL-2.0-or-later
/* mmbisect simulate: searches of made-up histories, where the truth is known. Needs no repository and no state. */
#include "daemon/cli.h"

#include "daemon/simulate/batch.h"
#include "daemon/simulate/pool.h"
#include "lib/fs.h"
#include "lib/json.h"
#include "lib/str.h"

#define SEED_DEFAULT 1
#define POOL_FILE_MAX (16 << 20)

/* One trial alone, with each decision. */
static int run_trial(const struct cli *cli, const struct batch *s, struct error *err)
{
	const struct scenario *scenario = cli->scenario ? scenario_find(cli->scenario) : NULL;
	struct trial_options options;
	struct trial t;
	int r;

	if (!scenario)
		return error_set(err, -EINVAL, "--trial goes with the --scenario of one world");
	if (cli->json)
		return error_set(err, -EINVAL, "--trial prints text, no document");
	options = scenario->options;
	options.trace = stdout;
	r = trial_run(&scenario->world, s->method, &options, s->seed, scenario->id, cli->trial, &t);
	if (r < 0)
		return error_errno(err, r, "trial %u", cli->trial);
	(void)printf("%s%s: %.0f s (all %.0f), %u builds, %u runs, %u decisions of %.2f ms, the longest %.2f ms\n",
		     outcome_names[t.outcome], t.partial ? ", partial" : "", t.answer_seconds, t.seconds, t.builds, t.runs,
		     t.decisions, t.decisions ? 1000 * t.cpu / t.decisions : 0, 1000 * t.cpu_max);
	return 0;
}

static int print_document(const struct cli *cli, const struct batch *s)
{
	_cleanup_json_ json_t *document = json_pack("{s:s, s:s, s:s, s:i, s:O}", "kind", "simulate", "shows",
						    cli->table ? "table" :
						    cli->power ? "power" :
						    cli->pool  ? "pool" :
								 "scenarios",
						    "method", s->method->name, "seed", (int)s->seed, "rows", s->rows);

	return document ? cli_print_json(document) : -ENOMEM;
}

static int run_pool(const struct cli *cli, struct batch *s, struct error *err)
{
	_cleanup_json_ json_t *document = NULL;
	_cleanup_free_ char *text = NULL;
	_cleanup_(world_pool_done) struct world_pool pool = { 0 };
	json_error_t at;
	int r = fs_read(cli->pool, POOL_FILE_MAX, &text, NULL);

	if (r < 0)
		return error_errno(err, r, "%s", cli->pool);
	document = json_loads(text, 0, &at);
	if (!document)
		return error_set(err, -EINVAL, "%s: line %d: %s", cli->pool, at.line, at.text);
	r = world_pool_read(document, cli->metric, err, &pool);
	return r < 0 ? r : batch_pool(s, &pool, err);
}

static int simulate(const struct cli *cli, struct batch *s, struct error *err)
{
	int r;

	if (!s->method)
		return error_set(err, -EINVAL, "unknown method '%s'", cli->method);
	r = batch_init(s, err);
	if (r < 0)
		return r;
	if (cli->trial_given)
		return run_trial(cli, s, err);
	if (cli->pool)
		return run_pool(cli, s, err);
	if (cli->scenario && (cli->table || cli->power))
		return error_set(err, -EINVAL, "--%s has worlds of its own: --scenario does not go with it",
				 cli->table ? "table" : "power");
	if (cli->table)
		return batch_table(s, err);
	return cli->power ? batch_power(s, err) : batch_scenarios(s, cli->scenario, err);
}

int cmd_simulate(const struct cli *cli)
{
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(batch_done) struct batch s = {
		.method = method_find(cli->method ? cli->method : "judge"),
		.seed = cli->seed_given ? cli->seed : SEED_DEFAULT,
		.trials = cli->trials,
		.jobs = cli->jobs ? cli->jobs : (unsigned)MAX(cores, 1),
		.quiet = cli->quiet,
		.text = !cli->json,
	};

	if (simulate(cli, &s, &err) < 0)
		return cli_fail(&err);
	if (cli->json && !cli->trial_given && print_document(cli, &s) < 0)
		return CLI_INFRA;
	return s.missed ? CLI_NO_ANSWER : CLI_ANSWER;
}
