#!/usr/bin/env node
// Writes the hard history: a short range in which more than one commit moves madvise_call of thread-stack. On a base with FIX (the
// ground everything stands on) come, in this order but with neutral commits anywhere between them:
//
//   hole      a rename that does not compile
//   culprit   CULPRIT, right on top of it; takes the forgotten line along, so that it compiles again
//   second    FIX taken out again: every part of a huge page takes the lock, which only shows above the culprit
//   revert    the revert of `second`, as `git revert` writes it
//
// and, anywhere, an octopus merge of two or three neutral branches, which may have forked before any of them. Where, how many and
// which is up to the seed.
//
//   make-hard-history.mjs --repo DIR --seed N [--base REV] [--json OUT]
//
// Refs written: hard-good, hard-bad. Exit status as make-history.mjs.

import * as E from './edits.mjs';
import { CULPRIT_AUTHOR, FIX_AUTHOR, Fatal, Importer, Rng, Supply, commitWriter, readBase, readOptions, runMaker } from './history.mjs';

const SECOND = {
	subject: 'mm/thp: look at the deferred queue under its lock only',
	body: ['The look without the lock races with deferred_split_scan(). It is harmless, but\n' +
		'nobody can be sure of that for long. Take the lock first, as everybody else does.'],
};
const SPECIAL = [E.CULPRIT.file, E.FIX.file];

// What the first-parent line holds, oldest first.
function makePlan(rng) {
	const line = ['hole', 'second', 'revert'];
	const insert = (what, from = 0) => line.splice(rng.between(from, line.length), 0, what);

	for (let n = rng.between(7, 10); n > 0; n--)
		insert('neutral');
	insert('octopus', 1);
	line.splice(line.indexOf('hole') + 1, 0, 'culprit');
	// What a search is between must not be an end of it.
	return ['ground', 'neutral', ...line, 'neutral'];
}

class Hard {
	constructor(rng, importer, base, brokenEdit) {
		Object.assign(this, { rng, base, brokenEdit, log: [], out: {}, main: [], branches: [] });
		this.write = commitWriter(rng, importer, this.log);
		this.files = new Map(base.baseFiles);
		this.when = base.baseTime;
		this.special = new Set([...SPECIAL, brokenEdit.file]);
		this.supply = new Supply(rng, base.baseFiles);
		this.supply.compiled = this.supply.compiled.filter(e => e.file !== brokenEdit.file);
	}
	step() {
		return this.when += this.rng.between(1800, 9 * 3600);
	}
	common() {
		return { parents: [this.main.at(-1)?.oid ?? this.base.base], files: this.files, when: this.step(), line: 'main' };
	}
	edited(edit, more = []) {
		return new Map([[edit.file, edit.apply(this.files.get(edit.file))], ...more]);
	}
	ground() {
		return this.write({ ...this.common(), kind: 'ground', subject: E.FIX.subject, body: E.FIX.body, author: FIX_AUTHOR, file: E.FIX.file,
			changes: this.edited(E.FIX) });
	}
	neutral() {
		return this.write({ ...this.supply.take(this.files, this.special), ...this.common() });
	}
	hole() {
		const e = this.brokenEdit;
		this.repaired = e.apply(this.files.get(e.file));
		return this.write({ ...this.common(), kind: 'hole', subject: e.broken.subject, body: e.broken.body, file: e.file,
			content: e.broken.apply(this.files.get(e.file)) });
	}
	culprit() {
		const also = 'While at it, take along the use of a variable that a rename has forgotten:\nthe build is broken without.';
		return this.write({ ...this.common(), kind: 'culprit', subject: E.CULPRIT.subject, body: [...E.CULPRIT.body, also], file: E.CULPRIT.file,
			author: CULPRIT_AUTHOR, changes: this.edited(E.CULPRIT, [[this.brokenEdit.file, this.repaired]]) });
	}
	second() {
		this.with = this.files.get(E.FIX.file);
		return this.write({ ...this.common(), ...SECOND, kind: 'second', file: E.FIX.file, content: this.base.baseFiles.get(E.FIX.file) });
	}
	revert() {
		return this.write({ ...this.common(), kind: 'revert', subject: `Revert "${SECOND.subject}"`, body: [`This reverts commit ${this.out.second}.`],
			file: E.FIX.file, content: this.with });
	}
	// A branch off an earlier commit of the line; it keeps to files that nobody else has touched since.
	async branch(fork, taken, changes) {
		const files = new Map(fork.files);
		let tip = fork.oid, when = fork.when;
		for (let n = this.rng.between(1, 2); n > 0; n--) {
			const edit = this.supply.take(files, taken);
			tip = await this.write({ ...edit, parents: [tip], files, when: when += this.rng.between(600, 3600), line: 'side' });
			changes.set(edit.file, files.get(edit.file));
		}
		for (const file of changes.keys())
			taken.add(file);
		this.when = Math.max(this.when, when);
		return tip;
	}
	async octopus() {
		const changes = new Map(), taken = new Set(this.special), tips = [];
		const from = this.rng.between(Math.max(1, this.main.length - 6), this.main.length - 1);
		for (const c of this.main.slice(from + 1))
			taken.add(this.log.find(l => l.oid === c.oid).file);
		for (let n = this.rng.between(2, 3); n > 0; n--)
			tips.push(await this.branch(this.main[from], taken, changes));
		const names = this.rng.shuffle(['comments', 'docs', 'drivers', 'messages']).slice(0, tips.length).map(n => `'topic/${n}'`);
		const common = this.common();
		return this.write({ ...common, kind: 'merge', subject: `Merge branches ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`, body: [],
			changes, parents: [...common.parents, ...tips] });
	}
	async make(plan) {
		for (const what of plan) {
			const oid = await this[what]();
			this.main.push({ oid, files: new Map(this.files), when: this.when });
			this.out[what] = oid;
		}
	}
}

async function makeHardHistory({ repo, seed, base: baseRev }) {
	const base = readBase(repo, baseRev), rng = new Rng(seed), plan = makePlan(rng);
	const brokenEdit = new Supply(rng, base.baseFiles).takeBroken(base.baseFiles);
	if (!brokenEdit)
		throw new Fatal('no edit that breaks the build fits this base', 2);
	const importer = new Importer(repo, 'hard-bad'), hard = new Hard(rng, importer, base, brokenEdit);
	await hard.make(plan);
	const { hole, culprit, second, revert, octopus } = hard.out, good = hard.main[1].oid, bad = hard.main.at(-1).oid;
	await importer.finish({ 'hard-good': good, 'hard-bad': bad });
	return { seed, base: base.base, good, bad, hole, culprit, second, revert, octopus, commits: hard.log };
}

await runMaker('make-hard-history', async () => {
	const o = readOptions('usage: make-hard-history.mjs --repo DIR --seed N [--base REV] [--json OUT]');
	return { json: o.json, history: await makeHardHistory(o) };
});
