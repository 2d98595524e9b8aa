#!/usr/bin/env node
// Writes daemon/judge/audit-table.h, what reports say of the judge's record, from the document of
//   mmbisect simulate --power --json --seed N [--trials N] | tests/tools/make-audit.mjs [OPTIONS as given] >daemon/judge/audit-table.h
import { readFileSync } from 'node:fs';

const d = JSON.parse(readFileSync(0));
if (d.shows !== 'power' || d.method !== 'judge')
	throw new Error('this is not the power curve of the judge');
const count = (row, name) => Math.round(row[name] * row.trials / 100);
const rows = d.rows.map((r) => {
	const right = count(r, 'right'), wrong = count(r, 'wrong');
	return `\t{${r.effect}, ${r.trials}, ${right}, ${wrong}, ${r.trials - right - wrong}},`;
});
console.log(`/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Written by: mmbisect simulate --power --json --seed ${d.seed}${process.argv.slice(2).map((a) => ` ${a}`).join('')} | tests/tools/make-audit.mjs${process.argv.slice(2).map((a) => ` ${a}`).join('')}
 * To be written again when the judge's search changes; test-audit.c says when it does not hold any more.
 */
#ifndef MMB_JUDGE_AUDIT_TABLE_H
#define MMB_JUDGE_AUDIT_TABLE_H

/* effect, trials, right, wrong, no answer */
const struct judge_audit judge_audits[] = {
${rows.join('\n')}
};
const unsigned judge_audit_seed = ${d.seed};

#endif`);
