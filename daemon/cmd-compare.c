// SPDX-License-Identifier: GPL-2.0-or-later
/* mmbisect compare and mmbisect run: rows of commits, measured side by side. */
#include "daemon/cli.h"
#include "daemon/definition.h"
#include "daemon/environment.h"
#include "daemon/oneshot.h"
#include "daemon/plan.h"
#include "daemon/report/table.h"
#include "daemon/report/text.h"
#include "daemon/rows.h"
#include "lib/str.h"

struct comparison {
	const char *kind;
	struct rows rows;
	char **oids;
	bool made;
	json_t *document;
};

static void comparison_done(struct comparison *c)
{
	for (size_t i = 0; c->oids && c->oids[i]; i++)
		free(c->oids[i]);
	free(c->oids);
	rows_done(&c->rows);
	json_decref(c->document);
}

/* The classes that --class asks for; without it, all. */
static bool wants_class(const struct cli *cli, const char *class)
{
	return !cli->class || str_eq(cli->class, "all") || str_eq(cli->class, class);
}

static int add_patches(struct oneshot *shot, struct comparison *c, struct error *err)
{
	const struct cli *cli = shot->cli;

	for (size_t i = 0; i < cli->n_patches; i++) {
		_cleanup_free_ char *oid = NULL, *label = str_format("%s + %s", cli->revs[0], cli->patches[i]);
		int r = repo_apply_file(shot->engine->repo, cli->patches[i], c->oids[0], err, &oid);

		if (r < 0)
			return r;
		r = label ? rows_add(&c->rows, cli->patches[i], label, oid, NULL, NULL) : -ENOMEM;
		if (r < 0)
			return error_errno(err, r, "compare");
	}
	return 0;
}

static int make_rows(struct oneshot *shot, struct comparison *c, struct error *err)
{
	const struct cli *cli = shot->cli;
	const unsigned time_runs = cli->times_given ? cli->times : 5;
	int r = 0;

	c->rows.arch = cli->arch;
	c->rows.workload = cli->workload;
	c->rows.priority = PRIORITY_SEARCH;
	/* More exact runs than one say nothing new, but whoever asks for them by class gets them. */
	c->rows.runs_exact = wants_class(cli, "exact") ? cli->times_given && cli->class ? cli->times : 1 : 0;
	c->rows.runs_time = wants_class(cli, "time") ? time_runs : 0;
	for (size_t i = 0; r >= 0 && i < cli->n_revs; i++)
		r = rows_add(&c->rows, cli->revs[i], cli->revs[i], c->oids[i], NULL, NULL);
	if (r < 0)
		return error_errno(err, r, "compare");
	r = add_patches(shot, c, err);
	if (r >= 0)
		c->made = true;
	return r;
}

static int make_document(struct oneshot *shot, struct comparison *c, struct error *err)
{
	const struct cli *cli = shot->cli;
	_cleanup_(workload_done) struct workload workload = { 0 };
	json_t *rows = NULL;
	int r = workload_load(&shot->engine->paths, cli->workload, err, &workload);

	if (r >= 0)
		r = rows_json(shot->engine, &c->rows, err, &rows);
	if (r < 0)
		return r;
	c->document = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "kind", c->kind, "status", c->rows.broken ? "infra" : "ok",
				"workload", cli->workload, "arch", cli->arch, "metric",
				wants_class(cli, "exact") ? workload.driver : workload.driver_time, "rows", rows);
	r = c->document ? environment_add(shot->engine, cli->arch, cli->workload, c->rows.runs_exact > 0,
					  c->rows.runs_time > 0, c->document) :
			  -ENOMEM;
	return r < 0 ? error_errno(err, r, "compare") : 0;
}

static int comparison_step(struct oneshot *shot, struct error *err)
{
	struct comparison *c = shot->userdata;
	bool pending = false;
	int r = c->made ? 0 : make_rows(shot, c, err);

	if (r >= 0)
		r = rows_step(shot->engine, &c->rows, err, &pending);
	if (r < 0 || pending)
		return r;
	r = make_document(shot, c, err);
	shot->finished = r >= 0;
	return r;
}

static int print_comparison(const struct cli *cli, const struct comparison *c)
{
	_cleanup_str_ struct str text = STR_INIT;
	bool measured = false;

	if (cli->json) {
		if (cli_print_json(c->document) < 0)
			return CLI_INFRA;
	} else if (report_text(c->document, &text) >= 0) {
		(void)fwrite(text.data, 1, text.len, stdout);
	}
	if (c->rows.broken)
		return CLI_INFRA;
	for (size_t i = 0; i < c->rows.n; i++)
		measured |= !c->rows.items[i].status;
	return measured ? CLI_ANSWER : CLI_NO_ANSWER;
}

static int compare_or_run(const struct cli *cli, const char *kind)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(comparison_done) struct comparison c = { .kind = kind };
	_cleanup_(oneshot_done) struct oneshot shot = { .cli = cli, .step = comparison_step, .userdata = &c };
	const char *classes[3] = { NULL };
	size_t n = 0;
	int r;

	if (wants_class(cli, "exact"))
		classes[n++] = "exact";
	if (wants_class(cli, "time"))
		classes[n++] = "time";
	c.oids = calloc(cli->n_revs + 1, sizeof(*c.oids));
	r = c.oids ? oneshot_check(cli, cli->revs, cli->n_revs, classes, &err, c.oids) : -ENOMEM;
	if (r >= 0)
		r = oneshot_run(&shot, &err);
	if (r < 0)
		return cli_fail(&err);
	if (shot.interrupted) {
		(void)fprintf(stderr, "interrupted: the same command goes on from here\n");
		return CLI_INTERRUPTED;
	}
	return print_comparison(cli, &c);
}

int cmd_compare(const struct cli *cli)
{
	if (cli->n_revs < 1 || cli->n_revs + cli->n_patches < 2) {
		(void)fprintf(stderr, "mmbisect compare: give two revisions or more, or one and --patch FILE\n");
		return CLI_USAGE;
	}
	return compare_or_run(cli, "compare");
}

int cmd_run(const struct cli *cli)
{
	if (cli->n_revs != 1) {
		(void)fprintf(stderr, "mmbisect run: give one revision\n");
		return CLI_USAGE;
	}
	return compare_or_run(cli, "run");
}
