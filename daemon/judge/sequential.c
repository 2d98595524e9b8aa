/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/sequential.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/judge/bayes-factor.h"
#include "daemon/judge/stats.h"

#define DEFAULT_ALPHA 0.01
#define INTERVAL_ALPHA 0.05
/* Fewer tell nothing of the spread, unless the change is so many times larger. */
#define FIRST_LOOK 10
#define FEW 3
#define MANIFEST 8.0

struct look {
	const struct judge_sequential_options *opt;
	double alpha;
	unsigned budget;
	bool logs;
	double minimum; /* in the unit of `d`; 0: a change relative to 0 has no size */
	struct judge_difference d;
};

static int difference_of_logs(const double *base, const double *tip, unsigned n,
			      struct judge_difference *ret)
{
	double *logs = calloc(2 * (size_t)n + 1, sizeof(*logs));

	if (!logs)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		logs[i] = log(base[i]);
		logs[n + i] = log(tip[i]);
	}
	*ret = judge_clipped_difference(logs, logs + n, n);
	free(logs);
	return 0;
}

static int measure(const double *base, const double *tip, unsigned n, struct look *l,
		   struct judge_sequential *ret)
{
	l->logs = judge_all_positive(base, n) && judge_all_positive(tip, n);
	ret->before = judge_median(base, n);
	ret->after = judge_median(tip, n);
	if (l->logs) {
		l->minimum = log1p(l->opt->minimum);
		return difference_of_logs(base, tip, n, &l->d);
	}
	l->minimum = l->opt->minimum * fabs(ret->before);
	l->d = judge_clipped_difference(base, tip, n);
	return 0;
}

/* A difference as a ratio. */
static double ratio_of(const struct look *l, double before, double d)
{
	if (l->logs)
		return exp(d);
	return fpclassify(before) == FP_ZERO ? NAN : 1 + d / before;
}

static void describe(const struct look *l, struct judge_sequential *ret)
{
	double reach = judge_bayes_reach(l->d.se, l->d.pairs, INTERVAL_ALPHA);
	double low = ratio_of(l, ret->before, l->d.delta - reach);
	double high = ratio_of(l, ret->before, l->d.delta + reach);

	ret->pairs = l->d.pairs;
	ret->ratio = ratio_of(l, ret->before, l->d.delta);
	ret->low = isfinite(reach) ? fmin(low, high) : NAN;
	ret->high = isfinite(reach) ? fmax(low, high) : NAN;
	ret->effect = l->d.sd > 0 ? l->d.delta / l->d.sd : NAN;
	ret->needed = judge_pairs_needed(l->minimum, l->d.sd);
	ret->ln_evidence = judge_ln_bayes_factor(l->d.delta, l->d.se, l->d.pairs);
}

/* Too few runs to know their spread, and no change that would be seen in any. */
static bool too_early(const struct look *l)
{
	if (l->d.pairs >= FIRST_LOOK || l->d.pairs >= l->budget)
		return false;
	return l->d.pairs < FEW || !(fabs(l->d.delta) > MANIFEST * l->d.sd);
}

/* What the runs so far say. */
static enum judge_answer say(const struct look *l, const struct judge_sequential *s)
{
	double size = fabs(l->d.delta), sure = -log(l->alpha);

	if (too_early(l))
		return JUDGE_ASK_MORE;
	if (s->ln_evidence >= sure && size >= l->minimum)
		return (l->d.delta > 0) == (l->opt->better == JUDGE_LOWER) ? JUDGE_SAY_WORSE
									   : JUDGE_SAY_IMPROVED;
	/* surely less than the minimum, which may be a change or none */
	if (size < l->minimum &&
	    judge_ln_bayes_factor(l->minimum - size, l->d.se, l->d.pairs) >= sure)
		return JUDGE_SAY_SAME;
	if (s->ln_evidence < sure && l->minimum > 0 &&
	    judge_ln_against_none(l->minimum, size, l->d.se) < JUDGE_LN_FUTILE)
		return JUDGE_SAY_SAME;
	return l->d.pairs >= l->budget ? JUDGE_SAY_UNDECIDED : JUDGE_ASK_MORE;
}

/* Whole rounds of ABBA, few at first, a tenth more later: each look is free, but costs a decision.
 */
static unsigned more_pairs(const struct look *l)
{
	unsigned n = l->d.pairs, next;

	if (n < FEW)
		next = FEW;
	else if (n < FIRST_LOOK)
		next = fabs(l->d.delta) > MANIFEST * l->d.sd ? n + 1 : FIRST_LOOK;
	else
		next = n + 2 + n / 20 * 2;
	return (next > l->budget ? l->budget : next) - n;
}

static void explain(const struct look *l, struct judge_sequential *s)
{
	static const char *const words[] = {
		[JUDGE_ASK_MORE] = "not clear yet",
		[JUDGE_SAY_SAME] = "no change as large as the minimum",
		[JUDGE_SAY_WORSE] = "worse",
		[JUDGE_SAY_IMPROVED] = "better",
		[JUDGE_SAY_UNDECIDED] = "too noisy to tell",
	};
	double percent = 100 * l->opt->minimum;

	if (s->pairs == 0)
		(void)snprintf(s->reason, sizeof(s->reason), "not measured yet");
	else if (s->answer == JUDGE_SAY_UNDECIDED && s->needed > s->pairs)
		(void)snprintf(s->reason, sizeof(s->reason),
			       "%s: x %.4g after %u pairs, a change of %.3g %% needs %u",
			       words[s->answer], s->ratio, s->pairs, percent, s->needed);
	else
		(void)snprintf(s->reason, sizeof(s->reason),
			       "%s: x %.4g [%.4g, %.4g] after %u pairs, minimum %.3g %%",
			       words[s->answer], s->ratio, s->low, s->high, s->pairs, percent);
}

int judge_sequential(const double *base, size_t n_base, const double *tip, size_t n_tip,
		     const struct judge_sequential_options *opt, struct judge_sequential *ret)
{
	struct judge_sequential s = {.answer = JUDGE_ASK_MORE};
	size_t n = n_base < n_tip ? n_base : n_tip;
	struct look l = {.opt = opt,
			 .alpha = opt->alpha > 0 ? opt->alpha : DEFAULT_ALPHA,
			 .budget = opt->budget ? opt->budget : JUDGE_SEQUENTIAL_BUDGET};

	if (!(opt->minimum > 0) || !(opt->alpha >= 0 && opt->alpha < 1))
		return -EINVAL;
	if (n > JUDGE_SAMPLE_MAX)
		return -E2BIG;
	if (!judge_all_finite(base, n) || !judge_all_finite(tip, n))
		return -EDOM;
	int r = measure(base, tip, (unsigned)n, &l, &s);
	if (r < 0)
		return r;
	describe(&l, &s);
	s.answer = say(&l, &s);
	if (s.answer == JUDGE_ASK_MORE)
		s.more = more_pairs(&l);
	explain(&l, &s);
	*ret = s;
	return 0;
}

bool judge_base_first(unsigned k)
{
	return k % 2 == 0;
}
