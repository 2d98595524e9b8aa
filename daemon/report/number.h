/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_REPORT_NUMBER_H
#define MMB_REPORT_NUMBER_H

/* Numbers as a person reads them: "5 709", "1.10", "0.021"; a point whatever the locale, blanks between thousands. */
#include "lib/str.h"

/* How many decimals show about three significant digits of v; 0 for whole numbers. */
int report_decimals(double v);
void report_add_number(struct str *out, double v, int decimals);
/* With as many decimals as it needs. */
void report_add_value(struct str *out, double v);

#endif
