// SPDX-License-Identifier: GPL-2.0-or-later
/* mmbisect bisect: a search in the foreground, with proof. */
#include "daemon/cli.h"
#include "daemon/oneshot.h"
#include "daemon/report/text.h"
#include "daemon/session.h"
#include "db/search.h"
#include "lib/clock.h"
#include "lib/str.h"

struct bisect {
	char *oids[2]; /* good, bad */
	char *metric;
	const char *class;
	json_t *document;
};

static void bisect_done(struct bisect *b)
{
	free(b->oids[0]);
	free(b->oids[1]);
	free(b->metric);
	json_decref(b->document);
}

static int add_search(struct oneshot *shot, struct error *err)
{
	const struct cli *cli = shot->cli;
	const struct bisect *b = shot->userdata;
	_cleanup_free_ char *tree = cli->repo ? strdup(cli->repo) : NULL;
	const struct search question = { .tree = tree, .good = b->oids[0], .bad = b->oids[1],
					 .workload = (char *)(uintptr_t)cli->workload, .arch = (char *)(uintptr_t)cli->arch,
					 .metric = b->metric, .class = (char *)(uintptr_t)b->class,
					 .first_parent = cli->first_parent, .max_runs = cli->max_runs };
	int r = db_search_add(shot->engine->db, &question, now_wall_ns(), &shot->search_id);

	return r < 0 ? error_errno(err, r, "database") : 0;
}

static int bisect_step(struct oneshot *shot, struct error *err)
{
	struct bisect *b = shot->userdata;
	struct search search = { 0 };
	enum session_state state;
	int r = shot->search_id ? 0 : add_search(shot, err);

	if (r >= 0)
		r = db_search_get(shot->engine->db, shot->search_id, &search);
	if (r >= 0 && !str_eq(search.state, "done")) {
		r = session_step(shot->engine, shot->search_id, err, &state);
		if (r >= 0 && state == SESSION_BROKEN)
			r = error_set(err, -EIO, "infrastructure failed: %s", session_broken(shot->engine, shot->search_id));
		if (r >= 0 && state == SESSION_DONE) {
			search_done(&search);
			r = db_search_get(shot->engine->db, shot->search_id, &search);
		}
	}
	if (r >= 0 && search.document) {
		b->document = json_loads(search.document, 0, NULL);
		shot->finished = true;
	}
	search_done(&search);
	if (r < 0 && err->code == 0)
		(void)error_errno(err, r, "search");
	return r;
}

/* The metric and class from the options and the workload's definition. */
static int choose_metric(const struct cli *cli, struct bisect *b, struct error *err)
{
	_cleanup_(paths_done) struct paths paths = PATHS_INIT;
	_cleanup_(workload_done) struct workload workload = { 0 };
	int r = paths_init(cli->state, cli->configs, err, &paths);

	if (r >= 0)
		r = workload_load(&paths, cli->workload, err, &workload);
	if (r < 0)
		return r;
	b->class = cli->class;
	if (!b->class)
		b->class = cli->metric && str_eq(cli->metric, workload.driver_time) ? "time" : "exact";
	if (str_eq(b->class, "all"))
		return error_set(err, -EINVAL, "bisect takes --class exact or --class time");
	if (cli->metric)
		b->metric = strdup(cli->metric);
	else
		b->metric = strdup(str_eq(b->class, "time") ? workload.driver_time : workload.driver);
	return b->metric ? 0 : error_errno(err, -ENOMEM, "metric");
}

static int check_range(const struct cli *cli, const struct bisect *b, struct error *err)
{
	_cleanup_(repo_closep) struct repo *repo = NULL;
	_cleanup_(graph_done) struct graph graph = { 0 };
	int r = repo_open_read_only(cli->repo, err, &repo);

	return r < 0 ? r : repo_question(repo, b->oids[0], b->oids[1], NULL, err, &graph);
}

static int print_answer(const struct cli *cli, const json_t *document)
{
	_cleanup_str_ struct str text = STR_INIT;

	if (cli->json) {
		if (cli_print_json(document) < 0)
			return CLI_INFRA;
	} else if (report_text(document, &text) >= 0) {
		(void)fwrite(text.data, 1, text.len, stdout);
	}
	return str_eq(json_get_string(document, "verdict"), "gave-up") ? CLI_NO_ANSWER : CLI_ANSWER;
}

int cmd_bisect(const struct cli *cli)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(bisect_done) struct bisect b = { 0 };
	_cleanup_(oneshot_done) struct oneshot shot = { .cli = cli, .step = bisect_step, .userdata = &b };
	const char *const revs[] = { cli->good, cli->bad };
	const char *classes[] = { "exact", "time", NULL };
	int r = choose_metric(cli, &b, &err);

	if (r >= 0)
		r = oneshot_check(cli, revs, 2, classes, &err, b.oids);
	if (r >= 0)
		r = check_range(cli, &b, &err);
	if (r < 0)
		return cli_fail(&err);
	r = oneshot_run(&shot, &err);
	if (r < 0)
		return cli_fail(&err);
	if (shot.interrupted) {
		(void)fprintf(stderr, "interrupted: the same command goes on from here\n");
		return CLI_INTERRUPTED;
	}
	return print_answer(cli, b.document);
}
