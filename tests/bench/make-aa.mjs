#!/usr/bin/env node
// Writes commits that change nothing that can be measured: most add a function that nobody calls to a file that every small config
// compiles, so each has an image of its own; every fifth edits a document only, so its image is the one before.
//
//   make-aa.mjs --repo DIR --count N [--base REV] [--seed N]
//
// Prints the commits, oldest first, one a line: "OID code" or "OID none". The ref aa keeps them. Same seed, same ids.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import * as E from '../demo/edits.mjs';

const { values: arg } = parseArgs({ options: {
	repo: { type: 'string' }, count: { type: 'string' }, base: { type: 'string', default: 'base' }, seed: { type: 'string', default: '1' },
} });
const index = `${arg.repo}/aa.index`;
const env = { ...process.env, GIT_INDEX_FILE: index };

function git(args, input, extra = {}) {
	const p = spawnSync('git', ['--git-dir', arg.repo, ...args], { input, env: { ...env, ...extra }, maxBuffer: 1 << 26 });
	if (p.status !== 0)
		throw new Error(`git ${args[0]}: ${p.stderr}`);
	return p.stdout;
}
const word = (...args) => git(...args).toString().trim();

function commit(parent, file, content, subject, n) {
	const blob = word(['hash-object', '-w', '--stdin'], Buffer.from(content, 'latin1'));
	git(['update-index', '--index-info'], `100644 ${blob}\t${file}\n`);
	const date = `${1700000000 + 3600 * n} +0000`;
	const who = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@example.org', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.org',
		GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
	return word(['commit-tree', word(['write-tree']), '-p', parent], `${subject}\n`, who);
}

const read = (parent, file) => git(['cat-file', 'blob', `${parent}:${file}`]).toString('latin1');
const has = (parent, file) => spawnSync('git', ['--git-dir', arg.repo, 'cat-file', '-e', `${parent}:${file}`]).status === 0;

const seed = Number(arg.seed);
let parent = word(['rev-parse', '--verify', `${arg.base}^{commit}`]);
git(['read-tree', parent]);
const code = E.COMPILED_FILES.map(([f]) => f).filter((f) => has(parent, f));
const docs = E.DOCUMENTS.map(([f]) => f).filter((f) => has(parent, f));
if (!code.length || !docs.length)
	throw new Error(`${arg.base} holds none of the files that are edited`);
for (let i = 0; i < Number(arg.count); i++) {
	const quiet = i % 5 === 4, list = quiet ? docs : code;
	const file = list[(i + seed * 7) % list.length];
	const old = read(parent, file);
	const content = quiet ? `${old}\nSee also the log of this file (${seed}.${i}).\n` : E.addFunction(old, `aa_unused_${seed}_${i}`, i + 1);
	parent = commit(parent, file, content, `${file}: a change that changes nothing (${i})`, i);
	console.log(`${parent} ${quiet ? 'none' : 'code'}`);
}
git(['update-ref', 'refs/heads/aa', parent]);
