// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/report/words.h"

#include <math.h>

#include "daemon/report/lines.h"
#include "daemon/report/number.h"

#define NAME_COLUMNS 40

static bool is_zero(double v)
{
	return fpclassify(v) == FP_ZERO;
}

/* Percents with as many digits as tell something: 0.12, 4.3, 29. */
static void add_percent(struct str *out, double part)
{
	double percent = fabs(part) * 100;

	report_add_number(out, percent, percent >= 99 ? 2 : percent >= 20 ? 0 : percent >= 1 ? 1 : 2);
	(void)str_add(out, " %");
}

static void add_factor(struct str *out, double ratio)
{
	if (ratio >= 2) {
		report_add_number(out, ratio, ratio >= 100 ? 0 : ratio >= 10 ? 1 : 2);
		(void)str_add(out, " times as much");
	} else if (fabs(ratio - 1) < 0.00005) {
		(void)str_add(out, "the same");
	} else {
		add_percent(out, ratio - 1);
		(void)str_add(out, ratio > 1 ? " higher" : " lower");
	}
}

void report_add_ratio(struct str *out, double before, double after)
{
	if (is_zero(before) && is_zero(after))
		(void)str_add(out, "none in both");
	else if (is_zero(before))
		(void)str_add(out, "up from none");
	else if (is_zero(after))
		(void)str_add(out, "down to none");
	else if (before < 0 || after < 0)
		(void)str_add(out, after > before ? "higher" : after < before ? "lower" : "the same");
	else
		add_factor(out, after / before);
}

void report_add_step(struct str *out, double before, double after, const char *unit)
{
	int decimals = MAX(report_decimals(before), report_decimals(after));

	report_add_number(out, before, decimals);
	(void)str_add(out, " -> ");
	report_add_number(out, after, decimals);
	if (*unit) {
		(void)str_add(out, " ");
		report_add_line(out, unit, 16);
	}
}

static void add_p(struct str *out, double p)
{
	if (p < 0.001)
		(void)str_add(out, "p<0.001");
	else {
		(void)str_add(out, "p=");
		report_add_number(out, p, p < 0.1 ? 3 : 2);
	}
}

static void add_basis(struct str *out, const struct judge_comparison *c, enum judge_class cls)
{
	(void)str_add(out, " (");
	if (cls == JUDGE_EXACT)
		(void)str_add(out, "exact");
	else
		add_p(out, c->p);
	(void)str_addf(out, ", n=%zu and %zu)", c->n_before, c->n_after);
}

/* "between 4 % lower and 3 % higher" */
static void add_interval(struct str *out, const struct judge_comparison *c)
{
	(void)str_add(out, "between ");
	if (c->low > 0 && isfinite(c->high)) {
		add_factor(out, c->low);
		(void)str_add(out, " and ");
		add_factor(out, c->high);
	} else {
		report_add_number(out, c->low, 2);
		(void)str_add(out, " and ");
		report_add_number(out, c->high, 2);
		(void)str_add(out, " times");
	}
}

/* " [2.03 .. 2.37]" or " [58 .. 50 %]": in the terms of the number before it. */
static void add_bounds(struct str *out, const struct judge_comparison *c)
{
	bool times = c->ratio >= 2 || c->low <= 0 || !isfinite(c->high) || (c->low < 1 && c->high > 1);
	double low = times ? c->low : fabs(c->low - 1) * 100, high = times ? c->high : fabs(c->high - 1) * 100;
	int decimals = times ? 2 : MAX(fabs(low), fabs(high)) >= 20 ? 0 : 1;

	(void)str_add(out, " [");
	report_add_number(out, low, decimals);
	(void)str_add(out, " .. ");
	report_add_number(out, high, decimals);
	(void)str_add(out, times ? "]" : " %]");
}

static void add_moved(struct str *out, const struct judge_comparison *c, const struct report_metric *before)
{
	report_add_ratio(out, c->before, c->after);
	if (before->cls != JUDGE_EXACT && !isnan(c->low))
		add_bounds(out, c);
	(void)str_addf(out, ", %s is better: %s", before->better == JUDGE_HIGHER ? "higher" : "lower",
		       c->relation == JUDGE_WORSE ? "worse" : "better");
}

static void add_same(struct str *out, const struct judge_comparison *c, const struct report_metric *before)
{
	(void)before;
	if (is_zero(c->before - c->after))
		(void)str_add(out, "the same");
	else
		(void)str_addf(out, "the same within %.1f %%", REPORT_FLOOR * 100);
}

/* Fewer runs than an interval needs say nothing, however they fell. */
static void add_unclear(struct str *out, const struct judge_comparison *c, const struct report_metric *before)
{
	if (before->cls == JUDGE_EXACT) {
		(void)str_add(out, "runs of one kernel differ, which exact ones must not: nothing can be said");
	} else if (isnan(c->low)) {
		(void)str_add(out, "too few runs: nothing can be said");
	} else {
		add_interval(out, c);
		(void)str_add(out, c->low <= 1 && c->high >= 1 ? ": no difference shown" :
								 ": not beyond doubt");
	}
}

int report_words(const char *name, const struct report_metric *before, const struct report_metric *after,
		 struct str *out, struct judge_comparison *ret)
{
	static void (*const say[])(struct str *, const struct judge_comparison *,
				   const struct report_metric *) = {
		[JUDGE_SAME] = add_same,
		[JUDGE_WORSE] = add_moved,
		[JUDGE_IMPROVED] = add_moved,
		[JUDGE_UNCLEAR] = add_unclear,
	};
	struct judge_comparison c;
	int r = report_compare(before, after, &c);

	if (r < 0)
		return r;
	report_add_line(out, name, NAME_COLUMNS);
	(void)str_add(out, ": ");
	report_add_step(out, c.before, c.after, before->unit);
	(void)str_add(out, ": ");
	say[c.relation](out, &c, before);
	add_basis(out, &c, before->cls);
	if (ret)
		*ret = c;
	return out->failed ? -ENOMEM : 0;
}
