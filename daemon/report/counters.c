// SPDX-License-Identifier: GPL-2.0-or-later
/* The second half of table.h: metrics that moved, the largest change first. */
#include <math.h>

#include "daemon/report/cell.h"
#include "daemon/report/grid.h"
#include "daemon/report/lines.h"
#include "daemon/report/number.h"
#include "daemon/report/table.h"

#define SHOWN_MAX 14
#define NAME_COLUMNS 28
#define FIXED_COLUMNS 4 /* name, unit, class and n, first row */

struct counter {
	const char *machine, *metric;
	bool exact;
	double size; /* of the largest change */
};

struct counter_list {
	struct counter *items;
	size_t n, capacity;
};

static void counter_list_done(struct counter_list *list)
{
	free(list->items);
}

/* A finding is about its culprit alone; else each row is held against the first. */
static bool counts(const json_t *rows, size_t row)
{
	return row == 1 || !str_eq(json_get_string(json_array_get(rows, 0), "row"), "parent") ||
	       !str_eq(json_get_string(json_array_get(rows, 1), "row"), "culprit");
}

/* The logarithm of the ratio, with one added to both so that none to one is no large change. */
static double size_of(const struct judge_comparison *c)
{
	return fabs(log((fabs(c->after) + 1) / (fabs(c->before) + 1)));
}

/* 1 when some row moved. */
static int look_at(const json_t *rows, struct counter *counter)
{
	_cleanup_cells_ struct cells cells = CELLS_INIT;
	int r = cells_read(rows, counter->machine, counter->metric, &cells);
	bool moved = false;

	if (r < 0)
		return r;
	for (size_t i = 1; i < cells.n; i++) {
		struct judge_comparison c;

		if (!counts(rows, i) || !cells.items[0].n || !cells.items[i].n)
			continue;
		r = report_compare(&cells.items[0], &cells.items[i], &c);
		if (r == -ENOMEM)
			return r;
		if (r < 0 || (c.relation != JUDGE_WORSE && c.relation != JUDGE_IMPROVED))
			continue;
		moved = true;
		counter->exact = cells.items[0].cls == JUDGE_EXACT;
		counter->size = fmax(counter->size, size_of(&c));
	}
	return moved;
}

static bool is_shown_above(const json_t *rows, const char *driver, const char *machine, const char *metric)
{
	struct report_column columns[REPORT_COLUMNS_MAX];
	size_t n = report_columns(rows, driver, columns);

	for (size_t i = 0; i < n; i++)
		if (str_eq(columns[i].machine, machine) && str_eq(columns[i].metric, metric))
			return true;
	return false;
}

static int gather(const json_t *rows, const char *driver, struct counter_list *list)
{
	static const char *const machines[] = { "exact", "time" };

	for (size_t m = 0; m < ARRAY_SIZE(machines); m++) {
		const json_t *first = json_object_get(json_array_get(rows, 0), "metrics");
		const char *name;
		json_t *value, *set = json_object_get(first, machines[m]);

		json_object_foreach(set, name, value) {
			struct counter counter = { .machine = machines[m], .metric = name };
			int r;

			if (is_shown_above(rows, driver, machines[m], name))
				continue;
			r = look_at(rows, &counter);
			if (r > 0)
				r = grow_array(&list->items, &list->capacity, list->n, sizeof(*list->items));
			else if (r == 0)
				continue;
			if (r < 0)
				return r;
			list->items[list->n++] = counter;
		}
	}
	return 0;
}

static int by_size(const void *a, const void *b)
{
	const struct counter *x = a, *y = b;

	if (x->exact != y->exact)
		return x->exact ? -1 : 1;
	if (x->size < y->size || x->size > y->size)
		return x->size > y->size ? -1 : 1;
	return strcmp(x->metric, y->metric);
}

/* "29.3", "new" from zero, "-" when one is missing or they cannot be compared. */
static void add_ratio(const struct report_metric *before, const struct report_metric *after, struct str *out)
{
	struct judge_comparison c;

	if (!before->n || !after->n || report_compare(before, after, &c) < 0)
		(void)str_add(out, "-");
	else if (!isfinite(c.ratio))
		(void)str_add(out, "new");
	else
		report_add_number(out, c.ratio, fabs(c.ratio) >= 100 ? 0 : fabs(c.ratio) >= 10 ? 1 : 2);
}

static int set_header(struct grid *g, const json_t *rows)
{
	static const char *const names[] = { "moved", "unit", "class" };
	size_t column = ARRAY_SIZE(names);
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names) && r >= 0; i++)
		r = grid_set_text(g, 0, i, names[i]);
	for (size_t i = 0; i < json_array_size(rows) && r >= 0; i++) {
		char letter[16], ratio[32];

		(void)snprintf(ratio, sizeof(ratio), "%s/A", report_letter(i, letter));
		r = grid_set_text(g, 0, column++, letter);
		if (r >= 0 && i && counts(rows, i))
			r = grid_set_text(g, 0, column++, ratio);
	}
	return r;
}

static int set_line(struct grid *g, size_t line, const json_t *rows, const struct counter *counter)
{
	_cleanup_cells_ struct cells cells = CELLS_INIT;
	_cleanup_str_ struct str name = STR_INIT, unit = STR_INIT, class = STR_INIT;
	size_t column = 3;
	int r = cells_read(rows, counter->machine, counter->metric, &cells);

	if (r < 0)
		return r;
	/* The unit says that it is a counter; its own name is what has to fit. */
	report_add_line(&name, counter->metric + (strncmp(counter->metric, "vmstat.", 7) == 0 ? 7 : 0), NAME_COLUMNS);
	report_add_line(&unit, cells.some ? cells.some->unit : "", 12);
	cells_add_class(&cells, &class);
	if (grid_set(g, line, 0, &name) < 0 || grid_set(g, line, 1, &unit) < 0 || grid_set(g, line, 2, &class) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < cells.n; i++) {
		_cleanup_str_ struct str value = STR_INIT, ratio = STR_INIT;

		cells_add(&cells, i, &value);
		r = grid_set(g, line, column++, &value);
		if (r >= 0 && i && counts(rows, i)) {
			add_ratio(&cells.items[0], &cells.items[i], &ratio);
			r = grid_set(g, line, column++, &ratio);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

static size_t columns_needed(const json_t *rows)
{
	size_t n = FIXED_COLUMNS;

	for (size_t i = 1; i < json_array_size(rows); i++)
		n += counts(rows, i) ? 2 : 1;
	return n;
}

int report_table_counters(const json_t *rows, const char *driver, struct str *out)
{
	_cleanup_(counter_list_done) struct counter_list list = { 0 };
	_cleanup_grid_ struct grid g = GRID_INIT;
	size_t shown;
	int r = gather(rows, driver, &list);

	if (r < 0 || !list.n)
		return r;
	qsort(list.items, list.n, sizeof(*list.items), by_size);
	shown = MIN(list.n, (size_t)SHOWN_MAX);
	r = grid_init(&g, 1 + shown, columns_needed(rows));
	if (r >= 0)
		r = set_header(&g, rows);
	for (size_t i = 0; i < shown && r >= 0; i++)
		r = set_line(&g, 1 + i, rows, &list.items[i]);
	if (r < 0)
		return r;
	g.left[1] = g.left[2] = true;
	r = grid_render(&g, out);
	if (r < 0)
		return r;
	if (list.n > shown)
		(void)str_addf(out, "  (and %zu more that moved less)\n", list.n - shown);
	return out->failed ? -ENOMEM : 0;
}
