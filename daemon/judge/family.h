/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All comparisons of one tip together (workloads x metrics x arches): which changes are to be
 * believed?
 *
 * At one percent each, every second tip of a family of sixty would raise an alarm. Benjamini and
 * Hochberg 1995 keep the expected share of false ones among those that are believed (the FDR) at
 * `rate`; a tip without any change then raises an alarm with that probability.
 * Metrics of the same boots depend on each other, with either sign. For a p that is 1 / e of a test
 * martingale (exp(-ln_evidence) of sequential.h) that does not matter (Wang and Ramdas 2022, e-BH).
 * For other p (rank tests) the sure way is Benjamini and Yekutieli 2001: rate / (1 + 1/2 + ... +
 * 1/m), which costs a factor of 4.7 at sixty.
 *
 * The practical minimum works before, not after: a change below it gets p 1, which keeps p
 * valid. Dropping small changes from what was believed would keep the false ones, whose
 * estimates are noise, and spoil the share. Exact metrics are no family: above their floor they
 * count, and they must not make room for noisy ones.
 *
 * Reached (test-family.c, 60 members, rate 0.05, 400 families, correlation 0, 0.8 and -0.8): FDR 1
 * to 2.2 %, a false alarm of 1 to 1.8 % of tips without a change; one test each at 5 %: 36 to 95 %.
 *
 * Pure. -EINVAL: a number out of range; -ENOMEM.
 */
#ifndef MMB_JUDGE_FAMILY_H
#define MMB_JUDGE_FAMILY_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/judge/compare.h"

struct judge_member {
	enum judge_class cls;
	double p;	/* of no change; noisy only; NAN: not known, as 1 */
	double worse;	/* relative change, > 0 for the worse, < 0 for the better */
	double minimum; /* practical minimum, or floor of an exact metric, >= 0 */
};

struct judge_member_result {
	bool counts;
	double q; /* least rate at which it would count: 0 or 1 if exact */
};

enum judge_dependence { JUDGE_ANY_E, JUDGE_ANY_P /* not of martingales: costs more */ };

struct judge_family {
	size_t n_worse, n_improved; /* that count */
	/*
	 * Two-sided sign test over all noisy changes, counted or not. Near 0 in a large family it
	 * is rather the host, the toolchain or the baseline than the patch. A hint: it takes the
	 * members for independent.
	 */
	double one_sided;
};

/* rate: 0 is 0.05. ret_members has n entries. n may be 0. */
int judge_family(const struct judge_member *members, size_t n, enum judge_dependence dependence,
		 double rate, struct judge_member_result *ret_members, struct judge_family *ret);

#endif
