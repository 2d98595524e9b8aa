/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search, exact class: every strand, random graphs against brute force, skips, contradictions,
 * time. */
#include <errno.h>
#include <time.h>

#include "tests/judge/world.h"
#include "tap.h"

static const struct judge_options exact = {
	.cls = JUDGE_EXACT, .better = JUDGE_LOWER, .floor = 0.002};

static int log2_up(int n)
{
	int k = 0;

	while ((1 << k) < n)
		k++;
	return k;
}

/* Weights of all nodes as judge_sub_weights() counts them, and by one walk a node. */
static void test_weights(void)
{
	int wrong = 0;

	for (int t = 0; t < 40; t++) {
		struct judge_sub sub;
		struct world w;

		world_random(&w, 2 + random_below(300));
		size_t n = (size_t)w.dag.n;
		unsigned char *all = make(n, 1);
		int *weights = make(n, sizeof(int)), *truth = make(n, sizeof(int));
		bool *below = make(n, sizeof(bool));

		memset(all, 1, n);
		for (int k = 0; k < w.dag.n; k++) {
			descendants(&w.dag, k, below);
			for (size_t i = 0; i < n; i++)
				truth[i] += below[i];
		}
		if (judge_sub_init(&w.dag, false, all, &sub) < 0 ||
		    judge_sub_weights(&sub, weights) < 0)
			abort();
		wrong += memcmp(weights, truth, n * sizeof(int)) != 0;
		judge_sub_done(&sub);
		free(all);
		free(weights);
		free(truth);
		free(below);
		world_done(&w);
	}
	is_int(wrong, 0, "weights on 40 random graphs");
}

static void test_strands(void)
{
	for (int n = 1; n <= 130; n++) {
		int wrong = 0, most = 0;

		for (int culprit = 1; culprit <= n; culprit++) {
			struct judge_decision d;
			struct world w;

			world_strand(&w, n);
			world_set_culprit(&w, culprit);
			if (!world_search(&w, &exact, false, &d)) {
				wrong++;
			} else {
				wrong += d.verdict != JUDGE_CULPRIT || d.culprit != culprit ||
					 d.last_good != culprit - 1 || d.first_bad != culprit ||
					 d.n_candidates != 1 || d.candidates[0].node != culprit;
				judge_decision_done(&d);
			}
			most = w.tests > most ? w.tests : most;
			world_done(&w);
		}
		ok(wrong == 0 && most <= log2_up(n), "strand of %d: all right, at most %d tests", n,
		   most);
	}
}

/* All culprits that agree with everything measured. */
static void consistent(const struct world *w, bool *ret)
{
	int n = w->dag.n;
	bool *below = make((size_t)n, sizeof(bool));

	ret[0] = false;
	for (int k = 1; k < n; k++) {
		descendants(&w->dag, k, below);
		ret[k] = true;
		for (int i = 0; i < n; i++)
			if (w->obs[i].state == JUDGE_TESTED && w->bad[i] != below[i])
				ret[k] = false;
	}
	free(below);
}

static bool equals_brute_force(const struct world *w, const struct judge_decision *d, int culprit)
{
	bool *truth = make((size_t)w->dag.n, sizeof(bool)), same = true, found = false;
	size_t count = 0;

	consistent(w, truth);
	for (int i = 0; i < w->dag.n; i++)
		count += truth[i];
	for (size_t i = 0; i < d->n_candidates; i++) {
		same = same && truth[d->candidates[i].node];
		found = found || d->candidates[i].node == culprit;
		same = same && fabs(d->candidates[i].probability * (double)count - 1) < 1e-9;
	}
	free(truth);
	return same && found && count == d->n_candidates &&
	       (count == 1 ? d->verdict == JUDGE_CULPRIT && d->culprit == culprit
			   : d->verdict == JUDGE_SET && d->culprit == -1);
}

/* Nothing that could still be measured is left open: a set holds the first bad one and skips only.
 */
static bool nothing_left(const struct world *w, const struct judge_decision *d)
{
	for (size_t i = 0; i < d->n_candidates; i++)
		if (w->obs[d->candidates[i].node].state != JUDGE_SKIPPED &&
		    d->candidates[i].node != d->first_bad)
			return false;
	return true;
}

static void break_builds(struct world *w, int percent)
{
	int n = w->dag.n;

	for (int i = 1; i < n - 1; i++)
		w->unbuildable[i] = random_below(300) < percent;
	for (int cluster = n * percent / 1000; cluster > 0; cluster--) {
		int at = 1 + random_below(n - 1), length = random_below(20);

		for (int i = at; i < n - 1 && i < at + length; i++)
			w->unbuildable[i] = true;
	}
}

static void test_random_graphs(int percent, int trials)
{
	int wrong = 0, sets = 0;
	double tests = 0, bound = 0;

	for (int t = 0; t < trials; t++) {
		struct judge_decision d;
		struct world w;

		world_random(&w, 2 + random_below(120));
		break_builds(&w, percent);
		int culprit = 1 + random_below(w.dag.n - 1);
		world_set_culprit(&w, culprit);
		if (!world_search(&w, &exact, true, &d)) {
			wrong++;
		} else {
			wrong += !equals_brute_force(&w, &d, culprit) || !nothing_left(&w, &d);
			sets += d.verdict == JUDGE_SET;
			judge_decision_done(&d);
		}
		tests += w.tests;
		bound += log2(w.dag.n - 1);
		world_done(&w);
	}
	is_int(wrong, 0,
	       "%d random graphs, about %d %% unbuildable: as brute force says, restarted at each "
	       "step",
	       trials, percent);
	printf("# %.2f tests a search, log2 N %.2f, %d sets\n", tests / trials, bound / trials,
	       sets);
	ok(percent > 0 || tests <= 1.35 * bound, "near log2 N tests");
}

static void test_first_parent(void)
{
	struct judge_options opt = exact;
	int wrong = 0;

	opt.first_parent = true;
	for (int t = 0; t < 400; t++) {
		struct judge_decision d;
		struct world w;
		int first = 0;

		world_random(&w, 2 + random_below(100));
		world_set_culprit(&w, 1 + random_below(w.dag.n - 1));
		for (int i = w.dag.n - 1; i > 0 && w.bad[i];) {
			first = i;
			i = w.start[i + 1] > w.start[i] ? w.parents[w.start[i]] : 0;
		}
		if (!world_search(&w, &opt, true, &d)) {
			wrong++;
		} else {
			wrong += d.verdict != JUDGE_CULPRIT || d.culprit != first;
			judge_decision_done(&d);
		}
		world_done(&w);
	}
	is_int(wrong, 0, "400 searches along first parents name the first bad one on the chain");
}

/* Is node an ancestor-or-self of a good one that does not descend from the culprit? */
static bool implied_good(const struct world *w, int node, const bool *below_culprit)
{
	bool *below = make((size_t)w->dag.n, sizeof(bool)), found = false;

	descendants(&w->dag, node, below);
	for (int i = 0; i < w->dag.n; i++)
		found = found || (below[i] && !below_culprit[i] &&
				  w->obs[i].state == JUDGE_TESTED && !w->bad[i]);
	free(below);
	return found;
}

/* Bad itself, and each parent measured good or an ancestor of a good one, never measured bad. */
static bool bad_with_good_parents(const struct world *w, int node)
{
	bool *below = make((size_t)w->dag.n, sizeof(bool)), fine = w->bad[node];

	descendants(&w->dag, node, below);
	for (int e = w->start[node]; e < w->start[node + 1]; e++) {
		int p = w->parents[e];

		if (p >= 0 &&
		    ((w->obs[p].state == JUDGE_TESTED && w->bad[p]) || !implied_good(w, p, below)))
			fine = false;
	}
	free(below);
	return fine;
}

/* A bad merge of bad and good parents, of which each was explained otherwise: what one brought to make it good is lost. */
static bool merge_lost_a_fix(const struct world *w, const struct judge_decision *d)
{
	int start = w->start[d->culprit], end = w->start[d->culprit + 1];
	bool any_good = false;

	for (int e = start; e < end; e++)
		any_good = any_good || w->parents[e] < 0 || !w->bad[w->parents[e]];
	return end - start > 1 && w->bad[d->culprit] && any_good && d->main_change > 0;
}

static void test_contradictions(void)
{
	int wrong = 0, told = 0;

	for (int t = 0; t < 1500; t++) {
		struct judge_decision d;
		struct world w;

		world_random(&w, 3 + random_below(60));
		for (int i = 1; i < w.dag.n - 1; i++) {
			w.bad[i] = random_below(3) == 0;
			/* some were measured before, by another search */
			if (random_below(4) == 0)
				world_measure(&w, (struct judge_want){i, 1, 0});
		}
		w.bad[w.dag.n - 1] = true;
		if (!world_search(&w, &exact, true, &d)) {
			wrong++;
		} else {
			wrong += d.verdict != JUDGE_CULPRIT ||
				 !(bad_with_good_parents(&w, d.culprit) ||
				   merge_lost_a_fix(&w, &d));
			told += strstr(d.reason, "contradictory") != NULL;
			judge_decision_done(&d);
		}
		world_done(&w);
	}
	ok(wrong <= 8,
	   "1500 senseless histories end in a bad commit with good parents, or a merge that lost a "
	   "fix (but %d)",
	   wrong);
	ok(told > 100, "and the reason says so (%d times)", told);
}

static void test_broken_again(void)
{
	struct judge_decision d;
	struct world w;

	world_strand(&w, 40);
	for (int i = 1; i <= 40; i++)
		w.bad[i] = (i >= 5 && i < 12) || i >= 30;
	for (int i = 1; i <= 20; i++)
		world_measure(&w, (struct judge_want){i, 1, 0});
	ok(world_search(&w, &exact, true, &d), "broken, fixed, broken again");
	is_int(d.culprit, 30, "the break that lasts is named");
	ok(strstr(d.reason, "contradictory") != NULL, "%s", d.reason);
	judge_decision_done(&d);
	world_done(&w);
}

static void test_skip_cluster(void)
{
	struct judge_decision d;
	struct world w;

	world_strand(&w, 1000);
	for (int i = 400; i < 600; i++)
		w.unbuildable[i] = true;
	world_set_culprit(&w, 700);
	ok(world_search(&w, &exact, true, &d) && d.culprit == 700,
	   "200 of 1000 unbuildable in the middle");
	ok(w.tests <= 18, "%d tests", w.tests);
	judge_decision_done(&d);
	world_done(&w);

	world_strand(&w, 1000);
	for (int i = 400; i < 600; i++)
		w.unbuildable[i] = true;
	world_set_culprit(&w, 500);
	ok(world_search(&w, &exact, false, &d) && d.verdict == JUDGE_SET,
	   "the culprit among them: %s", d.reason);
	ok(d.n_candidates == 201 && d.first_bad == 600 && d.last_good == 399,
	   "all of them and the first bad one");
	judge_decision_done(&d);
	world_done(&w);
}

/* The size of a release cycle. Generous, for sanitizers and a busy host; it takes some 15 ms. */
static void test_time(void)
{
	const int n = 15001;
	struct timespec from, to;
	struct judge_decision d;
	struct world w;

	world_init(&w, n, 2 * n);
	for (int i = 1; i < n; i++) {
		/* strands of 14 beside the main line, merged by each 15th node */
		if (i % 15 == 0)
			w.parents[w.edges++] = i - 15;
		w.parents[w.edges++] = i - 1;
		w.start[i + 1] = w.edges;
	}
	world_set_culprit(&w, 7777);
	world_measure(&w, (struct judge_want){0, 1, 0});
	world_measure(&w, (struct judge_want){n - 1, 1, 0});
	clock_gettime(CLOCK_MONOTONIC, &from);
	is_int(judge_next(&w.dag, w.obs, &exact, &d), 0, "15000 candidates, 1000 merges");
	clock_gettime(CLOCK_MONOTONIC, &to);
	judge_decision_done(&d);
	double ms = 1e3 * (double)(to.tv_sec - from.tv_sec) +
		    1e-6 * (double)(to.tv_nsec - from.tv_nsec);
	ok(ms < 1000, "answered in %.1f ms", ms);
	ok(world_search(&w, &exact, false, &d) && d.culprit == 7777, "and the culprit is found");
	ok(w.tests <= 15, "in %d tests", w.tests);
	judge_decision_done(&d);
	world_done(&w);
}

static void test_merge(void)
{
	struct judge_decision d;
	struct world w;

	/* 0 - 1 - 3 - 4(merge of 3 and 2), 2 forks from 0 */
	world_init(&w, 6, 8);
	world_edge(&w, 1, 0);
	world_edge(&w, 2, 0);
	world_edge(&w, 3, 1);
	world_edge(&w, 4, 3);
	world_edge(&w, 4, 2);
	world_edge(&w, 5, 4);
	w.bad[4] = w.bad[5] = true;
	ok(world_search(&w, &exact, true, &d) && d.verdict == JUDGE_CULPRIT && d.culprit == 4,
	   "a merge of good parents can be the culprit");
	ok(strstr(d.reason, "merge") != NULL && d.remaining == 1, "%s", d.reason);
	judge_decision_done(&d);
	world_done(&w);
}

/*
 * The graph of ends that have diverged: good, their merge bases as its children, bad as the child of all bases. Which of
 * them is like bad is what the search says.
 */
static void test_bases(void)
{
	int wrong = 0, most = 0;

	for (int k = 1; k <= 6; k++)
		for (int like_bad = 0; like_bad < 1 << k; like_bad++) {
			struct judge_decision d;
			struct world w;

			world_init(&w, k + 2, 2 * k);
			for (int i = 1; i <= k; i++)
				world_edge(&w, i, 0);
			for (int i = 1; i <= k; i++)
				world_edge(&w, k + 1, i);
			for (int i = 1; i <= k; i++)
				w.bad[i] = like_bad & 1 << (i - 1);
			w.bad[k + 1] = true;
			if (!world_search(&w, &exact, false, &d)) {
				wrong++;
			} else {
				wrong += d.verdict != JUDGE_CULPRIT || !w.bad[d.culprit] ||
					 (d.culprit == k + 1) != (like_bad == 0);
				judge_decision_done(&d);
			}
			most = w.tests > most ? w.tests : most;
			world_done(&w);
		}
	is_int(wrong, 0, "a merge base like bad is named, bad only when no base is");
	ok(most <= 6, "by at most one run a base");
}

/* Rounds of asking until the culprit is known, with so many slots. -1: wrong. */
static int rounds(struct world *w, unsigned slots, int culprit, size_t *most)
{
	struct judge_options opt = exact;

	opt.slots = slots;
	for (int round = 0; round < 200; round++) {
		struct judge_decision d;

		if (judge_next(&w->dag, w->obs, &opt, &d) < 0)
			return -1;
		for (size_t i = 0; i < d.n_wants; i++)
			world_measure(w, d.wants[i]);
		*most = d.n_wants > *most ? d.n_wants : *most;
		bool done = d.action == JUDGE_DONE, right = d.culprit == culprit;

		judge_decision_done(&d);
		if (done)
			return right ? round : -1;
	}
	return -1;
}

/* Several at once: where all images are there it takes fewer rounds, where none is it is as with one. */
static void test_slots(void)
{
	const struct {
		unsigned slots;
		double build_seconds;
		size_t most;
		double rounds; /* mean, at most; the anchors are one */
	} cases[] = {{1, 0, 2, 8.1}, {3, 0, 3, 5.1}, {7, 0, 7, 4.1}, {40, 0, JUDGE_WANTS_MAX, 3}, {7, 40, 2, 8.1}};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		size_t most = 0;
		int wrong = 0, sum = 0;

		for (int culprit = 1; culprit <= 127; culprit++) {
			struct world w;

			world_strand(&w, 127);
			world_set_culprit(&w, culprit);
			for (int i = 0; i < w.dag.n; i++)
				w.obs[i].build_seconds = cases[c].build_seconds;
			int n = rounds(&w, cases[c].slots, culprit, &most);

			wrong += n < 0;
			sum += n;
			world_done(&w);
		}
		ok(wrong == 0 && most == cases[c].most && sum <= cases[c].rounds * 127,
		   "%u slots, a build %.0f s: all right, at most %zu at once, %.2f rounds", cases[c].slots,
		   cases[c].build_seconds, most, sum / 127.0);
	}
	int wrong = 0;

	for (int t = 0; t < 300; t++) {
		size_t most = 0;
		struct world w;

		world_random(&w, 3 + random_below(60));
		int culprit = 1 + random_below(w.dag.n - 1);

		world_set_culprit(&w, culprit);
		if (!w.bad[w.dag.n - 1]) /* behind an outside parent only */
			world_set_culprit(&w, culprit = w.dag.n - 1);
		for (int i = 0; i < w.dag.n; i++)
			w.obs[i].build_seconds = random_below(2) ? 40 : 0;
		wrong += rounds(&w, 4, culprit, &most) < 0;
		world_done(&w);
	}
	is_int(wrong, 0, "four slots on 300 graphs, half of the images there");
}

static void test_bad_graphs(void)
{
	const int start[] = {0, 0, 1, 2}, forward[] = {2, 1}, self[] = {1, 1}, loose[] = {0, 0},
		  negative[] = {0, -2};
	const int fine[] = {0, 1}, back[] = {0, 0, 1, 0}, outside[] = {JUDGE_OUTSIDE, 1};

	is_int(judge_dag_check(&(struct judge_dag){3, start, fine}), 0, "a strand is fine");
	is_int(judge_dag_check(&(struct judge_dag){3, start, outside}), 0,
	       "so is a parent outside");
	is_int(judge_dag_check(&(struct judge_dag){3, start, forward}), -EINVAL,
	       "a parent after its child");
	is_int(judge_dag_check(&(struct judge_dag){3, start, self}), -EINVAL, "a parent of itself");
	is_int(judge_dag_check(&(struct judge_dag){3, start, loose}), -EINVAL,
	       "bad does not descend from 1");
	is_int(judge_dag_check(&(struct judge_dag){3, start, negative}), -EINVAL, "out of range");
	is_int(judge_dag_check(&(struct judge_dag){3, back, fine}), -EINVAL, "starts that go back");
	is_int(judge_dag_check(&(struct judge_dag){1, start, fine}), -EINVAL, "good is bad");
}

int main(int argc, char **argv)
{
	seed_of(argc, argv);
	test_bad_graphs();
	test_weights();
	test_strands();
	test_merge();
	test_bases();
	test_slots();
	test_random_graphs(0, 600);
	test_random_graphs(15, 600);
	test_random_graphs(50, 300);
	test_first_parent();
	test_contradictions();
	test_broken_again();
	test_skip_cluster();
	test_time();
	return done_testing();
}
