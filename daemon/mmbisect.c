// SPDX-License-Identifier: GPL-2.0-or-later
/* mmbisect: the person's command. A table of verbs and one of options; each verb is a file cmd-<verb>.c. */
#include "daemon/cli.h"

#include "daemon/report/lines.h"
#include "lib/log.h"
#include "lib/str.h"

#include <getopt.h>
#include <limits.h>

static const struct cli_verb verbs[] = {
	{ "bisect", cmd_bisect, "rgbwamctRsCjFNqv", "--repo DIR --good REV --bad REV --workload W [OPTIONS]",
	  "find the commit that made a workload slower, and prove it" },
	{ "compare", cmd_compare, "rwactsCpjqv", "--repo DIR --workload W [OPTIONS] [--patch FILE]... REV [REV...]",
	  "measure commits side by side: a table" },
	{ "run", cmd_run, "rwactsCjqv", "--repo DIR --workload W [OPTIONS] REV", "samples of one commit" },
	{ "log", cmd_log, "sCjxqv", "[OPTIONS] [ID]",
	  "the decisions of a search with their reasons, oldest first; without ID: all searches, newest first" },
	{ "replay", cmd_replay, "jqv", "[OPTIONS] FILE", "a recorded search once more, on paper: every decision and the verdict" },
	{ "accept", cmd_accept, "syCjqv", "--reason TEXT [OPTIONS] ID",
	  "tell the daemon that a finding or a tip is accepted: its level is the new base line" },
	{ "known", cmd_known, "syCjqv", "--reason TEXT [OPTIONS] ID", "tell the daemon that a finding or a tip is known: it is not mailed (again)" },
	{ "wrong", cmd_wrong, "syCjqv", "--reason TEXT [OPTIONS] ID", "tell the daemon that a finding or a tip is not true: it is not mailed (again)" },
	{ "doctor", cmd_doctor, "sCjqv", "[OPTIONS]", "what this host can do: tools, accelerator, disk, guests" },
	{ "simulate", cmd_simulate, "SMTeiJBPLmjqv", "[--scenario ID | --table | --power | --pool FILE] [OPTIONS]",
	  "how good the search is where the truth is known: made-up histories, noise and costs" },
};

static const struct cli_option {
	char letter;
	const char *name, *argument, *help;
} options[] = {
	{ 'r', "repo", "DIR", "kernel repository: work tree, worktree or bare; it is only read" },
	{ 'g', "good", "REV", "commit that was still fine; may be on another branch than --bad" },
	{ 'b', "bad", "REV", "commit that is slow" },
	{ 'w', "workload", "NAME", "what is measured (configs/workloads/)" },
	{ 'a', "arch", "ARCH", "x86_64 (default) or arm64" },
	{ 'm', "metric", "NAME", "metric to search, or status: how runs end; default: the workload's own" },
	{ 'c', "class", "CLASS", "exact (deterministic), time, or all" },
	{ 't', "times", "N", "runs of each row on machines of class time (default 5)" },
	{ 'R', "max-runs", "N", "most runs of a search of class time; how many of a commit is the judge's" },
	{ 'p', "patch", "FILE", "mail or diff: one more row, the first REV with it" },
	{ 's', "state", "DIR", "where everything is kept (default ~/.local/state/mmbisect)" },
	{ 'C', "configs", "DIR", "workloads, machines, kernel fragments" },
	{ 'j', "json", NULL, "one JSON document on stdout" },
	{ 'x', "export", NULL, "the search as a recording that mmbisect replay takes" },
	{ 'y', "reason", "TEXT", "why; shown with the finding" },
	{ 'F', "first-parent", NULL, "only commits on the first-parent line" },
	{ 'N', "no-verify", NULL, "no proof on machines of class time" },
	{ 'S', "scenario", "ID", "one world, or all of B1 to B16 (default)" },
	{ 'M', "method", "NAME", "judge (default), or one of its rivals" },
	{ 'T', "trials", "N", "searches in each world (default 300)" },
	{ 'e', "seed", "N", "of all that is random (default 1)" },
	{ 'i', "trial", "N", "this trial alone, each decision with its reason" },
	{ 'J', "jobs", "N", "processes at once (default: one a core)" },
	{ 'B', "table", NULL, "all methods side by side" },
	{ 'P', "power", NULL, "right answers and cost over the size of the change" },
	{ 'L', "pool", "FILE", "all methods among real noise: a document of compare or run --json" },
	{ 'q', "quiet", NULL, "no progress" },
	{ 'v', "verbose", NULL, "say more" },
};

int cli_fail(const struct error *err)
{
	_cleanup_free_ char *line = str_sanitize_line(error_text(err), strlen(error_text(err)));

	(void)fprintf(stderr, "mmbisect: %s\n", line ? line : "out of memory");
	switch (err->code) {
	case -EINVAL:
	case -ENOENT:
	case -EDOM:
	case -EBUSY:
	case -E2BIG:
	case -EUCLEAN:
	case -EACCES:
	case -ENOTDIR:
	case -EISDIR:
	case -EROFS:
		return CLI_USAGE;
	default:
		return CLI_INFRA;
	}
}

int cli_print_json(const json_t *document)
{
	int r = json_dumpf(document, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);

	(void)putchar('\n');
	if (r < 0 || fflush(stdout) != 0) {
		(void)fprintf(stderr, "mmbisect: cannot write the document: %s\n", strerror(errno));
		return -EIO;
	}
	return 0;
}

int cli_print_text(struct str *text)
{
	if (text->failed || fwrite(text->data, 1, text->len, stdout) != text->len || fflush(stdout) != 0) {
		(void)fprintf(stderr, "mmbisect: the text cannot be written\n");
		return CLI_INFRA;
	}
	return CLI_ANSWER;
}

void cli_add_reason(struct str *out, const char *indent, const char *reason)
{
	(void)str_add(out, indent);
	report_add_line(out, reason, REPORT_LINE_OCTETS);
	(void)str_add(out, "\n");
}

static void print_options(const struct cli_verb *verb)
{
	(void)printf("\nOptions:\n");
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		_cleanup_free_ char *left = str_format("--%s%s%s", options[i].name, options[i].argument ? " " : "",
						       options[i].argument ? options[i].argument : "");

		if (strchr(verb->options, options[i].letter) && left)
			(void)printf("  %-18s %s\n", left, options[i].help);
	}
	(void)printf("\nExit status: 0 %s, 2 usage or configuration, 3 infrastructure.\n",
		     verb->run == cmd_simulate ? "all bars were met, 1 one was missed" : "an answer was reached, 1 none could be");
	if (strchr(verb->options, 'r')) /* measures */
		(void)printf("What was measured is kept: after Ctrl-C the same command goes on where it was.\n");
}

static int print_help(const struct cli_verb *verb)
{
	if (verb) {
		(void)printf("mmbisect %s %s\n%s\n", verb->name, verb->usage, verb->help);
		print_options(verb);
		return CLI_ANSWER;
	}
	(void)printf("mmbisect COMMAND [OPTIONS]\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		(void)printf("  %-10s %s\n", verbs[i].name, verbs[i].help);
	(void)printf("\n`mmbisect COMMAND --help` says more, `mmbisect --version` which one this is. The service is mmbisectd(8); the pages come from mmbisect-web.\n");
	return CLI_ANSWER;
}

/* 1: it was one of these, 0: it is another option, negative: no such number, and said so. */
static int set_number(struct cli *cli, char letter, const char *text)
{
	const struct {
		char letter;
		const char *name;
		unsigned least, most;
		unsigned *number;
		bool *given;
	} numbers[] = {
		{ 't', "times", 1, 1000, &cli->times, &cli->times_given },
		{ 'R', "max-runs", 1, 1000000, &cli->max_runs, NULL },
		{ 'T', "trials", 1, 1000000, &cli->trials, NULL },
		{ 'e', "seed", 0, UINT_MAX, &cli->seed, &cli->seed_given },
		{ 'i', "trial", 0, 1000000, &cli->trial, &cli->trial_given },
		{ 'J', "jobs", 1, 64, &cli->jobs, NULL },
	};
	uint64_t n;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (numbers[i].letter != letter)
			continue;
		if (str_to_u64(text, &n) < 0 || n < numbers[i].least || n > numbers[i].most) {
			(void)fprintf(stderr, "mmbisect: --%s takes a number from %u to %u\n", numbers[i].name,
				      numbers[i].least, numbers[i].most);
			return -EINVAL;
		}
		*numbers[i].number = (unsigned)n;
		if (numbers[i].given)
			*numbers[i].given = true;
		return 1;
	}
	return 0;
}

static int set_class(struct cli *cli, const char *text)
{
	if (!str_eq(text, "exact") && !str_eq(text, "time") && !str_eq(text, "all")) {
		(void)fprintf(stderr, "mmbisect: --class takes exact, time or all\n");
		return -EINVAL;
	}
	cli->class = text;
	return 0;
}

static int set_option(struct cli *cli, char letter, const char *argument)
{
	const struct {
		char letter;
		const char **text;
		bool *flag;
	} fields[] = {
		{ 'r', &cli->repo, NULL },	   { 'g', &cli->good, NULL },	     { 'b', &cli->bad, NULL },
		{ 'w', &cli->workload, NULL },	   { 'a', &cli->arch, NULL },	     { 'm', &cli->metric, NULL },
		{ 's', &cli->state, NULL },	   { 'C', &cli->configs, NULL },     { 'j', NULL, &cli->json },
		{ 'F', NULL, &cli->first_parent }, { 'N', NULL, &cli->no_verify },   { 'q', NULL, &cli->quiet },
		{ 'v', NULL, &cli->verbose },	   { 'S', &cli->scenario, NULL },    { 'M', &cli->method, NULL },
		{ 'B', NULL, &cli->table },	   { 'P', NULL, &cli->power },	     { 'x', NULL, &cli->export },
		{ 'y', &cli->reason, NULL },	   { 'L', &cli->pool, NULL },
	};
	int r = set_number(cli, letter, argument);

	if (r != 0)
		return r;
	if (letter == 'c')
		return set_class(cli, argument);
	if (letter == 'p') {
		if (cli->n_patches == ARRAY_SIZE(cli->patches)) {
			(void)fprintf(stderr, "mmbisect: at most %zu patches\n", ARRAY_SIZE(cli->patches));
			return -EINVAL;
		}
		cli->patches[cli->n_patches++] = argument;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (fields[i].letter != letter)
			continue;
		if (fields[i].text)
			*fields[i].text = argument;
		else
			*fields[i].flag = true;
	}
	return 0;
}

static int wrong_option(const struct cli_verb *verb, int c, const char *given)
{
	/* Known, but not to this verb: `given` may be its argument. */
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].letter == c) {
			(void)fprintf(stderr, "mmbisect %s: unknown option --%s (mmbisect %s --help)\n", verb->name,
				      options[i].name, verb->name);
			return -EINVAL;
		}
	(void)fprintf(stderr, "mmbisect %s: %s %s (mmbisect %s --help)\n", verb->name,
		      c == ':' ? "an argument is missing behind" : "unknown option", given, verb->name);
	return -EINVAL;
}

/* 1 go on, 0 help was printed, negative: wrong, and said so. */
static int parse_options(const struct cli_verb *verb, int argc, char **argv, struct cli *cli)
{
	struct option longs[ARRAY_SIZE(options) + 2] = { 0 };
	int c;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		longs[i] = (struct option){ options[i].name, options[i].argument ? required_argument : no_argument, NULL,
					    options[i].letter };
	longs[ARRAY_SIZE(options)] = (struct option){ "help", no_argument, NULL, 'h' };
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":hjqv", longs, NULL)) != -1) {
		if (c == 'h') {
			(void)print_help(verb);
			return 0;
		}
		if (c == '?' || c == ':' || !strchr(verb->options, c))
			return wrong_option(verb, c, argv[optind - 1]);
		if (set_option(cli, (char)c, optarg) < 0)
			return -EINVAL;
	}
	cli->revs = (const char **)(uintptr_t)(argv + optind);
	cli->n_revs = (size_t)(argc - optind);
	return 1;
}

static int check_needed(const struct cli_verb *verb, const struct cli *cli)
{
	const struct {
		char letter;
		const char *name, *value;
	} needed[] = { { 'r', "--repo", cli->repo }, { 'w', "--workload", cli->workload },
		       { 'g', "--good", cli->good }, { 'b', "--bad", cli->bad } };

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (strchr(verb->options, needed[i].letter) && !needed[i].value) {
			(void)fprintf(stderr, "mmbisect %s: %s is needed (mmbisect %s --help)\n", verb->name, needed[i].name,
				      verb->name);
			return -EINVAL;
		}
	if ((verb->run == cmd_bisect || verb->run == cmd_doctor || verb->run == cmd_simulate) && cli->n_revs) {
		(void)fprintf(stderr, "mmbisect %s: what is '%s'?\n", verb->name, cli->revs[0]);
		return -EINVAL;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct cli cli = { .arch = "x86_64" };
	const struct cli_verb *verb = NULL;
	const char *name = argc > 1 ? argv[1] : NULL;
	bool help;
	int r;

	help = !name || str_eq(name, "help") || str_eq(name, "--help") || str_eq(name, "-h");
	if (name && str_eq(name, "--version")) {
		(void)printf("mmbisect " MMB_VERSION "\n");
		return CLI_ANSWER;
	}
	if (help && argc > 2)
		name = argv[2];
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (name && str_eq(verbs[i].name, name))
			verb = &verbs[i];
	if (!verb && (!help || argc > 2)) {
		(void)fprintf(stderr, "mmbisect: unknown command '%s' (mmbisect help)\n", name);
		return CLI_USAGE;
	}
	if (help) {
		(void)print_help(verb);
		return name ? CLI_ANSWER : CLI_USAGE;
	}
	r = parse_options(verb, argc - 1, argv + 1, &cli);
	if (r <= 0)
		return r < 0 ? CLI_USAGE : CLI_ANSWER;
	if (check_needed(verb, &cli) < 0)
		return CLI_USAGE;
	log_init("mmbisect", cli.verbose ? LOG_LEVEL_DEBUG : cli.quiet ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO);
	return verb->run(&cli);
}
