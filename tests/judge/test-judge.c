/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decisions one by one: anchors, more runs, giving up, sides, slow commits, values that bite, wrong
 * input. */
#include <errno.h>

#include "tests/judge/world.h"
#include "tap.h"

static const struct judge_options exact = {
	.cls = JUDGE_EXACT, .better = JUDGE_LOWER, .floor = 0.002};
static const struct judge_options noisy = {
	.cls = JUDGE_TIME, .better = JUDGE_LOWER, .floor = 0.02};

/* A strand of five candidates. */
static const int start[] = {0, 0, 1, 2, 3, 4, 5}, parents[] = {0, 1, 2, 3, 4};
static const struct judge_dag strand = {6, start, parents};

static const double low[] = {100, 101, 102, 103, 104, 100, 101, 102,
			     103, 104, 100, 101, 102, 103, 104};
static const double high[] = {150, 151, 152, 153, 154, 150, 151, 152,
			      153, 154, 150, 151, 152, 153, 154};
static const double mixed[] = {150, 90, 152, 92, 154, 150, 90, 152, 92, 154, 150, 90, 152, 92, 154};

static struct judge_obs got(const double *values, size_t n)
{
	return (struct judge_obs){.state = JUDGE_TESTED, .values = values, .n_values = n};
}

static struct judge_decision ask(const struct judge_obs *obs, const struct judge_options *opt)
{
	struct judge_decision d = {.culprit = -7};

	is_int(judge_next(&strand, obs, opt, &d), 0, "asked: %s", d.reason);
	return d;
}

static void is_want(const struct judge_decision *d, size_t i, int node, unsigned runs)
{
	ok(d->action == JUDGE_MEASURE && i < d->n_wants && d->wants[i].node == node &&
		   d->wants[i].runs == runs,
	   "wants %u runs of %d", runs, node);
}

static void is_end(const struct judge_decision *d, enum judge_verdict verdict, const char *part)
{
	ok(d->action == JUDGE_DONE && d->verdict == verdict && d->n_wants == 0 && d->culprit == -1,
	   "the verdict is %d", verdict);
	ok(strstr(d->reason, part) != NULL, "the reason has '%s': %s", part, d->reason);
}

static void test_exact_steps(void)
{
	struct judge_obs obs[6] = {{0}};
	struct judge_decision d = ask(obs, &exact);

	is_int(d.n_wants, 2, "both anchors first");
	is_want(&d, 0, 0, 1);
	is_want(&d, 1, 5, 1);
	ok(d.remaining == 5 && d.steps_left == 3 && d.first_bad == 5 && d.last_good == 0,
	   "five candidates");

	obs[0] = got(low, 1);
	d = ask(obs, &exact);
	is_int(d.n_wants, 1, "then the one that lacks");
	is_want(&d, 0, 5, 1);

	obs[5] = got(high, 1);
	d = ask(obs, &exact);
	is_int(d.n_wants, 1, "one commit at a time");
	is_want(&d, 0, 2, 1);
	ok(d.change.relation == JUDGE_WORSE && d.change.n_before == 1,
	   "the change is known by now");

	obs[2] = got(low + 1, 1);
	d = ask(obs, &exact);
	ok(d.remaining == 3 && d.last_good == 2 && d.first_bad == 5, "3, 4 and 5 are left");
	is_want(&d, 0, 3, 1);
	obs[3] = got(high, 1);
	d = ask(obs, &exact);
	ok(d.action == JUDGE_DONE && d.verdict == JUDGE_CULPRIT && d.culprit == 3, "3 it is");
	ok(d.n_candidates == 1 && d.candidates[0].probability >= 1 && d.steps_left == 0,
	   "for sure");
	judge_decision_done(&d);
	judge_decision_done(&d);
	ok(!d.candidates, "freed, twice is no harm");
}

static void test_exact_anchors(void)
{
	struct judge_obs obs[6] = {[0] = got(low, 1), [5] = got(low, 1)};
	struct judge_options higher = exact;
	struct judge_decision d = ask(obs, &exact);

	is_end(&d, JUDGE_NOT_REPRODUCED, "no change above the floor of 0.2 %");
	obs[0] = got(high, 1);
	d = ask(obs, &exact);
	is_end(&d, JUDGE_NOT_REPRODUCED, "opposite sign");
	higher.better = JUDGE_HIGHER;
	d = ask(obs, &higher);
	is_want(&d, 0, 2, 1);
	is_int(judge_side(obs, 5, 6, &higher), JUDGE_SIDE_BAD,
	       "lower is bad when higher is better");

	obs[5].state = JUDGE_SKIPPED;
	d = ask(obs, &exact);
	is_end(&d, JUDGE_GAVE_UP, "bad end does not build");
	obs[0] = (struct judge_obs){.state = JUDGE_SKIPPED};
	d = ask(obs, &exact);
	is_end(&d, JUDGE_GAVE_UP, "good end does not build");
	obs[0].state = JUDGE_SLOW;
	d = ask(obs, &exact);
	is_end(&d, JUDGE_GAVE_UP, "good end overran");
}

static void test_noisy_anchors(void)
{
	struct judge_obs obs[6] = {{0}};
	struct judge_decision d = ask(obs, &noisy);

	is_int(d.n_wants, 6, "three pairs first");
	is_want(&d, 0, 0, 1);
	is_want(&d, 1, 5, 1);
	is_want(&d, 2, 5, 2);
	is_want(&d, 3, 0, 2);
	obs[0] = got(low, 4);
	obs[5] = got(mixed, 3);
	d = ask(obs, &noisy);
	is_int(d.n_wants, 1, "the one that lags behind first");
	is_want(&d, 0, 5, 4);
	obs[5] = got(mixed, 4);
	d = ask(obs, &noisy);
	is_int(d.n_wants, 12, "not apart: more of both");
	obs[5] = got(high, 4);
	d = ask(obs, &noisy);
	ok(d.action == JUDGE_MEASURE && d.phase == JUDGE_SEARCH && d.wants[0].node > 0 &&
		   d.wants[0].node < 5,
	   "apart by far: the search begins");
	d = ask((struct judge_obs[6]){[0] = got(high, 4), [5] = got(low, 4)}, &noisy);
	is_end(&d, JUDGE_NOT_REPRODUCED, "opposite sign");
	d = ask((struct judge_obs[6]){[0] = got(low, 1), [5] = {.state = JUDGE_SKIPPED}}, &noisy);
	is_end(&d, JUDGE_GAVE_UP, "bad end does not build");
}

static void test_set(void)
{
	struct judge_obs obs[6] = {[0] = got(low, 1), [5] = got(high, 1)};
	struct judge_decision d;

	obs[2] = obs[3] = (struct judge_obs){.state = JUDGE_SKIPPED};
	obs[1] = got(low, 1);
	obs[4] = got(high, 1);
	d = ask(obs, &exact);
	ok(d.verdict == JUDGE_SET && d.culprit == -1 && d.n_candidates == 3,
	   "two skips and the first bad one");
	ok(d.candidates[0].node == 2 && d.candidates[2].node == 4, "2, 3 and 4");
	ok(fabs(d.candidates[1].probability - 1.0 / 3) < 1e-12, "a third each");
	judge_decision_done(&d);
}

static void test_slow(void)
{
	struct judge_obs obs[6] = {[0] = got(low, 1), [5] = got(high, 1)};
	struct judge_decision d;

	obs[2].state = JUDGE_SLOW;
	is_int(judge_side(obs, 2, 6, &exact), JUDGE_SIDE_BAD, "slow is bad");
	d = ask(obs, &exact);
	is_want(&d, 0, 1, 1);
	obs[1] = got(low, 1);
	d = ask(obs, &exact);
	is_int(d.culprit, 2, "a slow commit is the culprit");
	judge_decision_done(&d);

	obs[5] = (struct judge_obs){.state = JUDGE_SLOW};
	obs[0] = obs[1] = obs[2] = (struct judge_obs){0};
	d = ask(obs, &noisy);
	is_int(d.n_wants, 1, "a slow bad end needs no runs");
	is_want(&d, 0, 0, 1);
	obs[0] = got(low, 1);
	d = ask(obs, &noisy);
	is_want(&d, 0, 2, 1);
	ok(d.change.relation == JUDGE_WORSE && isnan(d.change.ratio) && d.change.n_after == 0,
	   "worse by nobody knows what");
	obs[2] = got(high, 5);
	is_int(judge_side(obs, 2, 6, &noisy), JUDGE_SIDE_GOOD, "what ended in time is good");
}

static void test_sides(void)
{
	const double a[] = {100}, b[] = {10000}, m[] = {1000}, below[] = {999}, minus[] = {-100},
		     zero[] = {0};
	struct judge_obs obs[6] = {[0] = got(a, 1), [5] = got(b, 1)};

	is_int(judge_side(obs, 0, 6, &exact), JUDGE_SIDE_GOOD, "the good anchor");
	is_int(judge_side(obs, 5, 6, &exact), JUDGE_SIDE_BAD, "the bad anchor");
	is_int(judge_side(obs, 3, 6, &exact), JUDGE_SIDE_UNKNOWN, "not measured");
	is_int(judge_side(obs, 6, 6, &exact), JUDGE_SIDE_UNKNOWN, "no such node");
	obs[3] = got(m, 1);
	is_int(judge_side(obs, 3, 6, &exact), JUDGE_SIDE_BAD,
	       "half-way on the logarithmic scale is bad");
	obs[3] = got(below, 1);
	is_int(judge_side(obs, 3, 6, &exact), JUDGE_SIDE_GOOD, "below it is good");
	obs[0] = got(minus, 1);
	obs[3] = got(zero, 1);
	is_int(judge_side(obs, 3, 6, &exact), JUDGE_SIDE_GOOD, "negative values: half-way is 4950");
	obs[0] = got(b, 1);
	is_int(judge_side(obs, 3, 6, &exact), JUDGE_SIDE_UNKNOWN, "equal anchors say nothing");
	obs[3].state = JUDGE_SKIPPED;
	is_int(judge_side(obs, 3, 6, &exact), JUDGE_SIDE_SKIP, "skipped");
}

static void test_values_that_bite(void)
{
	const double nan_value[] = {NAN}, inf[] = {INFINITY}, zero[] = {0}, one[] = {1};
	struct judge_obs obs[6] = {[0] = got(nan_value, 1), [5] = got(high, 1)};
	struct judge_decision d = ask(obs, &exact);

	is_end(&d, JUDGE_GAVE_UP, "good end gave a value that is no number");
	obs[0] = got(low, 1);
	obs[2] = got(inf, 1);
	is_int(judge_side(obs, 2, 6, &exact), JUDGE_SIDE_SKIP, "infinity on the way is a skip");
	d = ask(obs, &exact);
	ok(d.action == JUDGE_MEASURE && d.wants[0].node != 2, "and not asked for again");
	obs[0] = got(zero, 1);
	obs[2] = got(zero, 1);
	obs[5] = got(one, 1);
	d = ask(obs, &exact);
	is_want(&d, 0, 3, 1);
}

static void test_wrong_input(void)
{
	struct judge_obs obs[6] = {{0}};
	struct judge_decision d = {.culprit = -7};
	struct judge_options opt = exact;

	opt.floor = NAN;
	is_int(judge_next(&strand, obs, &opt, &d), -EINVAL, "a floor of NAN");
	opt = noisy;
	opt.confidence = 1;
	is_int(judge_next(&strand, obs, &opt, &d), -EINVAL, "a confidence of 1");
	opt = noisy;
	opt.claim = -0.1;
	is_int(judge_next(&strand, obs, &opt, &d), -EINVAL, "a negative claim");
	obs[3].n_values = 1;
	is_int(judge_next(&strand, obs, &exact, &d), -EINVAL, "values that are not there");
	obs[3].n_values = 0;
	is_int(judge_next(&(struct judge_dag){1, start, parents}, obs, &exact, &d), -EINVAL,
	       "a graph of one");
	is_int(d.culprit, -7, "the output is untouched on failure");
}

int main(void)
{
	test_exact_steps();
	test_exact_anchors();
	test_noisy_anchors();
	test_set();
	test_slow();
	test_sides();
	test_values_that_bite();
	test_wrong_input();
	return done_testing();
}
