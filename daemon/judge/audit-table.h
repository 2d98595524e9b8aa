/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Written by: mmbisect simulate --power --json --seed 1 --trials 6 | tests/tools/make-audit.mjs --trials 6
 * To be written again when the judge's search changes; test-audit.c says when it does not hold any more.
 */
#ifndef MMB_JUDGE_AUDIT_TABLE_H
#define MMB_JUDGE_AUDIT_TABLE_H

/* effect, trials, right, wrong, no answer */
const struct judge_audit judge_audits[] = {
	{0.25, 3, 1, 0, 2},
	{0.35, 3, 3, 0, 0},
	{0.5, 3, 3, 0, 0},
	{0.7, 3, 3, 0, 0},
	{1, 6, 6, 0, 0},
	{1.4, 6, 6, 0, 0},
	{2, 6, 6, 0, 0},
	{2.8, 6, 6, 0, 0},
	{4, 6, 6, 0, 0},
	{5.6, 6, 6, 0, 0},
};
const unsigned judge_audit_seed = 1;

#endif
