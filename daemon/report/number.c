// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/report/number.h"

#include <math.h>

#define DECIMALS_MAX 6
#define PLAIN_MAX 1e15 /* above it digits say nothing */

int report_decimals(double v)
{
	double size = fabs(v);

	if (!isfinite(v) || size >= 1000 || fpclassify(v - nearbyint(v)) == FP_ZERO)
		return 0;
	if (size >= 1)
		return size >= 100 ? 1 : 2;
	return MIN(DECIMALS_MAX, 2 - (int)floor(log10(size)));
}

static void add_grouped(struct str *out, const char *digits, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			(void)str_add(out, " ");
		(void)str_add_mem(out, digits + i, 1);
	}
}

void report_add_number(struct str *out, double v, int decimals)
{
	char text[64];
	const char *p = text;
	size_t whole;

	if (!isfinite(v)) {
		(void)str_add(out, isnan(v) ? "?" : v > 0 ? "infinite" : "-infinite");
		return;
	}
	if (fabs(v) >= PLAIN_MAX) {
		(void)str_addf(out, "%.3e", v);
		return;
	}
	(void)snprintf(text, sizeof(text), "%.*f", decimals, v);
	if (*p == '-') {
		if (strspn(p + 1, "0.,") != strlen(p + 1)) /* not "-0.00" */
			(void)str_add(out, "-");
		p++;
	}
	whole = strspn(p, "0123456789");
	add_grouped(out, p, whole);
	if (p[whole])
		(void)str_addf(out, ".%s", p + strlen(p) - (size_t)decimals);
}

void report_add_value(struct str *out, double v)
{
	report_add_number(out, v, report_decimals(v));
}
