/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU time of decisions, on a repository that tests/bench/decision.sh has made: `decision REPO SEED`. The range is read once, as the
 * daemon does; then whole searches for the same culprits, exact and among noise of 1 sigma, and git's, which reads the range each time.
 * What git needs falls as the range does; among noise all 15 000 stay candidates to the end. So the bar is git's first decision:
 * half of it in the mean, and never more than 50 ms. Exits 1 when it is missed.
 */
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "daemon/repo.h"
#include "lib/str.h"

#define RUNS_MAX 600
#include "tests/judge/world.h"

#define SEARCHES 5
#define STEPS_MAX 400
#define BAR_MS 50.0
#define RANGE "~8000" /* 15 000 commits: 8 of 15 are first parents */

extern char **environ;
static int64_t order[20000][RUNS_MAX];

struct cost {
	double sum, worst;
	int n;
};

static double cpu_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void add(struct cost *c, double ms)
{
	c->sum += ms;
	c->worst = fmax(c->worst, ms);
	c->n++;
}

static void say(const char *what, const struct cost *c)
{
	printf("%-28s %5d decisions, mean %7.2f ms, worst %7.2f ms\n", what, c->n, c->sum / c->n, c->worst);
	(void)fflush(stdout);
}

/* One search by the judge. */
static bool ours(const struct graph *g, int culprit, bool exact, struct cost *cost, struct cost *ret_first)
{
	struct judge_memo *memo = judge_memo_new();
	struct judge_options o = {.cls = exact ? JUDGE_EXACT : JUDGE_TIME, .floor = 0.002, .claim = 0.5, .run_seconds = 7,
				  .jitter = !exact, .memo = memo};
	struct judge_mark marks[100];
	struct world w;
	int64_t now = 0;
	bool right = false;

	world_init(&w, g->dag.n, 1);
	w.dag = g->dag;
	w.sigma = exact ? 0 : 50;
	world_set_culprit(&w, culprit);
	o.marks = marks;
	for (int i = 0; i < w.dag.n; i++) {
		w.obs[i].build_seconds = 40;
		w.obs[i].order = order[i];
	}
	for (int step = 0; step < STEPS_MAX; step++) {
		struct judge_decision d;
		double before = cpu_ms();

		if (judge_next(&w.dag, w.obs, &o, &d) < 0)
			break;
		double spent = cpu_ms() - before;

		add(cost, spent);
		if (step == 1) /* the one before asks for the ends */
			add(ret_first, spent);
		if (d.has_mark)
			marks[o.n_marks++] = d.mark;
		bool done = d.action == JUDGE_DONE;

		right = done && d.culprit == culprit;
		for (size_t i = 0; i < d.n_wants; i++) {
			struct judge_obs *b = &w.obs[d.wants[i].node];
			size_t had = b->n_values;

			world_measure(&w, d.wants[i]);
			b->build_seconds = 0;
			for (size_t k = had; k < b->n_values; k++)
				order[d.wants[i].node][k] = ++now;
		}
		judge_decision_done(&d);
		if (done)
			break;
	}
	(void)judge_memo_free(memo);
	world_done(&w);
	return right;
}

/* git rev-list --bisect; its first line, and its CPU time by the kernel's account. */
static bool rev_list(const char *repo, const struct graph *g, int bad, const int *goods, int n_goods, char out[65], double *ret_ms)
{
	char *argv[STEPS_MAX + 8], git_dir[4096], not[STEPS_MAX][66];
	int fds[2], status, n = 0;
	struct rusage usage;
	posix_spawn_file_actions_t actions;
	pid_t pid;

	(void)snprintf(git_dir, sizeof(git_dir), "--git-dir=%s", repo);
	argv[n++] = (char *)(uintptr_t) "git";
	argv[n++] = git_dir;
	argv[n++] = (char *)(uintptr_t) "rev-list";
	argv[n++] = (char *)(uintptr_t) "--bisect";
	argv[n++] = g->oids[bad];
	for (int i = 0; i < n_goods; i++) {
		(void)snprintf(not[i], sizeof(not[i]), "^%s", g->oids[goods[i]]);
		argv[n++] = not[i];
	}
	argv[n] = NULL;
	if (pipe(fds) < 0 || posix_spawn_file_actions_init(&actions) != 0)
		return false;
	(void)posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
	(void)posix_spawn_file_actions_addclose(&actions, fds[0]);
	int r = posix_spawnp(&pid, "git", &actions, NULL, argv, environ);

	(void)posix_spawn_file_actions_destroy(&actions);
	(void)close(fds[1]);
	ssize_t len = r == 0 ? read(fds[0], out, 64) : -1;

	(void)close(fds[0]);
	if (r != 0 || wait4(pid, &status, 0, &usage) < 0 || len < 40)
		return false;
	out[strcspn(out, "\n")] = '\0';
	*ret_ms = 1e3 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		  1e-3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	return true;
}

static bool theirs(const char *repo, const struct graph *g, int culprit, struct cost *cost, struct cost *ret_first)
{
	bool *is_bad = make((size_t)g->dag.n, sizeof(*is_bad));
	int bad = g->dag.n - 1, goods[STEPS_MAX] = {0}, n_goods = 1;

	descendants(&g->dag, culprit, is_bad);
	for (int step = 0; step < STEPS_MAX; step++) {
		char oid[65] = "";
		double ms;

		if (!rev_list(repo, g, bad, goods, n_goods, oid, &ms))
			break;
		int at = graph_find(g, oid);

		if (at < 0)
			break;
		add(cost, ms);
		if (step == 0)
			add(ret_first, ms);
		if (at == bad) {
			free(is_bad);
			return bad == culprit;
		}
		if (is_bad[at])
			bad = at;
		else
			goods[n_goods++] = at;
	}
	free(is_bad);
	return false;
}

int main(int argc, char **argv)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(repo_closep) struct repo *repo = NULL;
	_cleanup_(graph_done) struct graph g = {0};
	_cleanup_free_ char *good = NULL, *bad = NULL;
	struct cost exact = {0}, first = {0}, noisy = {0}, git = {0}, git_first = {0};
	bool right = true;

	if (argc != 3)
		return 2;
	random_seed(strtoull(argv[2], NULL, 0));
	double before = cpu_ms();

	if (repo_open_read_only(argv[1], &err, &repo) < 0 || repo_resolve(repo, "main" RANGE, &err, &good) < 0 ||
	    repo_resolve(repo, "main", &err, &bad) < 0 || repo_question(repo, good, bad, NULL, &err, &g) < 0) {
		(void)fprintf(stderr, "%s\n", error_text(&err));
		return 2;
	}
	int merges = 0;

	for (int i = 1; i < g.dag.n; i++) {
		int parents = 0;

		for (int e = g.dag.parent_start[i]; e < g.dag.parent_start[i + 1]; e++)
			parents++;
		merges += parents > 1;
	}
	printf("%d commits in range, %d merges; reading it once: %.0f ms\n", g.dag.n - 1, merges, cpu_ms() - before);
	if (g.dag.n > (int)(sizeof(order) / sizeof(order[0])))
		return 2;
	for (int i = 0; i < SEARCHES; i++) {
		int culprit = 1 + random_below(g.dag.n - 1);

		struct cost none = {0};

		right = ours(&g, culprit, true, &exact, &first) && right;
		right = theirs(argv[1], &g, culprit, &git, &git_first) && right;
		right = ours(&g, culprit, false, &noisy, &none) && right;
	}
	say("judge, exact", &exact);
	say("  the first of them", &first);
	say("judge, 1 sigma", &noisy);
	say("git rev-list --bisect", &git);
	say("  the first of them", &git_first);
	double bar = git_first.sum / git_first.n / 2;
	bool met = exact.worst <= BAR_MS && noisy.worst <= BAR_MS && first.sum / first.n <= bar && noisy.sum / noisy.n <= bar;

	printf("bar: at most %.0f ms, in the mean %.1f: %s%s\n", BAR_MS, bar, met ? "met" : "MISSED",
	       right ? "" : "; a WRONG culprit");
	return met && right ? 0 : 1;
}
