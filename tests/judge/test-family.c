/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The false discovery rate that is reached: by simulation, with members that depend on each other;
 * beside it what one test each would do. Seed: $SEED, argv[1]; 50 families of a kind, or $TRIALS.
 */
#include <errno.h>
#include <math.h>

#include "daemon/judge/bayes-factor.h"
#include "daemon/judge/compare.h"
#include "daemon/judge/family.h"
#include "daemon/judge/stats.h"
#include "tap.h"
#include "world.h"

#define LEN(a) (sizeof(a) / sizeof(*(a)))
#define MEMBERS 60
#define PAIRS 14

static unsigned trials(void)
{
	const char *text = getenv("TRIALS");

	return text ? (unsigned)strtoul(text, NULL, 0) : 20;
}

struct lab {
	unsigned n_true; /* members that have changed, for the worse */
	double size;	 /* by so many standard deviations */
	double common;	/* correlation of all members, in runs; negative: every second one is turned
			   round */
	double minimum; /* in standard deviations */
	bool e; /* p is 1 / e of a test that is looked at after each pair, else a rank test */
};

struct tally {
	double fdr, naive_fdr, power; /* means over families */
	double alarm, naive_alarm;    /* share of families with a false one */
};

/* PAIRS values of base and tip of each member. */
static void measure(const struct lab *lab, double base[MEMBERS][PAIRS], double tip[MEMBERS][PAIRS])
{
	double own = sqrt(1 - fabs(lab->common));

	for (size_t k = 0; k < PAIRS; k++) {
		double a = random_normal(), b = random_normal();

		for (size_t i = 0; i < MEMBERS; i++) {
			double turn = sqrt(fabs(lab->common)) * (lab->common < 0 && i % 2 ? -1 : 1);

			base[i][k] = 100 + turn * a + own * random_normal();
			tip[i][k] = 100 + turn * b + own * random_normal() +
				    (i < lab->n_true ? lab->size : 0);
		}
	}
}

static struct judge_member member_of(const struct lab *lab, const double *base, const double *tip)
{
	struct judge_member m = {.cls = JUDGE_TIME, .minimum = lab->minimum / 100, .p = 1};

	if (!lab->e) {
		m.worse = judge_median(tip, PAIRS) / judge_median(base, PAIRS) - 1;
		(void)judge_rank_test(base, PAIRS, tip, PAIRS, &m.p);
		return m;
	}
	for (unsigned n = 5; n <= PAIRS;
	     n++) { /* the largest evidence ever seen: peeking at its worst */
		struct judge_difference d = judge_clipped_difference(base, tip, n);

		m.worse = d.delta / 100;
		m.p = fmin(m.p, exp(-judge_ln_bayes_factor(d.delta, d.se, n)));
	}
	return m;
}

static struct tally simulate(const char *what, const struct lab *lab,
			     enum judge_dependence dependence)
{
	static double base[MEMBERS][PAIRS], tip[MEMBERS][PAIRS];
	struct tally t = {.fdr = 0};
	unsigned n = trials();

	for (unsigned k = 0; k < n; k++) {
		struct judge_member members[MEMBERS];
		struct judge_member_result results[MEMBERS];
		struct judge_family f;
		double found = 0, false_ones = 0, naive = 0, naive_false = 0;

		measure(lab, base, tip);
		for (size_t i = 0; i < MEMBERS; i++)
			members[i] = member_of(lab, base[i], tip[i]);
		if (judge_family(members, MEMBERS, dependence, 0.05, results, &f) < 0)
			ok(false, "judge_family");
		for (size_t i = 0; i < MEMBERS; i++) {
			bool alone =
				members[i].p <= 0.05 && fabs(members[i].worse) > members[i].minimum;

			found += results[i].counts;
			false_ones += results[i].counts && i >= lab->n_true;
			naive += alone;
			naive_false += alone && i >= lab->n_true;
		}
		t.fdr += found > 0 ? false_ones / found / n : 0;
		t.naive_fdr += naive > 0 ? naive_false / naive / n : 0;
		t.power += lab->n_true ? (found - false_ones) / lab->n_true / n : 0;
		t.alarm += (false_ones > 0 ? 1.0 : 0) / n;
		t.naive_alarm += (naive_false > 0 ? 1.0 : 0) / n;
	}
	printf("# %-50s FDR %.4f power %.3f any false %.4f; one test each: FDR %.3f any false "
	       "%.3f\n",
	       what, t.fdr, t.power, t.alarm, t.naive_fdr, t.naive_alarm);
	return t;
}

static void test_rate(void)
{
	static const struct {
		const char *what;
		struct lab lab;
		enum judge_dependence dependence;
		double power;
	} cases[] = {
		{"no change, e", {.e = true}, JUDGE_ANY_E, 0},
		{"no change, e, correlation 0.8", {.e = true, .common = 0.8}, JUDGE_ANY_E, 0},
		{"no change, rank test, BY", {.common = 0}, JUDGE_ANY_P, 0},
		{"no change, rank test, correlation 0.8", {.common = 0.8}, JUDGE_ANY_P, 0},
		{"6 of 60 by 2 sigma, e", {.n_true = 6, .size = 2, .e = true}, JUDGE_ANY_E, 0.65},
		{"6 of 60 by 2 sigma, e, 0.8",
		 {.n_true = 6, .size = 2, .e = true, .common = 0.8},
		 JUDGE_ANY_E,
		 0.65},
		{"6 of 60 by 2 sigma, e, -0.8",
		 {.n_true = 6, .size = 2, .e = true, .common = -0.8},
		 JUDGE_ANY_E,
		 0.65},
		{"6 of 60 by 2 sigma, rank test, BY", {.n_true = 6, .size = 2}, JUDGE_ANY_P, 0.75},
		{"6 of 60 by 2 sigma, rank test, BY, -0.8",
		 {.n_true = 6, .size = 2, .common = -0.8},
		 JUDGE_ANY_P,
		 0.75},
		{"30 of 60 by 1 sigma, rank test, BY",
		 {.n_true = 30, .size = 1},
		 JUDGE_ANY_P,
		 0.08},
		{"30 of 60 by 1 sigma, minimum 0.5, e",
		 {.n_true = 30, .size = 1, .minimum = 0.5, .e = true},
		 JUDGE_ANY_E,
		 0.04},
		{"30 of 60 by 0.3 sigma, minimum 0.8: few are believed",
		 {.n_true = 30, .size = 0.3, .minimum = 0.8},
		 JUDGE_ANY_P,
		 0},
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		struct tally t = simulate(cases[i].what, &cases[i].lab, cases[i].dependence);

		ok(t.fdr <= 0.05 + 3 * sqrt(0.05 / trials()), "%s: the rate is kept",
		   cases[i].what);
		ok(t.power >= cases[i].power, "and the changes are found");
	}
}

static void test_by_hand(void)
{
	struct judge_member m[] = {
		{JUDGE_TIME, 0.01, 0.1, 0.02},	  {JUDGE_TIME, 0.02, -0.1, 0.02},
		{JUDGE_TIME, 0.03, 0.2, 0.02},	  {JUDGE_TIME, 0.001, 0.01, 0.02},
		{JUDGE_TIME, 0.5, 0.3, 0.02},	  {JUDGE_EXACT, NAN, 0.004, 0.005},
		{JUDGE_EXACT, NAN, 0.006, 0.005}, {JUDGE_COUNT, NAN, 0.5, 0.02},
	};
	struct judge_member_result r[LEN(m)];
	struct judge_family f;

	/* six noisy ones, two of them p 1: 0.01 6/1, 0.02 6/2, 0.03 6/3, 0.5 6/4, 1, 1 */
	is_int(judge_family(m, LEN(m), JUDGE_ANY_E, 0.07, r, &f), 0, "a family");
	is_near(r[0].q, 0.06, 1e-12, "q is monotone");
	is_near(r[1].q, 0.06, 1e-12, "so the second");
	is_near(r[2].q, 0.06, 1e-12, "and the third are as good");
	ok(r[0].counts && r[1].counts && r[2].counts && !r[4].counts, "three count");
	ok(!r[3].counts && r[3].q >= 1, "what is sure, but small, does not");
	ok(!r[5].counts && r[6].counts, "exact: by the floor alone");
	ok(!r[7].counts, "not known: no");
	is_int(f.n_worse, 3, "worse");
	is_int(f.n_improved, 1, "improved");
	is_near(f.one_sided, 2 * 7.0 / 64, 1e-12, "five of six to one side");
	is_int(judge_family(m, LEN(m), JUDGE_ANY_P, 0.07, r, &f), 0, "Benjamini and Yekutieli");
	is_near(r[0].q, 0.06 * 2.45, 1e-12, "the same times 2.45");
	is_int(judge_family(m, 0, JUDGE_ANY_E, 0, r, &f), 0, "none");
	ok(f.n_worse + f.n_improved == 0 && f.one_sided >= 1, "says nothing");
	m[0].minimum = NAN;
	is_int(judge_family(m, LEN(m), JUDGE_ANY_E, 0, r, &f), -EINVAL, "NAN is refused");
}

/* Case D-26: seventeen changes for the worse and none for the better is not seventeen patches. */
static void test_one_sided(void)
{
	struct judge_member m[17];
	struct judge_member_result r[17];
	struct judge_family f;

	for (size_t i = 0; i < LEN(m); i++)
		m[i] = (struct judge_member){JUDGE_TIME, 0.2, 0.01, 0.02};
	is_int(judge_family(m, LEN(m), JUDGE_ANY_E, 0, r, &f), 0, "17 to one side");
	ok(f.one_sided < 1e-4 && f.n_worse == 0, "is told, though none counts");
}

int main(int argc, char **argv)
{
	(void)seed_of(argc, argv);
	test_by_hand();
	test_one_sided();
	test_rate();
	return done_testing();
}
