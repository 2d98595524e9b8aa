/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_REPORT_GRID_H
#define MMB_REPORT_GRID_H

/*
 * Cells of text laid out in columns of fixed width.
 *
 * The first column stands left and is repeated where the others do not fit beside each other in REPORT_TABLE_COLUMNS;
 * nothing is left out. The other columns stand right, except those marked left. Cells hold clean text and are owned.
 */
#include "lib/cleanup.h"
#include "lib/str.h"

struct grid {
	size_t n_rows, n_columns;
	char **cells; /* n_rows * n_columns, NULL is empty */
	bool *left;
};
#define GRID_INIT ((struct grid){ 0 })
#define _cleanup_grid_ _cleanup_(grid_done)

int grid_init(struct grid *g, size_t n_rows, size_t n_columns);
void grid_done(struct grid *g);
/* Takes the content of `text`, which is empty afterwards. */
int grid_set(struct grid *g, size_t row, size_t column, struct str *text);
int grid_set_text(struct grid *g, size_t row, size_t column, const char *text);
int grid_render(const struct grid *g, struct str *out);

#endif
