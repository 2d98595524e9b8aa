/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_CLI_H
#define MMB_CLI_H

/*
 * The person's command: its options, its exit statuses, and what the verbs share.
 *
 * A verb is one file cmd-<verb>.c with a const entry in mmbisect.c's table.
 */
#include "daemon/engine.h"

/* DESIGN.md, section 5. */
enum { CLI_ANSWER = 0, CLI_NO_ANSWER = 1, CLI_USAGE = 2, CLI_INFRA = 3, CLI_INTERRUPTED = 130 };

#define MMB_VERSION "0.1"

struct cli {
	const char *repo, *good, *bad, *workload, *arch, *metric, *class, *state, *configs;
	const char *patches[16];
	size_t n_patches;
	const char **revs; /* what stands behind the options */
	size_t n_revs;
	unsigned times;	   /* 0: default */
	unsigned max_runs; /* 0: the judge's own */
	/* simulate */
	const char *scenario, *method, *pool;
	const char *reason; /* accept, known, wrong */
	unsigned trials, seed, trial, jobs; /* 0: default */
	bool seed_given, trial_given, table, power;
	bool times_given, json, export, first_parent, no_verify, quiet, verbose;
};

struct cli_verb {
	const char *name;
	int (*run)(const struct cli *cli); /* returns the exit status */
	const char *options;		   /* letters of options that it takes, as in the table of mmbisect.c */
	const char *usage, *help;
};

int cmd_bisect(const struct cli *cli);
int cmd_compare(const struct cli *cli);
int cmd_run(const struct cli *cli);
int cmd_log(const struct cli *cli);
int cmd_replay(const struct cli *cli);
int cmd_doctor(const struct cli *cli);
int cmd_accept(const struct cli *cli);
int cmd_known(const struct cli *cli);
int cmd_wrong(const struct cli *cli);
int cmd_simulate(const struct cli *cli);

/* Prints the error and gives the exit status that fits it. */
int cli_fail(const struct error *err);
/* One JSON document on stdout. */
int cli_print_json(const json_t *document);
/* A whole text on stdout: CLI_ANSWER, or CLI_INFRA and a line on stderr. */
int cli_print_text(struct str *text);
/* One line of what the judge said. */
void cli_add_reason(struct str *out, const char *indent, const char *reason);
#define CLI_SUBJECT_COLUMNS 60

#endif
