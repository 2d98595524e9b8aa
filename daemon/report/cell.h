/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_REPORT_CELL_H
#define MMB_REPORT_CELL_H

/* One metric of some rows as cells that fit below or beside each other: same decimals, n said once where it is the same. */
#include "daemon/report/row.h"

/* The metrics of all rows; those that were not measured have n == 0. */
struct cells {
	struct report_metric *items;
	size_t n;
	int decimals;
	size_t common_n; /* runs of each measured row, 0: they differ */
	const struct report_metric *some; /* the first measured one, NULL: none */
};
#define CELLS_INIT ((struct cells){ 0 })
#define _cleanup_cells_ _cleanup_(cells_done)

int cells_read(const json_t *rows, const char *machine, const char *metric, struct cells *ret);
void cells_done(struct cells *c);
/* "1.10 +-0.06", "5 709", "4.80 +-0.30 (n=3)"; "-" when not measured. */
void cells_add(const struct cells *c, size_t row, struct str *out);
/* "time, n=5" or "exact, n=1"; only the class when n differs. */
void cells_add_class(const struct cells *c, struct str *out);

#endif
