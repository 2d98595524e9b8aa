/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_REPORT_TABLE_H
#define MMB_REPORT_TABLE_H

/*
 * Rows of the document of an answer side by side, as plain text of at most REPORT_TABLE_COLUMNS columns.
 *
 * Any rows in any number: those of a finding, of `compare` or of `run`. Each has a letter; the first is what the others
 * are held against. Every number has its n and its spread. 0 or -ENOMEM.
 */
#include "lib/json.h"

/* What the table shows of each row, and what the words are about. */
struct report_column {
	const char *machine, *metric;
};
#define REPORT_COLUMNS_MAX 8
/* real, user, sys (of the timing machine, else of the exact one) and the driver; only those that some row has. */
size_t report_columns(const json_t *rows, const char *driver,
		      struct report_column ret[REPORT_COLUMNS_MAX]);

/* Table, why rows are empty, and below it the counters that moved. driver may be NULL. */
int report_table(const json_t *rows, const char *driver, struct str *out);
/* The two halves of it. The counters: nothing at all when none moved. */
int report_table_rows(const json_t *rows, const char *driver, struct str *out);
int report_table_counters(const json_t *rows, const char *driver, struct str *out);

#endif
