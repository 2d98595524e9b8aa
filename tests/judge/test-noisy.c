/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the noisy search, one by one; whole searches are in test-simulate. */
#include <errno.h>

#include "daemon/judge/ancestry.h"
#include "daemon/judge/confirm.h"
#include "daemon/judge/ends.h"
#include "daemon/judge/info.h"
#include "daemon/judge/pick.h"
#include "daemon/judge/posterior.h"
#include "tests/judge/world.h"
#include "tap.h"

static void test_ancestry(void)
{
	int wrong = 0, wrong_sums = 0;

	for (int trial = 0; trial < 60; trial++) {
		struct world w;
		struct ancestry a;
		int n = 20 + random_below(150);
		bool *below = make((size_t)n, sizeof(bool));
		double *mass = make((size_t)n, sizeof(*mass)), *sum = make((size_t)n, sizeof(*sum));
		double *brute = make((size_t)n, sizeof(*brute));
		uint64_t *set = make((size_t)n, sizeof(*set));

		world_random(&w, n);
		if (ancestry_init(&w.dag, false, &a) < 0)
			abort();
		for (int c = 1; c < n; c++) {
			mass[c] = random_unit();
			descendants(&w.dag, c, below);
			for (int i = 0; i < n; i++) {
				ancestry_set(&a, i, set);
				wrong += below[i] != ancestry_in(set, c);
				brute[i] += below[i] ? mass[c] : 0;
			}
		}
		ancestry_sums(&a, mass, sum);
		for (int i = 0; i < n; i++)
			wrong_sums += fabs(sum[i] - brute[i]) > 1e-9;
		ancestry_done(&a);
		world_done(&w);
		free(below);
		free(mass);
		free(sum);
		free(brute);
		free(set);
	}
	is_int(wrong, 0, "ancestors of random graphs, as a walk finds them");
	is_int(wrong_sums, 0, "sums over ancestors");
}

static void test_information(void)
{
	struct info_table t;
	double monotone = 0;
	int falls = 0;

	info_table_make(&t);
	ok(fabs(judge_information(&t, 0.5, 40) - 1) < 1e-3, "a clear signal tells the whole bit");
	ok(judge_information(&t, 0.5, 0) <= 0 && judge_information(&t, 0, 1) <= 1e-12, "nothing tells nothing");
	/* small signals: p (1 - p) d^2 / (2 ln 2), the Taylor series of the integral */
	ok(fabs(judge_information(&t, 0.3, 0.01) / (0.21 * 1e-4 / (2 * log(2))) - 1) < 0.05, "the series for a small signal");
	/* capacity of the binary-input Gaussian channel at -2.8 dB is 0.486 bit (d = 2, Richardson and Urbanke) */
	ok(fabs(judge_information(&t, 0.5, 2) - 0.486) < 0.01, "one unit of noise: %.4f bits", judge_information(&t, 0.5, 2));
	ok(fabs(judge_information(&t, 0.2, 1) - judge_information(&t, 0.8, 1)) < 1e-12, "both sides alike");
	for (double d = 0.01; d < 12; d *= 1.03) {
		double bits = judge_information(&t, 0.1, d);

		falls += bits < monotone - 1e-9;
		monotone = bits;
	}
	is_int(falls, 0, "more signal never tells less");
}

struct bench {
	struct world w;
	struct judge_options opt;
	struct judge_memo *memo;
	int64_t (*order)[RUNS_MAX];
	int64_t now;
};

static void bench_init(struct bench *b, int candidates)
{
	*b = (struct bench){.opt = {.cls = JUDGE_TIME, .better = JUDGE_LOWER, .claim = 0.05, .run_seconds = 7}};
	world_strand(&b->w, candidates);
	b->order = make((size_t)b->w.dag.n, sizeof(*b->order));
	b->memo = judge_memo_new();
	b->opt.memo = b->memo;
	for (int i = 0; i <= candidates; i++)
		b->w.obs[i].build_seconds = 40;
}

static void bench_done(struct bench *b)
{
	free(b->order);
	judge_memo_free(b->memo);
	world_done(&b->w);
}

/* n runs about a level, spread 1. */
static void measured(struct bench *b, int node, double level, int n)
{
	struct judge_obs *o = &b->w.obs[node];

	o->state = JUDGE_TESTED;
	o->values = b->w.values[node];
	o->order = b->order[node];
	o->build_seconds = 0;
	for (int i = 0; i < n; i++) {
		b->w.values[node][o->n_values] = level + random_normal();
		b->order[node][o->n_values++] = ++b->now;
	}
}

static struct posterior look(struct bench *b, struct evidence *e)
{
	struct posterior p;

	if (evidence_init(&b->w.dag, b->w.obs, &b->opt, e) < 0 || posterior_init(e, b->memo, &p) < 0)
		abort();
	return p;
}

static void test_posterior(void)
{
	struct bench b;
	struct evidence e;
	struct posterior p;
	double sum = 0;

	bench_init(&b, 20);
	measured(&b, 0, 100, 12);
	measured(&b, 20, 105, 12);
	p = look(&b, &e);
	for (int i = 0; i <= 20; i++)
		sum += p.mass[i];
	ok(fabs(sum - 1) < 1e-9 && fabs(p.mass[7] - 0.05) < 1e-9, "nothing measured between the ends: all are alike");
	ok(fabs(p.step - log(1.05)) < 0.01 && fabs(p.sigma - 0.01) < 0.004, "step %.4f and spread %.4f are relative", p.step, p.sigma);
	posterior_done(&p);
	evidence_done(&e);

	measured(&b, 9, 100, 6);
	measured(&b, 10, 105, 6);
	p = look(&b, &e);
	ok(p.mass[10] > 0.99 && p.best == 10, "between 9 and 10: %.4f", p.mass[10]);
	ok(p.bad[9] < 0.01 && p.bad[10] > 0.99, "9 is good, 10 is bad");
	posterior_done(&p);
	evidence_done(&e);

	/* 10 cannot be told from 9's image: then it is not the culprit, and nothing is */
	b.w.obs[10].image = b.w.obs[11].image = 1;
	p = look(&b, &e);
	ok(p.mass[11] <= 0 && p.mass[10] > 0.99, "what has the image of its parent is no culprit");
	posterior_done(&p);
	evidence_done(&e);
	bench_done(&b);
}

static void test_atoms(void)
{
	struct bench b;
	struct evidence e;
	struct posterior p;

	bench_init(&b, 20);
	measured(&b, 0, 100, 12);
	measured(&b, 20, 105, 12);
	measured(&b, 8, 100, 6);
	measured(&b, 11, 105, 6);
	b.w.obs[9].state = b.w.obs[10].state = JUDGE_SKIPPED;
	p = look(&b, &e);
	ok(p.atom[9] == 11 && p.atom[10] == 11 && p.atom[12] == 12, "what cannot be tested goes with its child");
	ok(p.atom_mass[11] > 0.99 && fabs(p.mass[9] - p.mass[11]) < 1e-9, "and keeps its prior");
	posterior_done(&p);
	evidence_done(&e);
	b.w.obs[9].state = JUDGE_SLOW;
	p = look(&b, &e);
	ok(p.mass[10] <= 0 && p.mass[9] > 0.99, "what overran its limit is bad");
	posterior_done(&p);
	evidence_done(&e);
	bench_done(&b);
}

static enum ends_state ends_of(double step, int pairs, double claim, unsigned *ret_more)
{
	struct bench b;
	struct evidence e;
	struct ends x;

	bench_init(&b, 3);
	b.opt.claim = claim;
	for (int i = 0; i < pairs; i++) {
		measured(&b, 0, 100, 1);
		measured(&b, 3, 100 + step, 1);
	}
	if (evidence_init(&b.w.dag, b.w.obs, &b.opt, &e) < 0 || ends_look(&e, &x) < 0)
		abort();
	*ret_more = x.more;
	evidence_done(&e);
	bench_done(&b);
	return x.state;
}

static void test_ends(void)
{
	unsigned more;

	is_int(ends_of(5, 0, 0.05, &more), ENDS_MORE, "nothing yet");
	is_int(more, 3, "three pairs first");
	is_int(ends_of(1000, 3, 0.05, &more), ENDS_EXACT, "ends so far apart need no statistics");
	is_int(ends_of(12, 4, 0.05, &more), ENDS_REPRODUCED, "what is clear needs four pairs");
	is_int(ends_of(-12, 4, 0.05, &more), ENDS_OPPOSITE, "opposite sign");
	is_int(ends_of(3, 20, 0.05, &more), ENDS_REPRODUCED, "3 sigma in 20 pairs");
	is_int(ends_of(0, 60, 0.05, &more), ENDS_SAME, "no change, 5 sigma were claimed");
}

/* Two parents, two levels: the culprit is the merge itself. */
static void test_merge(void)
{
	/* 0 - 1 - 3 - 4
	 *   \ 2 /        */
	static const int start[] = {0, 0, 1, 2, 4, 5}, parents[] = {0, 0, 1, 2, 3};
	const struct judge_dag dag = {5, start, parents};
	struct bench b;
	struct evidence e;
	struct posterior p;
	struct confirm c;
	struct judge_mark mark = {.node = 3};

	bench_init(&b, 4);
	measured(&b, 0, 100, 12);
	measured(&b, 4, 105, 12);
	measured(&b, 1, 100, 8);
	measured(&b, 2, 100, 8);
	measured(&b, 3, 105, 8);
	b.w.dag = dag;
	p = look(&b, &e);
	ok(p.best == 3 && p.mass[3] > 0.98, "the merge: %.4f", p.mass[3]);
	mark.order = b.now;
	is_int(confirm_look(&e, &p, &mark, &c), 0, "asked");
	ok(c.n_parents == 2 && c.state == CONFIRM_MORE, "both parents are to be run afresh");
	posterior_done(&p);
	evidence_done(&e);
	measured(&b, 1, 100, 6);
	measured(&b, 2, 105, 6);
	measured(&b, 3, 105, 6);
	p = look(&b, &e);
	is_int(confirm_look(&e, &p, &mark, &c), 0, "asked");
	is_int(c.state, CONFIRM_NO, "one parent is as bad in fresh runs");
	posterior_done(&p);
	evidence_done(&e);
	bench_done(&b);
}

static void test_costs(void)
{
	struct bench b;
	struct evidence e;
	struct posterior p;
	struct action a[2];
	struct info_table info;

	info_table_make(&info);
	bench_init(&b, 100);
	measured(&b, 0, 100, 12);
	measured(&b, 100, 105, 12);
	b.w.obs[40].build_seconds = 0;
	p = look(&b, &e);
	is_int(pick_actions(&e, &p, &info, 2, a), 2, "two at once");
	is_int(a[0].node, 40, "what is built already costs a run only");
	ok(a[1].node > 0 && a[1].node < 100 && a[1].node != 40, "and another one");
	posterior_done(&p);
	evidence_done(&e);
	bench_done(&b);
}

int main(int argc, char **argv)
{
	seed_of(argc, argv);
	test_ancestry();
	test_information();
	test_posterior();
	test_atoms();
	test_ends();
	test_merge();
	test_costs();
	return done_testing();
}
