/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Failures as the question: builds, deterministic crashes, flaky ones among unrelated crashes, stretches that
 * cannot be tested; how often the answer is right, and what it costs.
 */
#include "daemon/judge/status.h"
#include "tests/judge/world.h"
#include "tap.h"

#define KINDS 8
enum { OK, SEARCHED, STRAY_ONE, STRAY_TWO, MASK, NO_BUILD, OTHER_BUILD };

/* A history whose commits end in kinds of their own. */
struct failing {
	struct world w; /* graph and truth; unbuildable: holes */
	double rate;	/* of the failure on bad commits */
	double stray;	/* of crashes that have nothing to do with it */
	bool of_build;	/* bad commits do not build */
	bool *masked;	/* fail always, in another way */
	double floor;	/* rate of the same failure on good commits */
	struct judge_status_obs *obs;
	struct judge_ending (*endings)[KINDS];
	unsigned boots, builds;
};

static void failing_init(struct failing *f, int candidates)
{
	*f = (struct failing){.rate = 1};
	if (candidates > 0)
		world_strand(&f->w, candidates);
	else
		world_random(&f->w, -candidates);
	size_t n = (size_t)f->w.dag.n;
	f->masked = make(n, sizeof(bool));
	f->obs = make(n, sizeof(*f->obs));
	f->endings = make(n, sizeof(*f->endings));
}

static void failing_done(struct failing *f)
{
	world_done(&f->w);
	free(f->masked);
	free(f->obs);
	free(f->endings);
}

static int run_once(const struct failing *f, int node)
{
	if (f->masked[node])
		return MASK;
	if (random_unit() < f->stray)
		return random_below(2) ? STRAY_ONE : STRAY_TWO;
	return random_unit() < (f->w.bad[node] && !f->of_build ? f->rate : f->floor) ? SEARCHED : OK;
}

static void add_ending(struct failing *f, int node, int kind)
{
	struct judge_status_obs *o = &f->obs[node];
	size_t i = 0;

	while (i < o->n_endings && f->endings[node][i].kind != kind)
		i++;
	if (i == o->n_endings)
		f->endings[node][o->n_endings++] = (struct judge_ending){.kind = kind};
	f->endings[node][i].runs++;
	o->endings = f->endings[node];
	f->boots++;
}

static void measure(struct failing *f, struct judge_want want)
{
	struct judge_status_obs *o = &f->obs[want.node];
	unsigned runs = 0;

	if (o->image == JUDGE_IMAGE_UNKNOWN) {
		bool broken = f->of_build && f->w.bad[want.node];

		f->builds++;
		o->image = broken || f->w.unbuildable[want.node] ? JUDGE_IMAGE_FAILED : JUDGE_IMAGE_BUILT;
		o->build_kind = broken && !f->w.unbuildable[want.node] ? NO_BUILD : OTHER_BUILD;
	}
	for (size_t i = 0; i < o->n_endings; i++)
		runs += o->endings[i].runs;
	for (; o->image == JUDGE_IMAGE_BUILT && runs < want.runs; runs++)
		add_ending(f, want.node, run_once(f, want.node));
}

/* To the end; false: no end, or a want that was there already. */
static bool search(struct failing *f, const struct judge_status_options *opt, struct judge_decision *ret,
		   struct judge_failure *ret_failure)
{
	for (int step = 0; step < 5000; step++) {
		struct judge_decision d;
		unsigned before = f->boots + f->builds;

		if (judge_status(&f->w.dag, f->obs, opt, &d, ret_failure) < 0)
			return false;
		if (d.action == JUDGE_DONE) {
			*ret = d;
			return true;
		}
		for (size_t i = 0; i < d.n_wants; i++)
			measure(f, d.wants[i]);
		judge_decision_done(&d);
		if (f->boots + f->builds == before)
			return false;
	}
	return false;
}

static bool contains(const struct judge_decision *d, int node)
{
	for (size_t i = 0; i < d->n_candidates; i++)
		if (d->candidates[i].node == node)
			return true;
	return false;
}

static int log2_up(int n)
{
	int k = 0;

	while ((1 << k) < n)
		k++;
	return k;
}

static void test_deterministic(bool of_build)
{
	const struct judge_status_options opt = {.deterministic = true};
	int wrong = 0, over = 0;
	unsigned boots = 0;

	for (int n = 1; n <= 70; n++) {
		for (int culprit = 1; culprit <= n; culprit++) {
			struct judge_failure failure;
			struct judge_decision d;
			struct failing f;

			failing_init(&f, n);
			f.of_build = of_build;
			world_set_culprit(&f.w, culprit);
			if (!search(&f, &opt, &d, &failure)) {
				wrong++;
			} else {
				wrong += d.verdict != JUDGE_CULPRIT || d.culprit != culprit || failure.of_build != of_build ||
					 failure.kind != (of_build ? NO_BUILD : SEARCHED) || failure.error > 0;
				judge_decision_done(&d);
			}
			over += (int)f.builds > log2_up(n) + 2 || f.boots > 2 * f.builds;
			boots += f.boots;
			failing_done(&f);
		}
	}
	is_int(wrong, 0, "%s: every culprit of strands of 1 to 70 commits", of_build ? "build failures" : "crashes");
	is_int(over, 0, "with log2 N + 2 builds, no more than two boots each");
	if (of_build)
		is_int(boots, 0, "and no boot at all");
}

/* Many searches among noise: what is right, and at what cost. */
struct bar {
	const char *name;
	double rate;
	bool holes;
	int wrong_most;	   /* of 300 */
	int answers_least; /* culprit or set that is right */
	double boots_most; /* mean */
};

static void bar_trial(const struct bar *b, int *wrong, int *right, unsigned *boots)
{
	const struct judge_status_options opt = {.deterministic = false};
	struct judge_failure failure;
	struct judge_decision d;
	struct failing f;

	failing_init(&f, 64);
	f.rate = b->rate;
	f.stray = 0.05;
	int culprit = 1 + random_below(63), hole = 1 + random_below(60);

	world_set_culprit(&f.w, culprit);
	for (int i = hole; b->holes && i < hole + 4 && i < 64; i++)
		f.w.unbuildable[i] = true;
	if (search(&f, &opt, &d, &failure)) {
		bool answered = d.verdict == JUDGE_CULPRIT || d.verdict == JUDGE_SET;

		*right += answered && contains(&d, culprit);
		*wrong += answered && !contains(&d, culprit);
		if (d.verdict == JUDGE_CULPRIT && failure.error > 0.01)
			*wrong += 1000; /* promises more than it was asked for */
		judge_decision_done(&d);
	} else {
		*wrong += 1000;
	}
	*boots += f.boots;
	failing_done(&f);
}

static void test_bars(void)
{
	static const struct bar bars[] = {
		{"every run fails", 1.0, false, 3, 298, 57},
		{"every second run", 0.5, false, 6, 290, 130},
		{"one run in five", 0.2, false, 8, 255, 360},
		{"every second run, beside what does not build", 0.5, true, 6, 290, 130},
	};

	for (size_t i = 0; i < sizeof(bars) / sizeof(bars[0]); i++) {
		int wrong = 0, right = 0;
		unsigned boots = 0;

		for (int t = 0; t < 300; t++)
			bar_trial(&bars[i], &wrong, &right, &boots);
		ok(wrong <= bars[i].wrong_most, "%s, 5 %% unrelated crashes: %d of 300 wrong", bars[i].name, wrong);
		ok(right >= bars[i].answers_least, "%s: %d of 300 right", bars[i].name, right);
		ok(boots / 300.0 <= bars[i].boots_most, "%s: %.0f boots a search", bars[i].name, boots / 300.0);
	}
}

static void test_graphs(void)
{
	const struct judge_status_options opt = {.deterministic = true};
	int wrong = 0;

	for (int t = 0; t < 200; t++) {
		struct judge_failure failure;
		struct judge_decision d;
		struct failing f;

		failing_init(&f, -(20 + random_below(100)));
		int culprit = 1 + random_below(f.w.dag.n - 1);
		world_set_culprit(&f.w, culprit);
		if (!f.w.bad[f.w.dag.n - 1]) {
			failing_done(&f);
			continue;
		}
		for (int i = 1; i < f.w.dag.n - 1; i++)
			f.w.unbuildable[i] = random_below(10) == 0;
		if (search(&f, &opt, &d, &failure)) {
			wrong += !contains(&d, culprit);
			judge_decision_done(&d);
		} else {
			wrong++;
		}
		failing_done(&f);
	}
	is_int(wrong, 0, "200 graphs, one commit in ten does not build: the culprit is always in the answer");
}

/* Another crash hides the one that is searched: those commits cannot be tested, and none of them is bad. */
static void test_masked(void)
{
	const struct judge_status_options opt = {.deterministic = true};
	struct judge_failure failure;
	struct judge_decision d = {0};
	struct failing f;

	failing_init(&f, 32);
	world_set_culprit(&f.w, 20);
	for (int i = 8; i < 12; i++)
		f.masked[i] = true;
	ok(search(&f, &opt, &d, &failure) && d.verdict == JUDGE_CULPRIT && d.culprit == 20,
	   "behind another crash: the right one (%s)", d.reason);
	is_int(judge_status_side(&f.obs[16], &failure, &opt), JUDGE_SIDE_GOOD, "the middle is good");
	judge_decision_done(&d);
	failing_done(&f);

	failing_init(&f, 32);
	world_set_culprit(&f.w, 20);
	for (int i = 18; i < 21; i++)
		f.masked[i] = true;
	ok(search(&f, &opt, &d, &failure) && d.verdict == JUDGE_SET && d.n_candidates == 4 && contains(&d, 20),
	   "next to it: a set of what cannot be told apart (%zu)", d.n_candidates);
	judge_decision_done(&d);
	failing_done(&f);
}

static void test_ends(void)
{
	static const struct {
		const char *name;
		double rate, floor;
		bool good_masked, good_bad, bad_well, deterministic;
		enum judge_verdict verdict;
		const char *text;
	} cases[] = {
		{"the bad end is well", 1, 0, false, false, true, true, JUDGE_NOT_REPRODUCED, "the bad end ends well"},
		{"the bad end is well, among noise", 1, 0, false, false, true, false, JUDGE_NOT_REPRODUCED, "no failure in 20 runs"},
		{"the good end fails, too", 1, 0, false, true, false, true, JUDGE_NOT_REPRODUCED, "the good end fails in the same way"},
		{"the good end fails, too, among noise", 0.7, 0, false, true, false, false, JUDGE_NOT_REPRODUCED, "the good end fails in the same way"},
		{"it was always there", 0.9, 0.4, false, false, false, false, JUDGE_NOT_REPRODUCED, "the good end fails in the same way"},
		{"the good end fails otherwise", 1, 0, true, false, false, true, JUDGE_GAVE_UP, "in another way"},
		{"too rare", 0.06, 0, false, false, false, false, JUDGE_GAVE_UP, "too rare"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct judge_status_options opt = {.deterministic = cases[i].deterministic, .max_runs = 300};
		struct judge_failure failure;
		struct judge_decision d = {0};
		struct failing f;

		failing_init(&f, 16);
		world_set_culprit(&f.w, cases[i].good_bad ? 0 : 9);
		if (cases[i].bad_well)
			memset(f.w.bad, 0, 17 * sizeof(bool));
		f.masked[0] = cases[i].good_masked;
		f.rate = cases[i].rate;
		f.floor = cases[i].floor;
		/* what is rare may not be seen at all: until it is */
		do {
			judge_decision_done(&d);
			memset(f.obs, 0, 17 * sizeof(*f.obs));
			memset(f.endings, 0, 17 * sizeof(*f.endings));
			if (!search(&f, &opt, &d, &failure))
				abort();
		} while (cases[i].rate < 0.1 && d.verdict == JUDGE_NOT_REPRODUCED);
		ok(d.verdict == cases[i].verdict && strstr(d.reason, cases[i].text), "%s: %s", cases[i].name, d.reason);
		if (cases[i].rate < 0.1)
			ok(d.runs_needed > 300, "and how many boots it would need: %u", d.runs_needed);
		judge_decision_done(&d);
		failing_done(&f);
	}
}

/* By the definition: a uniform prior, summed up numerically. */
static void test_good_runs(void)
{
	static const struct {
		unsigned k, m;
	} cases[] = {{10, 10}, {4, 4}, {5, 10}, {3, 20}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned n = judge_status_good_runs(cases[i].k, cases[i].m, 0.001);
		double all = 0, with = 0, before = 0;

		for (int step = 0; step < 100000; step++) {
			double r = (step + 0.5) / 100000, p = pow(r, cases[i].k) * pow(1 - r, cases[i].m - cases[i].k);

			all += p;
			with += p * pow(1 - r, n);
			before += p * pow(1 - r, n - 1);
		}
		ok(with / all <= 0.001 && before / all > 0.001, "%u of %u: %u runs without it (%.2g)", cases[i].k, cases[i].m, n,
		   with / all);
	}
}

/* One commit, by counts: what a quorum, a stray and another failure make of it. */
static void test_sides(void)
{
	static const struct {
		unsigned same, ok, other;
		enum judge_side exact, noisy; /* five runs make it good among noise */
	} cases[] = {
		{0, 0, 0, JUDGE_SIDE_UNKNOWN, JUDGE_SIDE_UNKNOWN}, {1, 0, 0, JUDGE_SIDE_UNKNOWN, JUDGE_SIDE_UNKNOWN},
		{2, 0, 0, JUDGE_SIDE_BAD, JUDGE_SIDE_BAD},	   {2, 9, 5, JUDGE_SIDE_BAD, JUDGE_SIDE_BAD},
		{0, 1, 0, JUDGE_SIDE_GOOD, JUDGE_SIDE_UNKNOWN},	   {0, 4, 0, JUDGE_SIDE_GOOD, JUDGE_SIDE_UNKNOWN},
		{0, 5, 0, JUDGE_SIDE_GOOD, JUDGE_SIDE_GOOD},	   {1, 9, 0, JUDGE_SIDE_GOOD, JUDGE_SIDE_UNKNOWN},
		{1, 10, 0, JUDGE_SIDE_GOOD, JUDGE_SIDE_GOOD},	   {1, 1, 0, JUDGE_SIDE_UNKNOWN, JUDGE_SIDE_UNKNOWN},
		{0, 0, 1, JUDGE_SIDE_UNKNOWN, JUDGE_SIDE_UNKNOWN}, {0, 0, 2, JUDGE_SIDE_SKIP, JUDGE_SIDE_UNKNOWN},
		{0, 0, 3, JUDGE_SIDE_SKIP, JUDGE_SIDE_SKIP},	   {0, 1, 3, JUDGE_SIDE_GOOD, JUDGE_SIDE_UNKNOWN},
		{0, 0, 9, JUDGE_SIDE_SKIP, JUDGE_SIDE_SKIP},	   {0, 5, 9, JUDGE_SIDE_GOOD, JUDGE_SIDE_GOOD},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct judge_ending endings[] = {{SEARCHED, cases[i].same}, {JUDGE_KIND_OK, cases[i].ok}, {STRAY_ONE, cases[i].other}};
		const struct judge_status_obs obs = {.image = JUDGE_IMAGE_BUILT, .endings = endings, .n_endings = 3};
		const struct judge_failure exact = {.kind = SEARCHED, .good_runs = 1}, noisy = {.kind = SEARCHED, .good_runs = 5};

		is_int(judge_status_side(&obs, &exact, &(struct judge_status_options){.deterministic = true}), cases[i].exact,
		       "exact: %u with it, %u well, %u otherwise", cases[i].same, cases[i].ok, cases[i].other);
		is_int(judge_status_side(&obs, &noisy, &(struct judge_status_options){.deterministic = false}), cases[i].noisy,
		       "noisy: %u with it, %u well, %u otherwise", cases[i].same, cases[i].ok, cases[i].other);
	}
}

int main(int argc, char **argv)
{
	(void)seed_of(argc, argv);
	test_good_runs();
	test_sides();
	test_deterministic(false);
	test_deterministic(true);
	test_graphs();
	test_masked();
	test_ends();
	test_bars();
	return done_testing();
}
