// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/report/grid.h"

#include "daemon/report/lines.h"

#define GAP 2
#define FIRST_COLUMNS_MAX 46

int grid_init(struct grid *g, size_t n_rows, size_t n_columns)
{
	*g = (struct grid){ .n_rows = n_rows, .n_columns = n_columns };
	g->cells = calloc(n_rows * n_columns, sizeof(*g->cells));
	g->left = calloc(n_columns, sizeof(*g->left));
	return g->cells && g->left ? 0 : -ENOMEM;
}

void grid_done(struct grid *g)
{
	for (size_t i = 0; g->cells && i < g->n_rows * g->n_columns; i++)
		free(g->cells[i]);
	free(g->cells);
	free(g->left);
	*g = GRID_INIT;
}

int grid_set(struct grid *g, size_t row, size_t column, struct str *text)
{
	char **cell = &g->cells[row * g->n_columns + column];

	free(*cell);
	*cell = str_take(text);
	return *cell ? 0 : -ENOMEM;
}

int grid_set_text(struct grid *g, size_t row, size_t column, const char *text)
{
	return str_set(&g->cells[row * g->n_columns + column], text);
}

static const char *cell_at(const struct grid *g, size_t row, size_t column)
{
	const char *cell = g->cells[row * g->n_columns + column];

	return cell ? cell : "";
}

static size_t column_width(const struct grid *g, size_t column)
{
	size_t max = 0;

	for (size_t row = 0; row < g->n_rows; row++)
		max = MAX(max, report_width(cell_at(g, row, column)));
	return max;
}

static void add_blanks(struct str *out, size_t n)
{
	while (n--)
		(void)str_add(out, " ");
}

static void add_cell(const char *text, size_t width, bool left, struct str *out)
{
	size_t used = MIN(report_width(text), width);

	if (!left)
		add_blanks(out, width - used);
	report_add_clipped(out, text, width);
	if (left)
		add_blanks(out, width - used);
}

/* Lines end where their text does. */
static void end_line(struct str *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	(void)str_add(out, "\n");
}

static void render_block(const struct grid *g, size_t first_width, size_t from, size_t to, struct str *out)
{
	for (size_t row = 0; row < g->n_rows; row++) {
		add_blanks(out, GAP);
		add_cell(cell_at(g, row, 0), first_width, true, out);
		for (size_t c = from; c < to; c++) {
			add_blanks(out, GAP);
			add_cell(cell_at(g, row, c), column_width(g, c), g->left[c], out);
		}
		end_line(out);
	}
}

int grid_render(const struct grid *g, struct str *out)
{
	size_t first = MIN(column_width(g, 0), (size_t)FIRST_COLUMNS_MAX);
	size_t from = 1;

	do {
		size_t to = from, used = GAP + first;

		while (to < g->n_columns) {
			size_t more = GAP + column_width(g, to);

			if (to > from && used + more > REPORT_TABLE_COLUMNS)
				break;
			used += more;
			to++;
		}
		if (from > 1)
			(void)str_add(out, "\n");
		render_block(g, first, from, to, out);
		from = to;
	} while (from < g->n_columns);
	return out->failed ? -ENOMEM : 0;
}
