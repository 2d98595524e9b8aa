#!/usr/bin/env node
// Writes the history of the demo tree: about 40 commits on top of a base (make-base.sh), one of which is the culprit, one does not
// compile, one is a merge. Everything follows from the seed: the same seed on the same base gives the same object ids everywhere.
//
//   make-history.mjs --repo DIR --seed N [--commits 40] [--base REV] [--json OUT] [--broken-span 1]
//
// Refs written (overwritten by the next seed; old objects stay): demo-good, the good tip, to be pushed first; demo-bad, the
// final tip; demo-fix, the fix on top of the culprit or of the final tip. JSON goes to stdout, or to OUT.
// Exit status: 0, 1 something failed, 2 usage or a base that does not hold what the edits need.

import * as E from './edits.mjs';
import { CULPRIT_AUTHOR, FIX_AUTHOR, Fatal, Importer, LATIN1, RAW, Rng, Supply, UTF8, commitWriter, number, readBase, readOptions, runMaker } from './history.mjs';

// ---- the plan: which position holds what. Positions count along the first parents, from 0.

function makePlan(rng, commits, span) {
	const side = rng.between(4, 8), n = commits - side;
	const merge = rng.between(Math.floor(n / 3), n - 4);
	const fork = rng.between(Math.max(0, merge - 10), merge - 2);
	// The culprit: every position but the first two, the last two and the merge, and every place in the side branch, is as likely.
	const slots = [];
	for (let p = 2; p <= n - 3; p++)
		if (p !== merge)
			slots.push({ main: p });
	for (let s = 0; s < side; s++)
		slots.push({ side: s });
	const culprit = rng.pick(slots);
	const at = culprit.main ?? merge;                 // where it enters the first-parent line
	const good = rng.between(1, Math.min(5, at - 1));
	const places = [];
	for (let b = good + 1; b + span <= n - 3; b++) {
		const hits = p => p >= b && p < b + span;     // does not compile
		const near = p => p >= b - 1 && p <= b + span;
		if (!near(at) && !near(merge) && !hits(fork))
			places.push(b);
	}
	return places.length ? { side, n, merge, fork, culprit, at, good, broken: rng.pick(places), span } : null;
}

// ---- the history

async function makeHistory({ repo, seed, commits, base: baseRev, span }) {
	const { base, baseTime, baseFiles } = readBase(repo, baseRev);
	const rng = new Rng(seed);
	let plan = null;
	for (let tries = 0; !plan && tries < 1000; tries++)
		plan = makePlan(rng, commits, span);
	if (!plan)
		throw new Fatal('too few commits for this span', 2);
	const supply = new Supply(rng, baseFiles);
	const brokenEdit = supply.takeBroken(baseFiles);
	if (!brokenEdit)
		throw new Fatal('no edit that breaks the build fits this base', 2);
	// Three positions of the first-parent line get the difficult names; ordinary commits only.
	const ordinary = Array.from({ length: plan.n }, (_, i) => i).filter(i => i !== plan.merge && i !== plan.culprit.main &&
		i !== plan.broken && i !== plan.broken + plan.span);
	const odd = new Map(rng.shuffle(ordinary).slice(0, 3).map((p, i) => [p, [UTF8, LATIN1, RAW][i]]));

	const importer = new Importer(repo, 'demo-bad'), log = [], out = {};

	const write = commitWriter(rng, importer, log);
	let when = baseTime;
	const step = () => (when += rng.between(1800, 9 * 3600));
	const main = [];                                  // object ids of the first-parent line
	const files = new Map(baseFiles);                 // what its tip holds
	const side = { files: null, changed: new Map(), log: [], tip: null, when: 0 };
	let fixable;                                      // content of the fix's file at the culprit
	// Nothing else touches the file of the broken edit before the repair: both contents follow from the base.
	const brokenText = brokenEdit.broken.apply(baseFiles.get(brokenEdit.file)), repairedText = brokenEdit.apply(baseFiles.get(brokenEdit.file));

	async function writeCulprit(common) {
		fixable = common.files.get(E.FIX.file);
		out.parent = common.parents[0];
		out.culprit = await write({ kind: 'culprit', subject: E.CULPRIT.subject, body: E.CULPRIT.body, file: E.CULPRIT.file,
			content: E.CULPRIT.apply(common.files.get(E.CULPRIT.file)), author: CULPRIT_AUTHOR, ...common });
		return out.culprit;
	}

	async function writeSide() {
		const taken = new Set([brokenEdit.file, E.CULPRIT.file]);
		side.files = new Map(files);
		side.tip = main[plan.fork];
		side.when = when;
		for (let i = 0; i < plan.side; i++) {
			const common = { parents: [side.tip], files: side.files, when: side.when += rng.between(900, 3 * 3600), line: 'side' };
			side.tip = plan.culprit.side === i ? await writeCulprit(common) : await write({ ...supply.take(side.files, taken), ...common });
			const { file } = log.at(-1);
			side.changed.set(file, side.files.get(file));
		}
		side.log = log.splice(log.length - plan.side);
	}

	async function writeMerge(common) {
		const name = rng.pick(['thp-tidy', 'mm-misc', 'for-next/cleanups', 'topic/comments']);
		common.when = when = Math.max(when, side.when + 3600);
		const body = [`* ${name}: (${plan.side} commits)`, ...side.log.map(c => `  ${c.subject}`).reverse()].join('\n');
		log.push(...side.log);
		out.merge = await write({ ...common, kind: 'merge', subject: `Merge branch '${name}'`, body: [body], changes: side.changed,
			parents: [common.parents[0], side.tip] });
		return out.merge;
	}

	async function writeRepair(common) {
		return await write({ kind: 'repair', subject: brokenEdit.broken.repairSubject, body: [brokenEdit.broken.repairBody], file: brokenEdit.file,
			content: repairedText, trailers: [`Fixes: ${out.unbuildable.slice(0, 12)} ("${brokenEdit.broken.subject}")`], ...common });
	}

	async function writeOrdinary(i, common) {
		// While the side branch is under way, each line keeps to its own files: the merge has no conflict.
		const taken = new Set(i > plan.fork && i < plan.merge ? side.changed.keys() : []);
		if (i < plan.broken + plan.span)
			taken.add(brokenEdit.file);
		return await write({ ...supply.take(files, taken), author: odd.get(i), ...common });
	}

	for (let i = 0; i < plan.n; i++) {
		const common = { parents: [main.at(-1) ?? base], files, when: step(), line: 'main' };
		if (i === plan.merge)
			main.push(await writeMerge(common));
		else if (i === plan.culprit.main)
			main.push(await writeCulprit(common));
		else if (i === plan.broken)
			main.push(out.unbuildable = await write({ kind: 'unbuildable', subject: brokenEdit.broken.subject, body: brokenEdit.broken.body,
				file: brokenEdit.file, content: brokenText, ...common }));
		else if (i === plan.broken + plan.span)
			main.push(await writeRepair(common));
		else
			main.push(await writeOrdinary(i, common));
		if (i === plan.fork)
			await writeSide();
	}

	const onTip = rng.chance(2), bad = main.at(-1), history = [...log];
	out.fix = await write({ kind: 'fix', subject: E.FIX.subject, body: E.FIX.body, file: E.FIX.file, author: FIX_AUTHOR, line: 'fix',
		content: E.FIX.apply(onTip ? files.get(E.FIX.file) : fixable), files: new Map(), when: step(),
		parents: [onTip ? bad : out.culprit], trailers: [`Fixes: ${out.culprit.slice(0, 12)} ("${E.CULPRIT.subject}")`] });
	const good = main[plan.good];
	await importer.finish({ 'demo-good': good, 'demo-bad': bad, 'demo-fix': out.fix });
	return {
		seed, base, good, bad, fix: out.fix, fix_branch: 'demo-fix', fix_parent: onTip ? bad : out.culprit, culprit: out.culprit, parent: out.parent,
		unbuildable: out.unbuildable, unbuildable_all: main.slice(plan.broken, plan.broken + plan.span), merge: out.merge,
		in_side_branch: plan.culprit.side !== undefined, first_parent_position: plan.at, first_parent_length: plan.n, commits: history,
	};
}

// ---- command line

const USAGE = 'usage: make-history.mjs --repo DIR --seed N [--commits 40] [--base REV] [--json OUT] [--broken-span 1]';

await runMaker('make-history', async () => {
	const o = readOptions(USAGE, { commits: '40', 'broken-span': '1' });
	const commits = number(o.commits, 'commits', 24, 90, USAGE), span = number(o['broken-span'], 'broken-span', 1, 3, USAGE);
	return { json: o.json, history: await makeHistory({ ...o, commits, span }) };
});
