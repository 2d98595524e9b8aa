/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_REPORT_ROW_H
#define MMB_REPORT_ROW_H

/*
 * Reading a ROW and a METRIC of the document of an answer (docs/architecture.md), and asking the judge about two of them.
 *
 * Members may be missing or of the wrong type: the metric counts as not measured then.
 */
#include "daemon/judge/compare.h"
#include "lib/json.h"

/* Smallest relative change that is spoken of; `default` of [floor] in configs/workloads/. */
#define REPORT_FLOOR 0.005

struct report_metric {
	size_t n;
	double median, low, high;
	double *values; /* n of them, owned */
	const char *unit; /* borrowed from the row; never NULL */
	enum judge_class cls;
	enum judge_better better;
};
#define REPORT_METRIC_INIT ((struct report_metric){ .unit = "" })
#define _cleanup_metric_ _cleanup_(report_metric_done)
void report_metric_done(struct report_metric *m);

/* 1: measured, 0: not, or negative errno. machine is "exact" or "time". */
int report_metric_get(const json_t *row, const char *machine, const char *name, struct report_metric *ret);
/* As judge_compare() with the floor above; the unit and class must agree, else -EINVAL. */
int report_compare(const struct report_metric *before, const struct report_metric *after,
		   struct judge_comparison *ret);
const char *report_class_name(enum judge_class cls);

/* The row of that name, NULL when there is none; its number when ret_index is given. */
const json_t *report_row(const json_t *rows, const char *name, size_t *ret_index);
/* "A" for the first row, "B", ...; out holds at least 16 bytes. */
const char *report_letter(size_t index, char out[16]);

#endif
