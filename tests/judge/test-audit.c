/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of the judge that reports quote: are its bounds bounds, and does a small set of searches today agree with it? */
#include "daemon/judge/audit.h"

#include "daemon/simulate/runner.h"

#include "tap.h"

#define SEED 11
#define TRIALS 60

static void test_bound(void)
{
	/* exact values: 1 - 0.05^(1/n) for none, tables of Clopper and Pearson for the others */
	is_near(judge_upper_bound(0, 300), 0.009936, 1e-5, "none of 300");
	is_near(judge_upper_bound(0, 1), 0.95, 1e-9, "none of one says little");
	is_near(judge_upper_bound(1, 20), 0.2161, 1e-4, "one of 20");
	is_near(judge_upper_bound(5, 100), 0.1023, 1e-4, "five of 100");
	is_near(judge_upper_bound(7, 7), 1, 0, "all");
	ok(judge_upper_bound(3, 300) > 0.01 && judge_upper_bound(3, 300) < judge_upper_bound(4, 300), "it is above the share, and grows");
}

static void test_table(void)
{
	bool sums = true, ascending = true;

	for (size_t i = 0; i < n_judge_audits; i++) {
		const struct judge_audit *a = &judge_audits[i];

		sums = sums && a->trials > 0 && a->right + a->wrong + a->no_answer == a->trials;
		ascending = ascending && (i == 0 || judge_audits[i - 1].effect < a->effect);
	}
	ok(sums, "every trial is right, wrong or without an answer");
	ok(ascending, "by the size of the change");
	ok(judge_audit_at(judge_audits[0].effect / 2) == NULL, "a smaller change than all of them: nothing is claimed");
	ok(judge_audit_at(1e9) == &judge_audits[n_judge_audits - 1], "a larger one: the largest");
	is_near(judge_audit_at(2.7)->effect, 2, 1e-9, "between two: the smaller, which is harder");
}

/* Counts that chance makes of one and the same share, with 99.9 % of room. */
static bool agree(unsigned a, unsigned n, unsigned b, unsigned m)
{
	double p = (a + b + 1.0) / (n + m + 2.0);

	return fabs((double)a / n - (double)b / m) <= 3.3 * sqrt(p * (1 - p) * (1.0 / n + 1.0 / m));
}

static void test_agrees(double effect)
{
	const struct world_options world = {.commits = 1000, .steps = {effect}, .outliers = 0.03};
	const struct trial_options options = {0};
	const struct runner runner = {.world = &world, .method = method_find("judge"), .options = &options, .seed = SEED,
				      .name = "audit", .trials = TRIALS, .jobs = 2};
	const struct judge_audit *a = judge_audit_at(effect);
	struct error err = ERROR_INIT;
	struct tally t = {0};

	if (!ok(a && fabs(a->effect - effect) < 1e-9 && runner_run(&runner, &err, &t) >= 0, "%g sigma", effect))
		return;
	printf("# %g sigma: %u right, %u wrong of %u; the table: %u, %u of %u\n", effect, t.outcomes[OUTCOME_RIGHT],
	       t.outcomes[OUTCOME_WRONG], t.trials, a->right, a->wrong, a->trials);
	ok(agree(t.outcomes[OUTCOME_RIGHT], t.trials, a->right, a->trials), "as often right");
	ok(agree(t.outcomes[OUTCOME_WRONG], t.trials, a->wrong, a->trials), "as often wrong");
}

int main(void)
{
	test_bound();
	test_table();
	test_agrees(2);
	test_agrees(4);
	ok(!agree(60, 60, 200, 300), "what does not agree is seen");
	return done_testing();
}
