/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tip against its base with a look after each pair: how often is it wrong, how often right, how
 * many runs does it take? The seed is printed ($SEED, argv[1]); 150 comparisons of a kind, or
 * $TRIALS.
 */
#include <errno.h>
#include <math.h>

#include "daemon/judge/bayes-factor.h"
#include "daemon/judge/sequential.h"
#include "tap.h"
#include "world.h"

#define LEN(a) (sizeof(a) / sizeof(*(a)))
#define PAIRS_MAX 300

static unsigned trials(void)
{
	const char *text = getenv("TRIALS");

	return text ? (unsigned)strtoul(text, NULL, 0) : 150;
}

/* By hand (python), and at the limits. */
static void test_bayes_factor(void)
{
	is_near(judge_ln_bayes_factor(1, 0.5, 10), 0.6649992526530988, 1e-12, "the factor");
	is_near(judge_ln_bayes_factor(-1, 0.5, 10), 0.6649992526530988, 1e-12, "has no side");
	is_near(judge_ln_bayes_factor(0, 0.5, 10), -log(6) / 2, 1e-12, "no difference");
	is_near(judge_ln_bayes_factor(0, 0, 10), -log(6) / 2, 1e-12, "nor any spread");
	is_near(judge_ln_bayes_factor(1, 0, 5), 4 * log(3.5), 1e-12,
		"no spread, a difference: bounded by n");
	is_near(judge_ln_bayes_factor(1, 1e-200, 5), 4 * log(3.5), 1e-12, "its limit");
	is_near(judge_ln_bayes_factor(1, 1, 1), 0, 0, "one pair says nothing");
	is_near(judge_ln_bayes_factor(NAN, 1, 9), 0, 0, "nor does NAN");
	for (unsigned n = 6; n < 200; n *= 2)
		is_near(judge_ln_bayes_factor(judge_bayes_reach(0.3, n, 0.05), 0.3, n), log(20),
			1e-9, "the reach of %u pairs is where the factor is 20", n);
	ok(isinf(judge_bayes_reach(1, 3, 0.05)), "three pairs leave nothing out");
	ok(judge_ln_against_none(1, 0, 0.3) < log(0.01) && judge_ln_against_none(1, 1, 0.3) > 0,
	   "futility");
	is_near(judge_ln_against_none(1, 0.5, 0.3), 0, 0, "half way says nothing");
	ok(isinf(judge_ln_against_none(1, 0, 0)), "no spread: sure");
}

static void test_clipping(void)
{
	const double a[] = {1, 2, 3, 4, 100}, b[] = {2, 3, 4, 5, 6}, coarse[] = {5, 5, 5, 5, 6},
		     level[] = {6, 6, 6, 6, 5};
	struct judge_difference d = judge_clipped_difference(a, b, 5);

	ok(d.delta > 0 && d.delta < 1 && d.sd < 3, "an outlier is clipped: %g, %g", d.delta, d.sd);
	d = judge_clipped_difference(coarse, level, 5);
	is_near(d.delta, 0.6, 1e-12, "most values equal: none is an outlier");
	ok(d.sd > 0.4, "and their spread counts");
	d = judge_clipped_difference(a, b, 1);
	ok(d.delta >= 1 && d.delta <= 1 && isnan(d.se), "one pair");
	ok(isnan(judge_clipped_difference(a, b, 0).delta), "none");
}

struct lab {
	double d;	       /* of the tip, in standard deviations of a run */
	double minimum;	       /* in the same */
	double outliers, tail; /* share of U(3, 10); share of 6 times wider ones */
	double drift;	       /* of the host a run, in the same */
	unsigned budget;
};

struct tally {
	unsigned n, answers[JUDGE_SAY_UNDECIDED + 1];
	double pairs;
};

#define NOISE 0.01

static double one_run(const struct lab *w, double level)
{
	double e = random_normal();

	if (random_unit() < w->outliers)
		e = 3 + 7 * random_unit();
	else if (random_unit() < w->tail)
		e *= 6;
	return 100 * exp(NOISE * (level + e));
}

static struct judge_sequential compare(const struct lab *w)
{
	const struct judge_sequential_options opt = {
		.better = JUDGE_LOWER, .minimum = expm1(NOISE * w->minimum), .budget = w->budget};
	double base[PAIRS_MAX], tip[PAIRS_MAX], host = 0;
	struct judge_sequential s = {.more = 0};
	unsigned n = 0, runs = 0;

	for (;;) {
		int r = judge_sequential(base, n, tip, n, &opt, &s);

		if (r < 0 || s.answer != JUDGE_ASK_MORE || n + s.more > PAIRS_MAX)
			return s;
		for (unsigned end = n + s.more; n < end; n++)
			for (int half = 0; half < 2; half++, runs++) {
				bool is_base = judge_base_first(n) == (half == 0);

				host += w->drift;
				(is_base ? base : tip)[n] = one_run(w, host + (is_base ? 0 : w->d));
			}
	}
}

static struct tally simulate(const char *what, const struct lab *w)
{
	struct tally t = {.n = trials()};

	for (unsigned i = 0; i < t.n; i++) {
		struct judge_sequential s = compare(w);

		t.answers[s.answer]++;
		t.pairs += (double)s.pairs / t.n;
	}
	printf("# %-46s same %.4f worse %.4f improved %.4f undecided %.4f pairs %.1f\n", what,
	       (double)t.answers[JUDGE_SAY_SAME] / t.n, (double)t.answers[JUDGE_SAY_WORSE] / t.n,
	       (double)t.answers[JUDGE_SAY_IMPROVED] / t.n,
	       (double)t.answers[JUDGE_SAY_UNDECIDED] / t.n, t.pairs);
	return t;
}

static void test_no_change(void)
{
	static const struct {
		const char *what;
		struct lab lab;
		double most, same; /* false alarms; the answer "same" */
	} cases[] = {
		{"no change, minimum 1 sigma", {.minimum = 1}, 0.01, 0.97},
		{"no change, minimum 0.5 sigma", {.minimum = 0.5}, 0.01, 0.9},
		{"no change, minimum 0.01 sigma: never ends", {.minimum = 0.01}, 0.01, 0},
		{"no change, 3 % outliers", {.minimum = 0.5, .outliers = 0.03}, 0.01, 0.85},
		{"no change, 10 % outliers", {.minimum = 0.5, .outliers = 0.1}, 0.01, 0.6},
		{"no change, 10 % outliers, never ends",
		 {.minimum = 0.01, .outliers = 0.1},
		 0.01,
		 0},
		{"no change, 10 % six times wider", {.minimum = 0.5, .tail = 0.1}, 0.01, 0.7},
		{"no change, host drifts 0.05 sigma a run", {.minimum = 1, .drift = 0.05}, 0.01, 0},
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		struct tally t = simulate(cases[i].what, &cases[i].lab);
		unsigned wrong = t.answers[JUDGE_SAY_WORSE] + t.answers[JUDGE_SAY_IMPROVED];

		/* most, and three standard deviations of luck */
		ok(wrong <= cases[i].most * t.n + 3 * sqrt(cases[i].most * t.n),
		   "%s: %u false alarms of %u", cases[i].what, wrong, t.n);
		ok(t.answers[JUDGE_SAY_SAME] >= cases[i].same * t.n, "and it says the same");
	}
}

static void test_power(void)
{
	static const struct {
		const char *what;
		struct lab lab;
		double least, pairs; /* right; on average at most */
		enum judge_answer right;
	} cases[] = {
		{"5 sigma, minimum 1", {.d = 5, .minimum = 1}, 0.99, 11, JUDGE_SAY_WORSE},
		{"20 sigma, minimum 1", {.d = 20, .minimum = 1}, 0.99, 8, JUDGE_SAY_WORSE},
		{"2 sigma, minimum 1", {.d = 2, .minimum = 1}, 0.99, 15, JUDGE_SAY_WORSE},
		{"2 sigma better, minimum 1",
		 {.d = -2, .minimum = 1},
		 0.99,
		 15,
		 JUDGE_SAY_IMPROVED},
		{"1 sigma, minimum 0.5", {.d = 1, .minimum = 0.5}, 0.97, 50, JUDGE_SAY_WORSE},
		{"1 sigma, minimum 0.5, 10 % outliers",
		 {.d = 1, .minimum = 0.5, .outliers = 0.1},
		 0.95,
		 80,
		 JUDGE_SAY_WORSE},
		{"0.5 sigma, minimum 0.25", {.d = 0.5, .minimum = 0.25}, 0.9, 160, JUDGE_SAY_WORSE},
		{"0.3 sigma, minimum 1: small", {.d = 0.3, .minimum = 1}, 0.9, 80, JUDGE_SAY_SAME},
		{"1 sigma, minimum 0.5, drift 0.05 a run",
		 {.d = 1, .minimum = 0.5, .drift = 0.02},
		 0.8,
		 120,
		 JUDGE_SAY_WORSE},
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		struct tally t = simulate(cases[i].what, &cases[i].lab);

		ok(t.answers[cases[i].right] >= cases[i].least * t.n, "%s: right %u of %u",
		   cases[i].what, t.answers[cases[i].right], t.n);
		ok(t.pairs <= cases[i].pairs, "in %.1f pairs", t.pairs);
	}
	struct tally t = simulate("1 sigma, minimum 1 (at the minimum)",
				  &(struct lab){.d = 1, .minimum = 1});
	ok(t.answers[JUDGE_SAY_IMPROVED] == 0, "never the other way");
}

static void test_words(void)
{
	const double equal[] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7},
		     more[] = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
	const double negative[] = {-7, -7.1, -6.9, -7, -7.2, -7, -7.05, -6.95, -7, -7};
	const double bad[] = {NAN}, noisy[] = {50, 200, 60, 190, 55, 210, 100, 120, 70, 180};
	struct judge_sequential_options opt = {.better = JUDGE_LOWER, .minimum = 0.02};
	struct judge_sequential s;

	is_int(judge_sequential(NULL, 0, NULL, 0, &opt, &s), 0, "nothing yet");
	ok(s.answer == JUDGE_ASK_MORE && s.more == 3, "three pairs first");
	is_str(s.reason, "not measured yet", "in words");
	is_int(judge_sequential(equal, 10, equal, 3, &opt, &s), 0, "three of one side");
	ok(s.answer == JUDGE_ASK_MORE && s.pairs == 3 && s.more == 7, "the shorter side counts");
	is_int(judge_sequential(equal, 10, equal, 10, &opt, &s), 0, "all equal");
	is_int(s.answer, JUDGE_SAY_SAME, "the same");
	is_int(judge_sequential(equal, 5, more, 5, &opt, &s), 0, "a change without noise");
	is_int(s.answer, JUDGE_SAY_WORSE, "needs five pairs, not ten");
	is_near(s.ratio, 9.0 / 7, 1e-12, "its ratio");
	opt.better = JUDGE_HIGHER;
	is_int(judge_sequential(equal, 5, more, 5, &opt, &s), 0, "higher is better");
	is_int(s.answer, JUDGE_SAY_IMPROVED, "then it is better");
	is_int(judge_sequential(negative, 10, equal, 10, &opt, &s), 0, "both signs");
	is_int(s.answer, JUDGE_SAY_IMPROVED, "by difference");
	opt.budget = 10;
	is_int(judge_sequential(noisy, 10, noisy, 10, &opt, &s), 0, "much noise, small budget");
	is_int(s.answer, JUDGE_SAY_UNDECIDED, "is said");
	ok(s.needed > 1000, "with what it would need: %u; %s", s.needed, s.reason);
	is_int(judge_sequential(bad, 1, equal, 1, &opt, &s), -EDOM, "NAN is refused");
	opt.minimum = 0;
	is_int(judge_sequential(equal, 1, equal, 1, &opt, &s), -EINVAL, "and no minimum");
}

int main(int argc, char **argv)
{
	(void)seed_of(argc, argv);
	test_bayes_factor();
	test_clipping();
	test_words();
	test_no_change();
	test_power();
	return done_testing();
}
