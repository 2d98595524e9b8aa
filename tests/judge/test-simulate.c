/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The simulation: is the world what it says, does the referee know right from wrong, are the rivals
 * as bad as they are known to be, and does the judge meet its bars on a small seeded set?
 *
 * Bars here are wider than those of `make bench-judge` by what chance does to fewer trials: see
 * failures_allowed() and cost_allowed().
 */
#include "daemon/simulate/ask.h"
#include "daemon/simulate/graph.h"
#include "daemon/simulate/runner.h"
#include "daemon/simulate/scenario.h"

#include <stdlib.h>

#include "tap.h"

#define SEED 7

static const struct trial_options plain = {0};

static void fatal(const char *what)
{
	printf("Bail out! %s\n", what);
	exit(1);
}

static void make_world(struct world *w, const struct world_options *o, unsigned trial)
{
	if (world_init(w, o, SEED, "test", trial) < 0)
		fatal("no world");
}

struct moments {
	double mean, sd, skew;
};

static struct moments moments_of(const double *x, size_t n)
{
	struct moments m = {0};

	for (size_t i = 0; i < n; i++)
		m.mean += x[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		double d = x[i] - m.mean;

		m.sd += d * d / (double)n;
		m.skew += d * d * d / (double)n;
	}
	m.sd = sqrt(m.sd);
	m.skew /= m.sd > 0 ? m.sd * m.sd * m.sd : 1;
	return m;
}

static void test_rng(void)
{
	enum { N = 100000 };
	static double x[N];
	struct rng a, b, c, d;
	int counts[7] = {0}, same = 0, low = N, high = 0;

	rng_seed(&a, 1, "name", 0);
	for (int i = 0; i < N; i++)
		x[i] = rng_unit(&a);
	struct moments m = moments_of(x, N);

	is_near(m.mean, 0.5, 0.004, "uniform: mean");
	is_near(m.sd, sqrt(1.0 / 12), 0.003, "uniform: sd");
	for (int i = 0; i < N; i++)
		x[i] = rng_normal(&a);
	m = moments_of(x, N);
	is_near(m.mean, 0, 0.013, "normal: mean");
	is_near(m.sd, 1, 0.01, "normal: sd");
	is_near(m.skew, 0, 0.03, "normal: skewness");
	for (int i = 0; i < N; i++)
		counts[rng_below(&a, 7)]++;
	for (int i = 0; i < 7; i++) {
		low = counts[i] < low ? counts[i] : low;
		high = counts[i] > high ? counts[i] : high;
	}
	ok(low > N / 7 - 500 && high < N / 7 + 500, "all of 0 to 6 are as frequent");

	rng_seed(&a, 1, "name", 5);
	rng_seed(&b, 1, "name", 6);
	rng_seed(&c, 2, "name", 5);
	rng_seed(&d, 1, "nama", 5);
	for (int i = 0; i < 1000; i++) {
		uint64_t v = rng_u64(&a);

		same += v == rng_u64(&b);
		same += v == rng_u64(&c);
		same += v == rng_u64(&d);
	}
	is_int(same, 0, "seed, name and number each make another sequence");
}

static void test_graphs(void)
{
	int bad = 0, merges = 0, octopuses = 0, outside = 0;

	for (unsigned i = 0; i < 300; i++) {
		struct sim_graph g;
		struct rng rng;

		rng_seed(&rng, SEED, "graph", i);
		if (sim_graph_merges(1 + rng_below(&rng, 200), &rng, &g) < 0)
			fatal("no graph");
		bad += judge_dag_check(&g.dag) < 0;
		for (int k = 1; k < g.dag.n; k++) {
			int parents = g.start[k + 1] - g.start[k];

			merges += parents > 1;
			octopuses += parents > 2;
			bad += parents < 1;
			outside += g.parents[g.start[k]] == JUDGE_OUTSIDE;
		}
		sim_graph_done(&g);
	}
	is_int(bad, 0, "300 graphs: all are ones the judge takes");
	ok(merges > 1000 && octopuses > 50 && outside > 100,
	   "they have merges (%d), octopus merges (%d), old branches (%d)", merges, octopuses,
	   outside);
}

static void test_costs(void)
{
	const struct world_options o = {.commits = 1024, .steps = {1}};
	struct world w;
	double value;

	is_near(world_build_seconds(0), 60, 1e-9, "a new build: 60 s");
	is_near(world_build_seconds(1), 19.5, 1e-9, "beside an image: 15 s + 45/10");
	is_near(world_build_seconds(127), 15 + 45 * 0.7, 1e-9, "127 commits off");
	is_near(world_build_seconds(5000), 60, 1e-9, "never more than a new one");

	make_world(&w, &o, 0);
	memset(w.broken, 0, (size_t)w.graph.dag.n);
	w.broken[500] = 1;
	is_near(w.obs[9].build_seconds, 60, 1e-9, "all costs 60 s at first");
	ok(world_build(&w, 0, 0) && w.seconds == 60, "the first build");
	is_near(w.obs[1].build_seconds, 19.5, 1e-9, "then the next commit 19.5");
	is_near(w.obs[0].build_seconds, 0, 1e-9, "and what is there nothing");
	ok(world_build(&w, 0, 0) && w.seconds == 60 && w.builds == 1, "paid for once");
	ok(world_build(&w, 512, 0), "another");
	is_near(w.seconds, 60 + world_build_seconds(512), 1e-9, "by its distance");
	double before = w.seconds;

	ok(!world_build(&w, 500, 0) && w.obs[500].state == JUDGE_SKIPPED,
	   "one that does not build");
	is_near(w.seconds - before, world_build_seconds(12) / 2, 1e-9, "at half the price");
	ok(!world_build(&w, 500, 0) && w.builds == 3, "which is paid once");
	before = w.seconds;
	ok(world_build(&w, 512, 3), "another layout of it");
	is_near(w.seconds - before, 60, 1e-9, "shares nothing with the first");
	before = w.seconds;
	if (world_run(&w, 512, 3, &value) < 0)
		fatal("no run");
	is_near(w.seconds - before, 7, 1e-9, "a run: 7 s");
	ok(w.obs[512].n_values == 1 && w.obs[512].layout[0] == 3 && w.obs[512].order[0] == 1 &&
		   w.obs[512].values[0] == value && w.obs[512].state == JUDGE_TESTED,
	   "and it can be seen");
	is_int(world_runs_of(&w, 512, 3), 1, "one of this layout");
	is_int(world_runs_of(&w, 512, 0), 0, "none of the other");
	world_done(&w);
}

enum { RUNS = 40000 };
static double values[RUNS];

/* Many runs of the good anchor of a world of these options, less its level. */
static struct moments noise(struct world_options o)
{
	struct world w;

	o.commits = 4;
	make_world(&w, &o, 3);
	(void)world_build(&w, 0, 0);
	for (int i = 0; i < RUNS; i++) {
		if (world_run(&w, 0, 0, &values[i]) < 0)
			fatal("no run");
		values[i] -= WORLD_LEVEL;
	}
	world_done(&w);
	return moments_of(values, RUNS);
}

/* Standard errors of 40000 runs: mean 0.005, sd 0.0035; bands of 4. */
static void test_noise(void)
{
	struct moments m = noise((struct world_options){0});

	is_near(m.mean, 0, 0.02, "a run: mean");
	is_near(m.sd, 1, 0.015, "a run: sd is 1 sigma, of boot and iterations together");
	is_near(m.skew, 0, 0.05, "a run: skewness");

	m = noise((struct world_options){.outliers = 0.03});
	is_near(m.mean, 0.03 * 6.5, 0.03, "outliers: 3 to 10 sigma, one side");
	is_near(m.sd, sqrt(1 + 0.03 * (49.0 / 12 + 42.25) - pow(0.195, 2)), 0.04, "outliers: sd");
	m = noise((struct world_options){.slow_boots = 0.25, .slow_by = 4});
	is_near(m.mean, 1, 0.05, "slow boots: mean");
	is_near(m.sd, 2, 0.03, "slow boots: sd");
	m = noise((struct world_options){.quiet = true, .outliers = 1});
	ok(m.mean == 0 && m.sd == 0, "no noise at all");

	(void)noise((struct world_options){.drift = 0.05});
	for (int i = 0; i + 1 < RUNS; i++)
		values[i] = values[i + 1] - values[i];
	m = moments_of(values, RUNS - 1);
	is_near(m.sd, sqrt(2 + 0.0025), 0.03, "drift: neighbours hardly differ by it");
	m = noise((struct world_options){.drift = 1});
	ok(m.sd > 20, "drift: far ones do");
}

static void test_jitter(void)
{
	enum { WORLDS = 1500 };
	const struct world_options o = {.commits = 4, .quiet = true, .jitter = 0.4, .layouts = 4};
	static double x[2 * WORLDS];
	int repeats = 0, alike = 0;

	for (unsigned i = 0; i < WORLDS; i++) {
		struct world w;
		double again;

		make_world(&w, &o, i);
		for (unsigned char l = 0; l < 2; l++) {
			(void)world_build(&w, 2, l);
			if (world_run(&w, 2, l, &x[2 * i + l]) < 0 ||
			    world_run(&w, 2, l, &again) < 0)
				fatal("no run");
			repeats += again == x[2 * i + l];
		}
		alike += x[2 * i] == x[2 * i + 1];
		world_done(&w);
	}
	struct moments m = moments_of(x, 2 * WORLDS);

	is_int(repeats, 2 * WORLDS, "jitter: another run of an image is off by the same");
	is_int(alike, 0, "jitter: another layout is off by another");
	is_near(m.mean, WORLD_LEVEL, 0.03, "jitter: mean");
	is_near(m.sd, 0.4, 0.021, "jitter: sd");
}

static void test_truth(void)
{
	const struct world_options two = {.commits = 50, .steps = {2, -1}};
	const struct world_options ramp = {.commits = 50, .steps = {2}, .ramp = 8};
	struct world w;

	make_world(&w, &two, 1);
	is_int(w.n_steps, 2, "two steps");
	is_near(world_total(&w), 1, 1e-9, "which add up at the bad end");
	is_near(w.level[0], 0, 1e-9, "none is seen at the good end");
	ok(referee_is_culprit(&w, w.steps[0].node) && !referee_is_culprit(&w, w.steps[1].node),
	   "the one that makes it better is no culprit");
	is_near(w.level[w.steps[0].node] - w.level[w.steps[0].node - 1], 2, 1e-9, "a step of 2");
	world_done(&w);

	make_world(&w, &ramp, 1);
	is_int(w.n_steps, 8, "a ramp of eight");
	is_near(w.level[w.steps[3].node] - w.level[w.steps[3].node - 1], 0.25, 1e-9, "small steps");
	is_near(world_total(&w), 2, 1e-9, "make one large");
	world_done(&w);
}

/* Where culprits and holes fall. 400 worlds of 100 commits: 25 are the error of 8000 holes,
 * clusters make it twice that. */
static void test_places(void)
{
	const struct world_options o = {.commits = 100, .steps = {1}, .unbuildable = 0.2};
	int first_half = 0, holes = 0, clusters = 0, anchors = 0;

	for (unsigned i = 0; i < 400; i++) {
		struct world w;

		make_world(&w, &o, i);
		first_half += w.steps[0].node <= 50;
		anchors += w.broken[0] || w.broken[100];
		for (int k = 1; k < 100; k++) {
			holes += w.broken[k];
			clusters += w.broken[k] && !w.broken[k - 1];
		}
		world_done(&w);
	}
	is_near(first_half, 200, 40, "culprits are everywhere");
	is_int(anchors, 0, "the anchors build");
	ok(holes > 5500 && holes < 8000, "a fifth, nearly, does not build (%d of 40000)", holes);
	ok(holes > 3 * clusters && holes < 6 * clusters, "in clusters of about four");
}

static void test_noops(void)
{
	const struct world_options o = {.commits = 40, .steps = {1}, .noop = 0.5};
	struct world w;
	double value;
	int a = 0;

	make_world(&w, &o, 2);
	for (int i = 1; i <= 40 && !a; i++)
		if (w.image[i] != i)
			a = i;
	int b = w.image[a];

	ok(a > 0 && w.level[a] == w.level[b], "commit %d leaves the image of %d", a, b);
	(void)world_build(&w, b, 0);
	if (world_run(&w, b, 0, &value) < 0)
		fatal("no run");
	ok(w.obs[a].n_values == 0 && w.obs[a].image == 0, "which is not known before it is built");
	(void)world_build(&w, a, 0);
	ok(w.obs[a].image == w.obs[b].image && w.obs[a].image > 0, "one image then");
	ok(w.obs[a].n_values == 1 && w.obs[a].values[0] == value, "and its runs are those of both");
	is_int(world_runs_of(&w, a, 0), 1, "they count");
	world_done(&w);
}

static enum outcome judged(const struct world *w, const int *nodes, size_t n)
{
	enum outcome outcome;

	if (referee_judge(w, nodes, n, &outcome) < 0)
		fatal("no referee");
	return outcome;
}

/* A world whose culprit and holes are put where the test wants them. */
static void place(struct world *w, int culprit, int hole, int holes)
{
	w->steps[0] = (struct world_step){culprit, 1};
	w->n_steps = 1;
	for (int i = 0; i < holes; i++)
		w->broken[hole + i] = 1;
}

static void test_referee(void)
{
	const struct world_options o = {.commits = 12, .steps = {1}};
	struct world w;

	make_world(&w, &o, 0);
	place(&w, 5, 4, 3); /* 4, 5 and 6 do not build: 4 to 7 cannot be told apart */
	is_int(judged(&w, (int[]){5}, 1), OUTCOME_RIGHT, "the culprit");
	is_int(judged(&w, (int[]){6}, 1), OUTCOME_WRONG, "its neighbour");
	is_int(judged(&w, (int[]){4, 5, 6, 7}, 4), OUTCOME_RIGHT, "all that nobody can tell apart");
	is_int(judged(&w, (int[]){3, 4, 5, 6, 7}, 5), OUTCOME_WIDE, "one more");
	is_int(judged(&w, (int[]){4, 5, 6}, 3), OUTCOME_WIDE,
	       "one less is another set that holds it");
	is_int(judged(&w, (int[]){8, 9}, 2), OUTCOME_WRONG, "a set without it");
	is_int(judged(&w, NULL, 0), OUTCOME_WRONG, "nobody");
	ok(referee_is_near_culprit(&w, 7) && referee_is_near_culprit(&w, 4) &&
		   !referee_is_near_culprit(&w, 3) && !referee_is_near_culprit(&w, 8),
	   "near are those of the hole");
	world_done(&w);
}

/* 1 and 2 on two branches that 3 merges, then 4: 2 and 3 do not build. */
static void test_referee_graph(void)
{
	static int start[] = {0, 0, 1, 2, 4, 5}, parents[] = {0, 0, 1, 2, 3};
	const struct world_options o = {.commits = 4, .steps = {1}};
	struct world w;

	make_world(&w, &o, 0);
	struct judge_dag strand = w.graph.dag;

	w.graph.dag = (struct judge_dag){5, start, parents};
	place(&w, 2, 2, 2);
	is_int(judged(&w, (int[]){2, 3, 4}, 3), OUTCOME_RIGHT,
	       "graph: what only the last one tells");
	is_int(judged(&w, (int[]){1, 2, 3, 4}, 4), OUTCOME_WIDE, "graph: the other branch builds");
	w.steps[0].node = 1;
	is_int(judged(&w, (int[]){1, 2}, 2), OUTCOME_WIDE, "graph: it was enough alone");
	w.graph.dag = strand;
	world_done(&w);
}

static struct tally trials(const struct world_options *world, const char *method, unsigned n,
			   const struct trial_options *options)
{
	const struct method *m = method_find(method);
	struct tally tally = {0};

	if (!m)
		fatal("no such method");
	for (unsigned i = 0; i < n; i++) {
		struct trial t;

		if (trial_run(world, m, options, SEED, "test", i, &t) < 0)
			fatal("a trial failed");
		tally_add(&tally, &t);
	}
	return tally;
}

static bool same_trial(const struct trial *a, const struct trial *b)
{
	return a->outcome == b->outcome && a->seconds == b->seconds && a->runs == b->runs &&
	       a->builds == b->builds && a->decisions == b->decisions && a->partial == b->partial;
}

static void test_same(void)
{
	const struct world_options o = {
		.commits = 100, .steps = {2}, .outliers = 0.03, .merges = true, .unbuildable = 0.1};
	struct trial a, b, c;
	int differ = 0;

	for (unsigned i = 0; i < 4; i++) {
		if (trial_run(&o, &methods[0], &plain, SEED, "same", i, &a) < 0 ||
		    trial_run(&o, &methods[0], &plain, SEED, "same", i, &b) < 0 ||
		    trial_run(&o, &methods[0], &plain, SEED + 1, "same", i, &c) < 0)
			fatal("a trial failed");
		ok(same_trial(&a, &b), "trial %u again: the same in all respects", i);
		differ += !same_trial(&a, &c);
	}
	ok(differ > 0, "another seed is another world");
}

static void test_runner(void)
{
	const struct world_options o = {.commits = 64, .steps = {1}, .outliers = 0.03};
	struct runner runner = {.world = &o,
				.method = method_find("bis3"),
				.options = &plain,
				.seed = SEED,
				.name = "test",
				.trials = 50,
				.jobs = 1};
	struct tally one = {0}, two = {0}, here = trials(&o, "bis3", 50, &plain);

	is_int(runner_run(&runner, NULL, &one), 0, "one process");
	runner.jobs = 3;
	is_int(runner_run(&runner, NULL, &two), 0, "three processes");
	ok(memcmp(one.outcomes, two.outcomes, sizeof(one.outcomes)) == 0 &&
		   memcmp(one.outcomes, here.outcomes, sizeof(one.outcomes)) == 0,
	   "the same comes out, as without any");
	is_near(one.cost, two.cost, 1e-6, "at the same cost");
	is_int(one.trials, 50, "each trial once");
}

/*
 * What part B of the study and long runs of this simulation found. Standard error of a share of 300
 * is at most 2.9, of 400 at d=1, 64 commits and 11 % right 1.6: bands are 3.5 errors of both.
 */
static void test_rivals(void)
{
	static const struct {
		const char *method;
		int commits;
		double effect, right, band, cost, cost_band;
	} known[] = {
		{"bis1", 64, 1, 11.0, 8, 382, 2},      {"bis1", 64, 5, 88.0, 8, 382, 2},
		{"bis3", 64, 2, 53.0, 12, 466, 2},     {"bis10", 64, 2, 90.0, 8, 830, 2},
		{"bis10", 1000, 1, 25.2, 11, 1313, 9}, {"bis40", 64, 1, 89.8, 8, 2510, 2},
		{"bis80", 64, 0.5, 61.5, 12, 4750, 2}, {"sprt", 64, 1, 82.2, 12, 1350, 160},
		{"sprt", 1000, 5, 83.5, 10, 678, 30},  {"pba1", 64, 5, 99.8, 3, 483, 30},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		const struct world_options o = {
			.commits = known[i].commits, .steps = {known[i].effect}, .outliers = 0.03};
		struct tally t = trials(&o, known[i].method, 300, &plain);

		is_near(tally_percent(&t, OUTCOME_RIGHT), known[i].right, known[i].band,
			"%s, %d commits, %g sigma: right", known[i].method, known[i].commits,
			known[i].effect);
		is_near(tally_mean(&t, t.cost), known[i].cost, known[i].cost_band,
			"at the known cost");
	}
	const struct world_options none = {.commits = 64, .claim = 1, .outliers = 0.03};
	struct tally t = trials(&none, "bis10", 50, &plain);

	is_int(t.outcomes[OUTCOME_WRONG], 50, "nothing changed: git bisect always accuses");
	t = trials(&none, "pinpoint", 50, &plain);
	ok(t.outcomes[OUTCOME_WRONG] <= 2, "nothing changed: ranks seldom do");
}

/* Without noise all find the culprit, with holes beside it too; a graph is git bisect's as well. */
static void test_rivals_quiet(void)
{
	static const char *const names[] = {"bis1", "pinpoint", "sprt", "pba1"};
	const struct world_options holes = {
		.commits = 60, .steps = {3}, .quiet = true, .unbuildable = 0.3};
	const struct world_options graph = {
		.commits = 150, .steps = {3}, .quiet = true, .merges = true, .unbuildable = 0.2};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct tally t = trials(&holes, names[i], 60, &plain);

		is_int(t.outcomes[OUTCOME_RIGHT], 60, "%s: right where there is no noise",
		       names[i]);
	}
	struct tally t = trials(&graph, "bis1", 60, &plain);

	is_int(t.outcomes[OUTCOME_RIGHT], 60, "bis1: on graphs too");
}

/*
 * How many of n may fail when each does with probability p: more than that is less likely than one
 * in two thousand, so that a judge that just meets its bar fails one of the ~20 checks here in 1 %
 * of all seeds, and the seed is fixed.
 */
static unsigned failures_allowed(unsigned n, double p)
{
	double term = pow(1 - p, n), sum = term;
	unsigned k = 0;

	while (1 - sum > 0.0005 && k < n) {
		k++;
		term *= (n - k + 1.0) / k * p / (1 - p);
		sum += term;
	}
	return k;
}

/* A mean cost may be over its bar by 3.3 standard errors: one in two thousand as well. */
static double cost_allowed(const struct tally *t, double bar)
{
	return bar + 3.3 * tally_cost_error(t);
}

static void test_allowed(void)
{
	is_int(failures_allowed(300, 0.01), 10,
	       "of 300 at 1 %% ten may fail: P(11 or more) is 0.0003");
	is_int(failures_allowed(20, 0.01), 3,
	       "of 20 three: P(4 or more) is 0.00004, of 3 or more 0.001");
	is_int(failures_allowed(10, 0), 0, "what never fails may not");
}

struct small {
	const char *what;
	unsigned trials;
	double not_right, wrong; /* shares that the bar allows */
	double cost;
	struct world_options world;
};

/* The usual world; what makes it unusual follows. */
#define WORLD(n, d) .commits = (n), .steps = {d}, .outliers = 0.03

static const struct small smalls[] = {
	{"1 sigma, 1000 commits", 6, 0.01, 0.005, 2300, {WORLD(1000, 1)}},
	{"2 sigma, 1000 commits", 10, 0.005, 0.005, 1150, {WORLD(1000, 2)}},
	{"5 sigma, 1000 commits", 15, 0.005, 0.005, 850, {WORLD(1000, 5)}},
	{"1 sigma, 64 commits", 6, 0.01, 0.005, 1540, {WORLD(64, 1)}},
	{"no noise", 15, 0, 0, 650, {.commits = 1000, .steps = {1}, .quiet = true}},
	{"many outliers", 8, 0.01, 0.01, 1300, {.commits = 1000, .steps = {2}, .outliers = 0.1}},
	{"holes", 10, 0.01, 0.01, 1150, {WORLD(300, 2), .unbuildable = 0.2}},
	{"merges", 10, 0.01, 0.01, 1100, {WORLD(400, 2), .merges = true}},
	{"both", 8, 0.01, 0.01, 1150, {WORLD(300, 2), .merges = true, .unbuildable = 0.2}},
	{"drift", 8, 0.02, 0.01, 2000, {WORLD(300, 2), .drift = 0.05}},
	{"two steps", 8, 0.005, 0.005, 1500, {.commits = 300, .steps = {2, 2}, .outliers = 0.03}},
	{"two executors", 8, 0.01, 0.01, 1500, {WORLD(300, 2), .slots = 2}},
	{"images that are one", 8, 0.02, 0.01, 1300, {WORLD(300, 2), .noop = 0.5}},
};

static void test_judge(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(smalls); i++) {
		const struct small *s = &smalls[i];
		struct tally t = trials(&s->world, "judge", s->trials, &plain);
		unsigned failed = s->trials - t.outcomes[OUTCOME_RIGHT];
		double cost = tally_mean(&t, t.cost), limit = cost_allowed(&t, s->cost);

		ok(failed <= failures_allowed(s->trials, s->not_right), "judge, %s: %u of %u right",
		   s->what, t.outcomes[OUTCOME_RIGHT], s->trials);
		ok(t.outcomes[OUTCOME_WRONG] <= failures_allowed(s->trials, s->wrong), "%u wrong",
		   t.outcomes[OUTCOME_WRONG]);
		ok(cost <= limit, "%.0f s, at most %.0f", cost, limit);
		is_int(t.outcomes[OUTCOME_BROKEN], 0, "and it never asks for what is there");
	}
}

/* Asked after each run, which is in the midst of a batch: no other answer, and it comes to an end.
 */
static void test_judge_eager(void)
{
	const struct world_options o = {WORLD(200, 2)};
	const struct trial_options eager = {.eager = true, .most = 600};
	struct tally t = trials(&o, "judge", 5, &eager);

	is_int(t.outcomes[OUTCOME_BROKEN], 0, "asked after each run: it ends");
	ok(5 - t.outcomes[OUTCOME_RIGHT] <= failures_allowed(5, 0.01),
	   "asked after each run: %u of 5 right", t.outcomes[OUTCOME_RIGHT]);
}

/* B7: accusations at most 0.5 %, "not reproduced" at least 95 %. */
static void test_judge_nothing(void)
{
	const struct world_options none = {.commits = 1000, .claim = 2, .outliers = 0.03};
	const struct world_options better = {
		.commits = 100, .steps = {-2}, .claim = 2, .outliers = 0.03};
	struct tally t = trials(&none, "judge", 20, &plain);

	ok(t.outcomes[OUTCOME_WRONG] <= failures_allowed(20, 0.005), "nothing changed: %u accused",
	   t.outcomes[OUTCOME_WRONG]);
	ok(20 - t.outcomes[OUTCOME_NOT_REPRODUCED] <= failures_allowed(20, 0.05),
	   "nothing changed: %u not reproduced", t.outcomes[OUTCOME_NOT_REPRODUCED]);
	t = trials(&better, "judge", 10, &plain);
	ok(t.outcomes[OUTCOME_WRONG] <= failures_allowed(10, 0.005) &&
		   10 - t.outcomes[OUTCOME_OPPOSITE] - t.outcomes[OUTCOME_NOT_REPRODUCED] <=
			   failures_allowed(10, 0.05),
	   "better than before: said of %u", t.outcomes[OUTCOME_OPPOSITE]);
}

/* B12, at 2 sigma: wrong at most 1 %, an answer in four of five. */
static void test_judge_jitter(void)
{
	const struct world_options o = {
		.commits = 300, .steps = {2}, .outliers = 0.03, .jitter = 0.2, .layouts = 4};
	struct tally t = trials(&o, "judge", 10, &plain);

	ok(t.outcomes[OUTCOME_WRONG] <= failures_allowed(10, 0.01), "builds differ: %u wrong",
	   t.outcomes[OUTCOME_WRONG]);
	ok(10 - t.outcomes[OUTCOME_RIGHT] <= failures_allowed(10, 0.2), "builds differ: %u right",
	   t.outcomes[OUTCOME_RIGHT]);
}

/* B15: killed at each decision, all read back into new memory, no memo: nothing may change. */
static void test_judge_restart(void)
{
	static const struct world_options worlds[] = {
		{.commits = 64, .steps = {1}, .outliers = 0.03},
		{.commits = 150,
		 .steps = {2},
		 .outliers = 0.03,
		 .merges = true,
		 .unbuildable = 0.1,
		 .drift = 0.05},
		{.commits = 100,
		 .steps = {2},
		 .outliers = 0.03,
		 .jitter = 0.2,
		 .layouts = 4,
		 .slots = 2},
		{.commits = 100, .steps = {3, 3}, .outliers = 0.03, .noop = 0.3},
		{.commits = 100, .claim = 2, .outliers = 0.03},
	};
	const struct trial_options always = {.restart = 1};

	for (size_t i = 0; i < ARRAY_SIZE(worlds); i++) {
		struct tally with = trials(&worlds[i], "judge", 3, &always);
		struct tally without = trials(&worlds[i], "judge", 3, &plain);

		is_int(with.differs, 0, "world %zu: %g decisions, each the same after a restart", i,
		       with.decisions);
		ok(memcmp(with.outcomes, without.outcomes, sizeof(with.outcomes)) == 0 &&
			   with.cost_all == without.cost_all && with.decisions == without.decisions,
		   "world %zu: and the same search", i);
	}
}

/* A few trials miss a bar by chance; what no chance explains contradicts it. */
static void test_few_trials(void)
{
	const struct bar bar = {.right = 99, .wrong = 0.5};
	const struct {
		unsigned right, wrong, broken;
		bool contradicts;
		const char *what;
	} cases[] = {
		{20, 0, 0, false, "20 of 20 right"},
		{19, 0, 0, false, "19 of 20 right are no miss of 99 %"},
		{18, 0, 0, true, "18 of 20 are: one case in 60"},
		{19, 1, 0, false, "one wrong of 20 is no miss of half a percent"},
		{18, 2, 0, true, "two are"},
		{20, 0, 1, true, "nothing may ever be broken"},
	};
	char missed[TALLY_MISSED_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally t = {.trials = 20};

		t.outcomes[OUTCOME_RIGHT] = cases[i].right;
		t.outcomes[OUTCOME_WRONG] = cases[i].wrong;
		t.outcomes[OUTCOME_BROKEN] = cases[i].broken;
		ok(tally_contradicts(&t, &bar) == cases[i].contradicts, "%s", cases[i].what);
		ok(tally_meets(&t, &bar, 0, missed) == (i == 0), "  (met in full: %d)", i == 0);
	}
}

/* A commit that is first run to be confirmed, and then does not build, while several others build on it: these are trials of B15 in
 * which it was asked for for ever. In the second of them another commit is the culprit. */
static void test_judge_hole(void)
{
	static const unsigned numbers[] = {35, 152, 184, 216, 294};
	const struct scenario *s = scenario_find("B15-merges");

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct trial t = {0};

		if (trial_run(&s->world, &methods[0], &plain, 1, s->id, numbers[i], &t) < 0)
			t.outcome = OUTCOME_BROKEN;
		ok(t.outcome == OUTCOME_RIGHT, "trial %u with a hole at a fork: right (%s)", numbers[i], outcome_names[t.outcome]);
	}
}

int main(void)
{
	test_few_trials();
	test_rng();
	test_graphs();
	test_costs();
	test_noise();
	test_jitter();
	test_truth();
	test_places();
	test_noops();
	test_referee();
	test_referee_graph();
	test_same();
	test_runner();
	test_rivals();
	test_rivals_quiet();
	test_allowed();
	test_judge();
	test_judge_eager();
	test_judge_nothing();
	test_judge_jitter();
	test_judge_restart();
	test_judge_hole();
	return done_testing();
}
