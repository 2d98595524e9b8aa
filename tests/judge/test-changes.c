/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several changes of an exact metric in one range: constructed strands, merges, and random graphs whose truth is known. */
#include <errno.h>

#include "tests/judge/world.h"
#include "tap.h"

#define CHANGES_MAX 8

struct truth {
	int node;
	double factor;
	int undoes; /* place of the change that this one reverts; -1 */
};

/* A world with levels of its own; `bad` of world.h is not used. */
struct history {
	struct world w;
	double *level;
	struct truth truth[CHANGES_MAX];
	int n_truth;
	struct judge_hint hints[CHANGES_MAX];
	struct judge_options opt;
};

static void history_init(struct history *h)
{
	h->level = make((size_t)h->w.dag.n, sizeof(double));
	for (int i = 0; i < h->w.dag.n; i++)
		h->level[i] = 1000;
	h->n_truth = 0;
	h->opt = (struct judge_options){.cls = JUDGE_EXACT, .better = JUDGE_LOWER, .floor = 0.002, .hints = h->hints};
}

static void history_done(struct history *h)
{
	world_done(&h->w);
	free(h->level);
}

static void add(struct history *h, int node, double factor, int undoes)
{
	bool *below = make((size_t)h->w.dag.n, sizeof(bool));

	descendants(&h->w.dag, node, below);
	for (int i = 0; i < h->w.dag.n; i++)
		if (below[i])
			h->level[i] *= factor;
	free(below);
	h->truth[h->n_truth++] = (struct truth){node, factor, undoes};
}

static void hint(struct history *h, int reverted, int reverting)
{
	h->hints[h->opt.n_hints++] = (struct judge_hint){reverted, reverting};
}

static void measure(struct history *h, struct judge_want want)
{
	struct judge_obs *o = &h->w.obs[want.node];

	h->w.tests += o->state == JUDGE_UNTESTED && !h->w.unbuildable[want.node];
	o->state = h->w.unbuildable[want.node] ? JUDGE_SKIPPED : JUDGE_TESTED;
	o->values = h->w.values[want.node];
	if (o->state == JUDGE_TESTED && o->n_values == 0)
		h->w.values[want.node][o->n_values++] = round(h->level[want.node]);
}

static bool same_changes(const struct judge_decision *a, const struct judge_decision *b)
{
	bool same = a->n_changes == b->n_changes && a->main_change == b->main_change;

	for (size_t i = 0; same && i < a->n_changes; i++)
		same = a->changes[i].node == b->changes[i].node && a->changes[i].kind == b->changes[i].kind &&
		       a->changes[i].n_nodes == b->changes[i].n_nodes &&
		       a->changes[i].recovered_by == b->changes[i].recovered_by;
	return same;
}

/* To the end, killed before each answer; false: not one and the same answer, or no end. */
static bool search(struct history *h, struct judge_decision *ret)
{
	for (int step = 0; step < 2 * h->w.dag.n + 8; step++) {
		struct judge_decision d, again;

		if (judge_next(&h->w.dag, h->w.obs, &h->opt, &d) < 0)
			return false;
		if (ask_again(&h->w, &h->opt, &again) < 0)
			return false;
		bool same = same_decision(&d, &again) && same_changes(&d, &again);
		judge_decision_done(&again);
		if (!same)
			return false;
		if (d.action == JUDGE_DONE) {
			*ret = d;
			return true;
		}
		for (size_t i = 0; i < d.n_wants; i++) {
			if (h->w.obs[d.wants[i].node].state != JUDGE_UNTESTED)
				return false;
			measure(h, d.wants[i]);
		}
		judge_decision_done(&d);
	}
	return false;
}

static int log2_up(int n)
{
	int k = 0;

	while ((1 << k) < n)
		k++;
	return k;
}

static const struct judge_change *change_at(const struct judge_decision *d, int node)
{
	for (size_t i = 0; i < d->n_changes; i++)
		for (size_t k = 0; k < d->changes[i].n_nodes; k++)
			if (d->changes[i].nodes[k] == node)
				return &d->changes[i];
	return NULL;
}

static void is_kind(const struct judge_decision *d, int node, enum judge_change_kind kind, const char *what)
{
	const struct judge_change *c = change_at(d, node);

	ok(c && c->kind == kind && c->n_nodes == 1, "%s", what);
}

static void test_two(void)
{
	int wrong = 0, most = 0;

	for (int t = 0; t < 300; t++) {
		struct history h;
		struct judge_decision d;
		int n = 3 + random_below(200), a = 1 + random_below(n - 1), b = a + 1 + random_below(n - a);

		world_strand(&h.w, n);
		history_init(&h);
		add(&h, a, 1.02 + random_unit(), -1);
		add(&h, b, 1.02 + random_unit(), -1);
		if (!search(&h, &d)) {
			wrong++;
		} else {
			double first = h.level[a] - 1000, second = h.level[b] - h.level[a];
			bool tiny = fmin(first, second) < 0.03 * (first + second);

			wrong += !tiny && (d.n_changes != 2 || d.verdict != JUDGE_CULPRIT || !change_at(&d, a) ||
					   !change_at(&d, b) || d.culprit != (first > second ? a : b));
			judge_decision_done(&d);
		}
		if (h.w.tests > 2 + 2 * log2_up(n) && h.w.tests - 2 - 2 * log2_up(n) > most)
			most = h.w.tests - 2 - 2 * log2_up(n);
		history_done(&h);
	}
	is_int(wrong, 0, "300 strands with two regressions: both, the larger one is the culprit");
	ok(most <= 2, "at most two bisections (and %d)", most);
}

/* Commits that move the number by 0.1 % beside one culprit cost nothing but what they add up to. */
static void test_plain(void)
{
	int wrong = 0, dear = 0;

	for (int t = 0; t < 300; t++) {
		struct history h;
		struct judge_decision d;
		int n = 1 + random_below(1000), culprit = 1 + random_below(n);

		world_strand(&h.w, n);
		history_init(&h);
		add(&h, culprit, 1.3, -1);
		for (int i = 0; i <= n; i++)
			h.level[i] *= 1 + 0.001 * (random_unit() - 0.5);
		if (!search(&h, &d)) {
			wrong++;
		} else {
			wrong += d.n_changes != 1 || d.main_change != 0 || d.culprit != culprit;
			judge_decision_done(&d);
		}
		dear += h.w.tests > log2_up(n) + 3;
		history_done(&h);
	}
	is_int(wrong, 0, "300 plain strands with neutral edits: one change");
	is_int(dear, 0, "none of them costs more than ceil(log2 N) + 3");
}

static void test_creep(void)
{
	struct history h;
	struct judge_decision d;

	world_strand(&h.w, 500);
	history_init(&h);
	add(&h, 300, 1.5, -1);
	for (int i = 0; i <= 500; i++)
		h.level[i] *= 1 + 0.0002 * i;
	ok(search(&h, &d), "a step among commits that creep");
	ok(d.culprit == 300 && change_at(&d, 300), "the step is named");
	is_int((long)d.n_changes, 1, "the creep is put down to nobody");
	ok(h.w.tests <= 12 + 8 * 9, "within the budget: %d tests", h.w.tests);
	judge_decision_done(&d);
	history_done(&h);
}

static void test_reverts(void)
{
	struct history h;
	struct judge_decision d;

	world_strand(&h.w, 64);
	history_init(&h);
	add(&h, 9, 29, -1);
	add(&h, 30, 1.1, -1);
	add(&h, 47, 1 / 1.1, 1);
	hint(&h, 30, 47);
	ok(search(&h, &d) && d.n_changes == 3, "a large one, a small one on top, its revert");
	is_int(d.culprit, 9, "the large one is the culprit");
	is_kind(&d, 30, JUDGE_RECOVERED, "the small one recovered");
	ok(change_at(&d, 30) && change_at(&d, 30)->recovered_by == 2 && d.changes[2].node == 47, "by its revert");
	is_kind(&d, 47, JUDGE_IMPROVEMENT, "which is an improvement");
	judge_decision_done(&d);
	history_done(&h);

	/* bad and reverted between two neighbours of a bisection: 33 and 34 of 64 are never looked at */
	for (int hinted = 0; hinted < 2; hinted++) {
		world_strand(&h.w, 64);
		history_init(&h);
		add(&h, 5, 2, -1);
		add(&h, 33, 3, -1);
		add(&h, 36, 1 / 3.0, 1);
		if (hinted)
			hint(&h, 33, 36);
		ok(search(&h, &d) && d.culprit == 5, "a revert that leaves no trace, %s", hinted ? "hinted" : "not hinted");
		is_int((long)d.n_changes, hinted ? 3 : 1, "what is seen of it");
		ok(h.w.tests <= 8 + 4 * hinted, "%d tests", h.w.tests);
		if (hinted)
			is_kind(&d, 33, JUDGE_RECOVERED, "it is listed as recovered");
		judge_decision_done(&d);
		history_done(&h);
	}

	/* the same message about a commit that changed nothing */
	world_strand(&h.w, 64);
	history_init(&h);
	add(&h, 5, 2, -1);
	hint(&h, 33, 36);
	ok(search(&h, &d) && d.culprit == 5 && d.n_changes == 1, "a revert of nothing is nothing");
	ok(h.w.tests <= 9, "and costs one build (%d tests)", h.w.tests);
	judge_decision_done(&d);
	history_done(&h);

	world_strand(&h.w, 64);
	history_init(&h);
	add(&h, 10, 2, -1);
	add(&h, 20, 0.5, 0);
	add(&h, 40, 2, -1);
	hint(&h, 10, 20);
	ok(search(&h, &d) && d.culprit == 40, "broken, fixed, broken again: what stands is the culprit");
	is_kind(&d, 10, JUDGE_RECOVERED, "the first one recovered");
	judge_decision_done(&d);
	history_done(&h);
}

/* 0 - 1 - 2(hole) - 3(culprit) - [4][5][6] - 7 octopus - 8(small) - 9 */
static void test_hole_and_octopus(void)
{
	struct history h;
	struct judge_decision d;

	world_init(&h.w, 10, 16);
	for (int i = 1; i <= 3; i++)
		world_edge(&h.w, i, i - 1);
	for (int i = 4; i <= 6; i++)
		world_edge(&h.w, i, 3);
	for (int i = 4; i <= 6; i++)
		world_edge(&h.w, 7, i);
	world_edge(&h.w, 8, 7);
	world_edge(&h.w, 9, 8);
	history_init(&h);
	h.w.unbuildable[2] = true;
	add(&h, 3, 29, -1);
	add(&h, 8, 1.1, -1);
	ok(search(&h, &d), "an octopus of neutral branches, a hole beside the culprit");
	ok(d.verdict == JUDGE_SET && d.n_candidates == 2 && d.candidates[0].node == 2 && d.candidates[1].node == 3,
	   "the main one is a set of two");
	is_kind(&d, 8, JUDGE_REGRESSION, "the other one is named");
	is_int((long)d.n_changes, 2, "and the octopus is not");
	judge_decision_done(&d);
	history_done(&h);
}

/* Merge bases 1 and 2 of both 3 and 4; the change of one side is on both sides' merge. */
static void test_criss_cross(void)
{
	static const int parents[][3] = {{1, 0, -9}, {2, 0, -9}, {3, 1, 2}, {4, 2, 1}, {5, 3, -9}, {6, 4, -9}, {7, 5, 6}, {8, 7, -9}};
	struct history h;
	struct judge_decision d;

	world_init(&h.w, 9, 16);
	for (size_t i = 0; i < sizeof(parents) / sizeof(*parents); i++)
		for (int k = 1; k < 3 && parents[i][k] >= 0; k++)
			world_edge(&h.w, parents[i][0], parents[i][k]);
	history_init(&h);
	add(&h, 1, 1.5, -1);
	add(&h, 6, 1.2, -1);
	ok(search(&h, &d) && d.n_changes == 2, "criss-cross merges");
	is_kind(&d, 1, JUDGE_REGRESSION, "the one below them");
	is_kind(&d, 6, JUDGE_REGRESSION, "the one of one side");
	judge_decision_done(&d);
	history_done(&h);
}

/* Three regressions anywhere, some builds broken: which of them are named, and no commit that did nothing. */
static void test_graphs(int percent)
{
	int missed = 0, accused = 0, broken = 0, dear = 0, named = 0;

	for (int t = 0; t < 400; t++) {
		struct history h;
		struct judge_decision d;
		int n;

		world_random(&h.w, 20 + random_below(150));
		history_init(&h);
		n = h.w.dag.n;
		for (int i = 1; i < n - 1; i++)
			h.w.unbuildable[i] = random_below(100) < percent;
		while (h.n_truth < 3) {
			int node = 1 + random_below(n - 1);
			bool taken = false;

			for (int i = 0; i < h.n_truth; i++)
				taken = taken || h.truth[i].node == node;
			if (!taken)
				add(&h, node, 1.3 + 0.2 * h.n_truth, -1);
		}
		if (!search(&h, &d)) {
			broken++;
			history_done(&h);
			continue;
		}
		for (int i = 0; i < 3; i++)
			missed += !change_at(&d, h.truth[i].node);
		for (size_t i = 0; i < d.n_changes; i++) {
			bool right = false;

			for (int k = 0; k < 3; k++)
				right = right || change_at(&d, h.truth[k].node) == &d.changes[i];
			accused += !right;
			named += right;
		}
		dear += percent == 0 && h.w.tests > 3 * (log2_up(n) + 3) + 4;
		judge_decision_done(&d);
		history_done(&h);
	}
	is_int(broken, 0, "400 graphs with three regressions, %d %% unbuildable: an end, the same after a restart", percent);
	printf("# %d changes named, %d missed, %d accused wrongly, %d dear\n", named, missed, accused, dear);
	ok(missed <= 400 * 3 / (percent ? 20 : 100), "%d of 1200 missed", missed);
	ok(accused <= 400 * 3 / (percent ? 20 : 100), "%d wrong", accused);
	ok(dear <= 20, "%d cost more than three bisections", dear);
}

static void test_budget(void)
{
	struct history h;
	struct judge_decision d;
	bool cut = false;

	world_strand(&h.w, 2000);
	history_init(&h);
	h.n_truth = 0;
	for (int i = 1; i <= 40; i++) {
		h.n_truth = 0;
		add(&h, i * 49, i % 2 ? 1.5 : 1.2, -1);
	}
	ok(search(&h, &d), "forty regressions");
	for (size_t i = 0; i < d.n_changes; i++)
		cut = cut || d.changes[i].cut;
	ok(cut, "the answer says that it was cut");
	ok(h.w.tests <= 14 + 9 * 11, "%d tests", h.w.tests);
	judge_decision_done(&d);
	history_done(&h);
}

static void test_wrong_hints(void)
{
	struct history h;
	struct judge_decision d;

	world_strand(&h.w, 4);
	history_init(&h);
	hint(&h, 2, 99);
	is_int(judge_next(&h.w.dag, h.w.obs, &h.opt, &d), -EINVAL, "a hint out of range");
	history_done(&h);
}

int main(int argc, char **argv)
{
	(void)seed_of(argc, argv);
	test_two();
	test_plain();
	test_creep();
	test_reverts();
	test_hole_and_octopus();
	test_criss_cross();
	test_graphs(0);
	test_graphs(15);
	test_budget();
	test_wrong_hints();
	return done_testing();
}
