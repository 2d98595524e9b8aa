// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/report/table.h"

#include "daemon/report/cell.h"
#include "daemon/report/grid.h"
#include "daemon/report/lines.h"

#define HEADER_LINES 3
#define NAME_COLUMNS 28
#define LABEL_COLUMNS 40
#define OID_COLUMNS 12

static bool any_row_has(const json_t *rows, const char *machine, const char *metric)
{
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *metrics = json_object_get(json_array_get(rows, i), "metrics");

		if (json_object_get(json_object_get(metrics, machine), metric))
			return true;
	}
	return false;
}

static bool is_listed(const struct report_column *columns, size_t n, const char *metric)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(columns[i].metric, metric))
			return true;
	return false;
}

size_t report_columns(const json_t *rows, const char *driver, struct report_column ret[REPORT_COLUMNS_MAX])
{
	static const char *const machines[] = { "time", "exact" };
	static const char *const clocks[] = { "real", "user", "sys" };
	static const char *const driver_machines[] = { "exact", "time" };
	size_t n = 0;

	for (size_t m = 0; m < ARRAY_SIZE(machines) && !n; m++)
		for (size_t i = 0; i < ARRAY_SIZE(clocks); i++)
			if (any_row_has(rows, machines[m], clocks[i]))
				ret[n++] = (struct report_column){ machines[m], clocks[i] };
	for (size_t m = 0; driver && m < ARRAY_SIZE(driver_machines); m++) {
		bool same_machine = n && str_eq(ret[0].machine, driver_machines[m]);

		if (any_row_has(rows, driver_machines[m], driver) &&
		    !(same_machine && is_listed(ret, n, driver))) {
			ret[n++] = (struct report_column){ driver_machines[m], driver };
			break;
		}
		if (same_machine && is_listed(ret, n, driver))
			break;
	}
	return n;
}

/* "A  7b5a0b662a10 parent of the culprit" */
static int set_label(struct grid *g, size_t header, const json_t *row, size_t index)
{
	_cleanup_str_ struct str text = STR_INIT;
	const char *oid = json_get_string(row, "commit"), *label = json_get_string(row, "label");
	char letter[16];

	(void)str_addf(&text, "%s  ", report_letter(index, letter));
	if (oid && *oid) {
		report_add_line(&text, str_is_oid(oid) ? "" : oid, OID_COLUMNS);
		if (str_is_oid(oid))
			(void)str_addf(&text, "%.12s", oid);
		(void)str_add(&text, "  ");
	}
	report_add_line(&text, label ? label : json_get_string(row, "subject"), LABEL_COLUMNS);
	return grid_set(g, header + index, 0, &text);
}

static int set_column(struct grid *g, const json_t *rows, const struct report_column *column, size_t at)
{
	_cleanup_cells_ struct cells cells = CELLS_INIT;
	_cleanup_str_ struct str name = STR_INIT, unit = STR_INIT, class = STR_INIT;
	int r = cells_read(rows, column->machine, column->metric, &cells);

	if (r < 0)
		return r;
	report_add_line(&name, column->metric, NAME_COLUMNS);
	report_add_line(&unit, cells.some ? cells.some->unit : "", NAME_COLUMNS);
	cells_add_class(&cells, &class);
	if (grid_set(g, 0, at, &name) < 0 || grid_set(g, 1, at, &unit) < 0 || grid_set(g, 2, at, &class) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < cells.n; i++) {
		_cleanup_str_ struct str text = STR_INIT;

		cells_add(&cells, i, &text);
		r = grid_set(g, HEADER_LINES + i, at, &text);
		if (r < 0)
			return r;
	}
	return 0;
}

/* What kept rows from being measured. */
static int add_notes(const json_t *rows, struct str *out)
{
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		const char *status = json_get_string(row, "status"), *note = json_get_string(row, "note");
		_cleanup_str_ struct str text = STR_INIT;
		char letter[16];

		if ((!status || str_eq(status, "ok")) && !note)
			continue;
		(void)str_addf(&text, "%s: ", report_letter(i, letter));
		if (status && !str_eq(status, "ok") && !str_eq(status, "none")) {
			report_add_line(&text, status, NAME_COLUMNS);
			(void)str_add(&text, note ? ": " : "");
		}
		report_add_line(&text, note ? note : str_eq(status, "none") ? "not known" : "", 300);
		if (text.failed)
			return -ENOMEM;
		report_add_wrapped(out, "  ", "     ", text.data);
	}
	return 0;
}

int report_table_rows(const json_t *rows, const char *driver, struct str *out)
{
	_cleanup_grid_ struct grid g = GRID_INIT;
	struct report_column columns[REPORT_COLUMNS_MAX];
	size_t n = report_columns(rows, driver, columns);
	const size_t header = n ? HEADER_LINES : 0;
	int r;

	if (!json_array_size(rows))
		return 0;
	r = grid_init(&g, header + json_array_size(rows), 1 + n);
	for (size_t i = 0; r >= 0 && i < json_array_size(rows); i++)
		r = set_label(&g, header, json_array_get(rows, i), i);
	for (size_t c = 0; r >= 0 && c < n; c++)
		r = set_column(&g, rows, &columns[c], 1 + c);
	if (r >= 0)
		r = grid_render(&g, out);
	if (r >= 0)
		r = add_notes(rows, out);
	if (r < 0)
		return r;
	if (n)
		(void)str_add(out, "  (median +- half of highest - lowest; exact: the same in every run)\n");
	return out->failed ? -ENOMEM : 0;
}

int report_table(const json_t *rows, const char *driver, struct str *out)
{
	_cleanup_str_ struct str counters = STR_INIT;
	int r = report_table_rows(rows, driver, out);

	if (r >= 0)
		r = report_table_counters(rows, driver, &counters);
	if (r < 0)
		return r;
	if (counters.len)
		(void)str_addf(out, "\n%s", counters.data);
	return out->failed ? -ENOMEM : 0;
}
