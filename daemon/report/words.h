/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_REPORT_WORDS_H
#define MMB_REPORT_WORDS_H

/*
 * What two samples allow to say, in words: the direction is named, there are no signs, and where the samples show no
 * difference that is what is said. Writers of text return nothing: `out` remembers.
 */
#include "daemon/report/row.h"

/* "29.3 times as much", "12.5 % higher", "97.2 % lower", "the same", "up from none". */
void report_add_ratio(struct str *out, double before, double after);
/* "5 709 -> 166 997 ns/call" */
void report_add_step(struct str *out, double before, double after, const char *unit);

/*
 * One line without newline: "madvise_call: 5 709 -> 166 997 ns/call: 29.3 times as much, lower is better: worse
 * (exact, n=1 and 1)". Noisy classes have p of the rank test and the 95 % interval of the ratio. *ret (may be NULL) is the comparison. -EINVAL when the two cannot be compared: nothing is written.
 */
int report_words(const char *name, const struct report_metric *before, const struct report_metric *after,
		 struct str *out, struct judge_comparison *ret);

/*
 * Asks whether both sides did the same work, when the change or the work counters are too large to be taken for granted.
 * One sentence, or nothing. `driver` is a metric name; 0 or -ENOMEM.
 */
int report_work_remark(const json_t *before, const json_t *after, const char *driver, struct str *out);

#endif
