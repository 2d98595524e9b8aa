/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often the noisy search is right, wrong or without an answer at a size of change: counts of simulated searches of 1000
 * commits (audit-table.h, written by tests/tools/make-audit.mjs from `mmbisect simulate --power --json`).
 *
 * What was never seen wrong is not for that never wrong: what is to be said is the bound that judge_upper_bound() gives. The world of
 * the simulation is not the host that measured: see docs/architecture.md, "The simulation".
 *
 * Pure.
 */
#ifndef MMB_JUDGE_AUDIT_H
#define MMB_JUDGE_AUDIT_H

#include <stddef.h>

struct judge_audit {
	double effect; /* standard deviations of one run */
	unsigned trials, right, wrong, no_answer;
};

extern const struct judge_audit judge_audits[];
extern const size_t n_judge_audits;
extern const unsigned judge_audit_seed;

/* The row of the largest effect that is not above this one, which is the harder one; NULL: it is smaller than all of them. */
const struct judge_audit *judge_audit_at(double effect);

/* The share that, with 95 % confidence, is not exceeded when `count` of `trials` were seen (Clopper and Pearson 1934, one-sided). */
double judge_upper_bound(unsigned count, unsigned trials);

#endif
