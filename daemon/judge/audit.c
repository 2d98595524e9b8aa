/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/audit.h"

#include <math.h>

#include "daemon/judge/audit-table.h"

#define CONFIDENCE 0.95

const size_t n_judge_audits = sizeof(judge_audits) / sizeof(judge_audits[0]);

const struct judge_audit *judge_audit_at(double effect)
{
	const struct judge_audit *found = NULL;

	for (size_t i = 0; i < n_judge_audits; i++)
		if (judge_audits[i].effect <= effect &&
		    (!found || judge_audits[i].effect > found->effect))
			found = &judge_audits[i];
	return found;
}

/* P(at most `count` of `trials`) at probability p, summed in logarithms. */
static double at_most(unsigned count, unsigned trials, double p)
{
	double ln = trials * log1p(-p), sum = 0;

	for (unsigned k = 0; k <= count; k++) {
		sum += exp(ln);
		ln += log((double)(trials - k) / (k + 1)) + log(p) - log1p(-p);
	}
	return sum;
}

double judge_upper_bound(unsigned count, unsigned trials)
{
	double low = 0, high = 1;

	if (count >= trials)
		return 1;
	for (int i = 0; i < 60; i++) {
		double p = (low + high) / 2;

		if (at_most(count, trials, p) > 1 - CONFIDENCE)
			low = p;
		else
			high = p;
	}
	return high;
}
