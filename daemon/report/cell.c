// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/report/cell.h"

#include <math.h>

#include "daemon/report/number.h"

void cells_done(struct cells *c)
{
	for (size_t i = 0; c->items && i < c->n; i++)
		report_metric_done(&c->items[i]);
	free(c->items);
	*c = CELLS_INIT;
}

/* Decimals that show the smallest value other than zero; none when all are whole. */
static int common_decimals(const struct cells *c)
{
	double smallest = INFINITY;
	int most = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct report_metric *m = &c->items[i];

		if (!m->n)
			continue;
		most = MAX(most, report_decimals(m->median));
		if (fpclassify(m->median) != FP_ZERO)
			smallest = fmin(smallest, fabs(m->median));
		for (size_t j = 0; j < m->n; j++)
			most = MAX(most, report_decimals(m->values[j]));
	}
	if (!most || smallest >= 1000)
		return 0;
	return MIN(most, smallest >= 100 ? 1 : smallest >= 1 ? 2 : most);
}

int cells_read(const json_t *rows, const char *machine, const char *metric, struct cells *ret)
{
	_cleanup_cells_ struct cells c = { .n = json_array_size(rows) };

	c.items = calloc(MAX(c.n, (size_t)1), sizeof(*c.items));
	if (!c.items)
		return -ENOMEM;
	for (size_t i = 0; i < c.n; i++) {
		struct report_metric *m = &c.items[i];
		int r;

		*m = REPORT_METRIC_INIT;
		r = report_metric_get(json_array_get(rows, i), machine, metric, m);
		if (r < 0)
			return r;
		if (!r)
			continue;
		if (!c.some) {
			c.some = m;
			c.common_n = m->n;
		} else if (m->n != c.common_n) {
			c.common_n = 0;
		}
	}
	c.decimals = common_decimals(&c);
	*ret = c;
	c = CELLS_INIT;
	return 0;
}

void cells_add(const struct cells *c, size_t row, struct str *out)
{
	const struct report_metric *m = &c->items[row];

	if (!m->n) {
		(void)str_add(out, "-");
		return;
	}
	report_add_number(out, m->median, c->decimals);
	if (m->cls == JUDGE_EXACT ? m->low < m->high : m->n > 1) {
		(void)str_add(out, " +-");
		report_add_number(out, (m->high - m->low) / 2, c->decimals);
	}
	if (!c->common_n)
		(void)str_addf(out, " (n=%zu)", m->n);
}

void cells_add_class(const struct cells *c, struct str *out)
{
	if (!c->some)
		return;
	(void)str_add(out, report_class_name(c->some->cls));
	if (c->common_n)
		(void)str_addf(out, ", n=%zu", c->common_n);
}
