// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/report/row.h"

#include <math.h>

#include "daemon/judge/stats.h"

static const char *const class_names[] = {
	[JUDGE_EXACT] = "exact",
	[JUDGE_COUNT] = "count",
	[JUDGE_TIME] = "time",
};

void report_metric_done(struct report_metric *m)
{
	free(m->values);
	*m = REPORT_METRIC_INIT;
}

const char *report_class_name(enum judge_class cls)
{
	return class_names[cls];
}

static enum judge_class class_of(const json_t *metric)
{
	for (size_t i = 0; i < ARRAY_SIZE(class_names); i++)
		if (str_eq(json_get_string(metric, "class"), class_names[i]))
			return (enum judge_class)i;
	return JUDGE_TIME; /* the class that claims least */
}

/* 1, or 0 when there are none or one is no number. */
static int read_values(const json_t *list, struct report_metric *m)
{
	size_t n = json_array_size(list);

	if (!n || n > JUDGE_SAMPLE_MAX)
		return 0;
	m->values = calloc(n, sizeof(*m->values));
	if (!m->values)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const json_t *v = json_array_get(list, i);

		if (!json_is_number(v))
			return 0;
		m->values[i] = json_number_value(v);
		m->low = i ? fmin(m->low, m->values[i]) : m->values[i];
		m->high = i ? fmax(m->high, m->values[i]) : m->values[i];
	}
	m->n = n;
	m->median = judge_median(m->values, n);
	return judge_all_finite(m->values, n);
}

int report_metric_get(const json_t *row, const char *machine, const char *name, struct report_metric *ret)
{
	_cleanup_metric_ struct report_metric m = REPORT_METRIC_INIT;
	const json_t *set = json_object_get(json_object_get(row, "metrics"), machine);
	const json_t *metric = name ? json_object_get(set, name) : NULL;
	const char *unit = json_get_string(metric, "unit");
	int r = read_values(json_object_get(metric, "values"), &m);

	if (r <= 0)
		return r;
	m.unit = unit ? unit : "";
	m.cls = class_of(metric);
	m.better = str_eq(json_get_string(metric, "better"), "higher") ? JUDGE_HIGHER : JUDGE_LOWER;
	*ret = m;
	m.values = NULL;
	return 1;
}

int report_compare(const struct report_metric *before, const struct report_metric *after,
		   struct judge_comparison *ret)
{
	if (before->cls != after->cls || !str_eq(before->unit, after->unit))
		return -EINVAL;
	return judge_compare(before->values, before->n, after->values, after->n, before->cls,
			     before->better, REPORT_FLOOR, ret);
}

const json_t *report_row(const json_t *rows, const char *name, size_t *ret_index)
{
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);

		if (!str_eq(json_get_string(row, "row"), name))
			continue;
		if (ret_index)
			*ret_index = i;
		return row;
	}
	return NULL;
}

const char *report_letter(size_t index, char out[16])
{
	if (index < 26)
		(void)snprintf(out, 16, "%c", (char)('A' + (int)index));
	else
		(void)snprintf(out, 16, "#%zu", index + 1);
	return out;
}
