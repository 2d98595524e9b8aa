// SPDX-License-Identifier: GPL-2.0-or-later
/* The last part of words.h: did the workload do the same work on both sides? */
#include <math.h>

#include "daemon/report/lines.h"
#include "daemon/report/number.h"
#include "daemon/report/words.h"

#define TOO_MUCH 10.0  /* times more or less: beyond "90 % less" */
#define FEW_EVENTS 20  /* below it a counter says nothing */
#define NAMED_MAX 4

/* Counters of work that the kernel did for the workload. */
static bool is_work(const char *metric)
{
	static const char *const prefixes[] = { "pgfault", "pgmajfault", "thp_fault" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (str_starts(metric, prefixes[i]))
			return true;
	return false;
}

static bool is_far(double before, double after)
{
	double x = fabs(before) + 1, y = fabs(after) + 1;

	return MAX(x, y) > FEW_EVENTS && (x / y > TOO_MUCH || y / x > TOO_MUCH);
}

/* A fall of more than 90 % of what should be high, or of a cost: too good, or too bad, to be true. */
static int driver_is_suspicious(const json_t *before, const json_t *after, const char *driver)
{
	static const char *const machines[] = { "exact", "time" };

	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		_cleanup_metric_ struct report_metric a = REPORT_METRIC_INIT, b = REPORT_METRIC_INIT;
		int r = report_metric_get(before, machines[i], driver, &a);

		if (r > 0)
			r = report_metric_get(after, machines[i], driver, &b);
		if (r < 0)
			return r;
		if (r > 0)
			return b.median < a.median / TOO_MUCH;
	}
	return 0;
}

static void add_counter(struct str *out, size_t n, const char *metric, double before, double after)
{
	(void)str_add(out, n ? ", " : "");
	report_add_line(out, metric, 40);
	(void)str_add(out, " (");
	report_add_step(out, before, after, "");
	(void)str_add(out, ")");
}

/* Names the counters that are far apart; how many there are. */
static int add_far_counters(const json_t *before, const json_t *after, struct str *out)
{
	json_t *value, *set = json_object_get(json_object_get(before, "metrics"), "exact");
	const char *machine = "exact", *metric;
	int n = 0;

	if (!json_object_size(set)) {
		machine = "time";
		set = json_object_get(json_object_get(before, "metrics"), machine);
	}
	json_object_foreach(set, metric, value) {
		_cleanup_metric_ struct report_metric a = REPORT_METRIC_INIT, b = REPORT_METRIC_INIT;
		int r;

		if (!is_work(metric))
			continue;
		r = report_metric_get(before, machine, metric, &a);
		if (r > 0)
			r = report_metric_get(after, machine, metric, &b);
		if (r < 0)
			return r;
		if (r > 0 && is_far(a.median, b.median) && n < NAMED_MAX)
			add_counter(out, (size_t)n++, metric, a.median, b.median);
	}
	return n;
}

int report_work_remark(const json_t *before, const json_t *after, const char *driver, struct str *out)
{
	_cleanup_str_ struct str counters = STR_INIT;
	int far = add_far_counters(before, after, &counters);
	int suspicious = far < 0 ? far : driver_is_suspicious(before, after, driver);

	if (suspicious < 0 || counters.failed)
		return -ENOMEM;
	if (far)
		(void)str_addf(out, "Remark: %s: did the workload do the same work on both sides, or is "
				    "this the change itself?", counters.data);
	else if (suspicious)
		(void)str_add(out, "Remark: a fall of more than 90 %: did the workload do the same work on "
				   "both sides?");
	return out->failed ? -ENOMEM : 0;
}
