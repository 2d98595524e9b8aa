// What the makers of histories share (make-history.mjs, make-hard-history.mjs): random numbers of a seed, invented people, a git
// that takes commits as fast as they come, and an endless supply of ordinary commits. Everything follows from the seed.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import * as E from './edits.mjs';

export class Fatal extends Error {
	constructor(text, status = 1) {
		super(text);
		this.status = status;
	}
}

// ---- random numbers: splitmix64 seeds xoshiro256**

const M64 = (1n << 64n) - 1n;
const rotl = (x, k) => ((x << k) | (x >> (64n - k))) & M64;

export class Rng {
	constructor(seed) {
		let x = BigInt.asUintN(64, BigInt(seed));
		this.s = Array.from({ length: 4 }, () => {
			x = (x + 0x9e3779b97f4a7c15n) & M64;
			let z = x;
			z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & M64;
			z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & M64;
			return z ^ (z >> 31n);
		});
	}
	next() {
		const s = this.s, out = (rotl((s[1] * 5n) & M64, 7n) * 9n) & M64, t = (s[1] << 17n) & M64;
		s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3]; s[2] ^= t; s[3] = rotl(s[3], 45n);
		return out;
	}
	below(n) {                                        // 0 .. n-1, each as likely
		const m = BigInt(n), limit = (1n << 64n) - (1n << 64n) % m;
		for (;;) {
			const x = this.next();
			if (x < limit)
				return Number(x % m);
		}
	}
	between(low, high) {                              // both included
		return low + this.below(high - low + 1);
	}
	pick(list) {
		return list[this.below(list.length)];
	}
	chance(of) {
		return this.below(of) === 0;
	}
	shuffle(list) {
		const out = [...list];
		for (let i = out.length - 1; i > 0; i--) {
			const j = this.below(i + 1);
			[out[i], out[j]] = [out[j], out[i]];
		}
		return out;
	}
	hex(n) {
		return Array.from({ length: n }, () => this.below(16).toString(16)).join('');
	}
}

// ---- people (all invented)

export const PEOPLE = ['Mara Lindholt', 'Tobias Quenne', 'Priya Venkat', 'Owen Hartsough', 'Ines Caldera', 'Piotr Zalew', 'Hana Morikawa',
	'Samuel Okonjo', 'Greta Vossberg', 'Dmitri Halonen', 'Wei Langley', 'Noor Haddadi'].map(name => {
	const [first, last] = name.toLowerCase().split(' ');
	return { name, mail: `${first}.${last}@example.org` };
});
export const MAINTAINERS = [{ name: 'Edda Kjellson', mail: 'edda@maintainers.example.org' }, { name: 'Arno Petrides', mail: 'arno@maintainers.example.org' }];
// Three that mail and web must survive: UTF-8, ISO-8859-1 with the header that says so, the same bytes without it.
export const UTF8 = { name: 'Björn Åkesund', mail: 'bjorn.akesund@example.org', charset: 'utf8' };
export const LATIN1 = { name: 'José Muñel', mail: 'jose.munel@example.org', charset: 'latin1', header: 'ISO-8859-1' };
export const RAW = { name: 'René Fauchère', mail: 'rene.fauchere@example.org', charset: 'latin1' };
export const CULPRIT_AUTHOR = { name: 'Rikard Vanderlee', mail: 'rikard.vanderlee@example.org' };
export const FIX_AUTHOR = { name: 'Feng Yinwei', mail: 'feng.yinwei@example.org' };
export const ZONES = ['+0000', '+0100', '+0200', '+0530', '+0900', '-0500', '-0700'];

// ---- git

export function git(repo, args, input) {
	const r = spawnSync('git', ['-C', repo, ...args], { input, maxBuffer: 1 << 28 });
	if (r.error)
		throw new Fatal(`cannot run git: ${r.error.message}`);
	if (r.status !== 0)
		throw new Fatal(r.stderr.toString().trim() || `git ${args[0]} failed`, 2);
	return r.stdout;
}

// Contents of the files of a commit, as latin1 strings; files that are not there are left out.
export function readFiles(repo, commit, paths) {
	const out = git(repo, ['cat-file', '--batch'], paths.map(p => `${commit}:${p}\n`).join(''));
	const files = new Map();
	let at = 0;
	for (const path of paths) {
		const end = out.indexOf(10, at), head = out.toString('latin1', at, end);
		at = end + 1;
		if (head.endsWith(' missing'))
			continue;
		const size = Number(head.split(' ')[2]);
		files.set(path, out.toString('latin1', at, at + size));
		at += size + 1;
	}
	return files;
}

// `git fast-import`, asked for each commit's object id as soon as it is written.
export class Importer {
	constructor(repo, branch) {
		this.branch = branch;
		this.child = spawn('git', ['-C', repo, 'fast-import', '--quiet', '--force', '--done'], { stdio: ['pipe', 'pipe', 'inherit'] });
		this.lines = this.#read();
		this.mark = 0;
		this.marks = new Map();                       // object id -> mark: what is being written can only be named so
		this.child.stdin.on('error', () => {});       // its exit status tells
		this.exit = once(this.child, 'close');
	}
	#name(oid) {
		const mark = this.marks.get(oid);
		return mark ? `:${mark}` : oid;
	}
	async *#read() {
		let rest = '';
		for await (const chunk of this.child.stdout) {
			rest += chunk;
			for (let at; (at = rest.indexOf('\n')) >= 0; rest = rest.slice(at + 1))
				yield rest.slice(0, at);
		}
	}
	// c: {author, committer, when, authored, message, parents: [oid], changes: Map path -> content}
	async commit(c) {
		const mark = ++this.mark, charset = c.author.charset ?? 'utf8';
		const ident = (p, [seconds, zone]) => Buffer.from(`${p.name} <${p.mail}> ${seconds} ${zone}\n`, charset);
		const message = Buffer.from(c.message, charset);
		const parts = [`commit refs/heads/${this.branch}\nmark :${mark}\nauthor `, ident(c.author, c.authored), 'committer ',
			ident(c.committer, c.when), c.author.header ? `encoding ${c.author.header}\n` : '', `data ${message.length}\n`, message,
			`\nfrom ${this.#name(c.parents[0])}\n`, ...c.parents.slice(1).map(p => `merge ${this.#name(p)}\n`)];
		for (const [path, content] of c.changes)
			parts.push(`M 100644 inline ${path}\ndata ${content.length}\n`, Buffer.from(content, 'latin1'), '\n');
		parts.push(`\nget-mark :${mark}\n`);
		this.child.stdin.write(Buffer.concat(parts.map(p => Buffer.from(p))));
		const { value } = await this.lines.next();
		if (!value)
			throw new Fatal('git fast-import ended early');
		this.marks.set(value, mark);
		return value;
	}
	async finish(refs) {
		for (const [name, oid] of Object.entries(refs))
			this.child.stdin.write(`reset refs/heads/${name}\nfrom ${this.#name(oid)}\n\n`);
		this.child.stdin.end('done\n');
		const [status] = await this.exit;
		if (status !== 0)
			throw new Fatal('git fast-import failed');
	}
}

// ---- ordinary commits: an endless supply, no edit twice

export class Supply {
	constructor(rng, files) {
		this.rng = rng;
		this.compiled = rng.shuffle(E.COMPILED_EDITS.filter(e => files.has(e.file)));
		this.lists = Object.fromEntries(Object.entries({ docs: E.DOCUMENTS, arch: E.ARCH_FILES, driver: E.DRIVER_FILES, comment: E.COMPILED_FILES })
			.map(([kind, list]) => [kind, rng.shuffle(list.filter(([f]) => files.has(f)))]));
		this.kinds = [];
	}
	nextKind() {
		if (!this.kinds.length)                       // shares of a history; a new deck when it is used up
			this.kinds = this.rng.shuffle([...Array(7).fill('code'), ...Array(5).fill('docs'), ...Array(4).fill('driver'),
				...Array(4).fill('comment'), ...Array(3).fill('arch')]);
		return this.kinds.pop();
	}
	// {kind, file, content, subject, body} for a tree `files`, on a file that is not in `taken`.
	take(files, taken) {
		for (let tries = 0; tries < 200; tries++) {
			const kind = this.nextKind();
			const edit = kind === 'code' ? this.takeCode(files, taken) : this.takeAny(kind, files, taken);
			if (edit)
				return edit;
		}
		throw new Fatal('the base holds too few of the files that are edited', 2);
	}
	takeCode(files, taken) {
		for (const [i, e] of this.compiled.entries()) {
			const content = taken.has(e.file) ? null : e.apply(files.get(e.file));
			if (content === null)
				continue;
			this.compiled.splice(i, 1);
			return { kind: e.kind, file: e.file, content, subject: e.subject, body: e.body };
		}
		return null;
	}
	takeAny(kind, files, taken) {
		const list = this.lists[kind], rng = this.rng;
		for (let i = 0; i < list.length; i++) {
			const [file, prefix, limit] = list.shift();
			list.push([file, prefix, limit]);
			if (taken.has(file))
				continue;
			const name = file.slice(file.lastIndexOf('/') + 1), old = files.get(file);
			let content, subject, how = kind;
			if (kind === 'docs') {
				content = E.editDocument(old, rng);
				subject = `${prefix}: ${rng.pick(['add a remark to', 'complete', 'clarify', 'say more in'])} ${name}`;
			} else if (kind === 'driver' && rng.chance(2) && (content = E.editMessage(old, rng)) !== null) {
				subject = `${prefix}: ${rng.pick(['reword an error message', 'unify an error message'])}`;
			} else if (kind === 'comment' && rng.chance(3) && (content = E.editCommentLines(old, rng, limit)) !== null) {
				how = 'comment-lines';
				subject = `${prefix}: ${rng.pick(['add to a comment', 'complete a comment'])}`;
			} else {
				content = E.editComment(old, rng, limit);
				subject = `${prefix}: ${rng.pick(['reword a comment', 'fix the wording of a comment', 'plain words in a comment'])}`;
			}
			if (content !== null && content !== old)
				return { kind: how, file, content, subject, body: [rng.pick(['No functional change.', 'Found while reading the code.',
					'It confused me twice. Hopefully nobody else.', 'As said on the list.'])] };
		}
		return null;
	}
	// An edit with a version that does not compile, out of the supply.
	takeBroken(files) {
		const i = this.compiled.findIndex(e => e.broken && /^mm\/(mprotect|mlock|msync|vmalloc)\.c$/.test(e.file) &&
			e.broken.apply(files.get(e.file)) !== null);
		return i < 0 ? null : this.compiled.splice(i, 1)[0];
	}
}

// ---- the base, and a commit on it

// The base of a history: its id, the time of its commit and the files that edits touch, or an error that says what it lacks.
export function readBase(repo, baseRev) {
	const base = git(repo, ['rev-parse', '--verify', '--end-of-options', `${baseRev}^{commit}`]).toString().trim();
	const baseTime = Number(git(repo, ['show', '-s', '--format=%ct', base]).toString());
	const paths = [...new Set([E.CULPRIT.file, E.FIX.file, ...E.COMPILED_EDITS.map(e => e.file),
		...[E.DOCUMENTS, E.ARCH_FILES, E.DRIVER_FILES, E.COMPILED_FILES].flat().map(([f]) => f)])].sort();
	const baseFiles = readFiles(repo, base, paths);
	for (const [edit, what] of [[E.CULPRIT, 'get_unmapped_area() without alignment'], [E.FIX, 'deferred_split_huge_page() without early return']])
		if (!baseFiles.has(edit.file) || edit.apply(baseFiles.get(edit.file)) === null ||
				(edit === E.FIX && /page_deferred_list\(page\)\)\)\n\t\treturn;/.test(baseFiles.get(edit.file))))
			throw new Fatal(`${baseRev} does not hold what the history is built on: ${edit.file}, ${what}`, 2);
	return { base, baseTime, baseFiles };
}

// Writes commits: each changes one file of `files` (or what `changes` says) and is added to `log`.
export function commitWriter(rng, importer, log) {
	const messageId = when => `${new Date(when * 1000).toISOString().slice(0, 10).replaceAll('-', '')}${100000 + rng.below(900000)}.` +
		`${1000 + rng.below(9000)}-${1 + rng.below(5)}@example.org`;

	return async function write({ kind, subject, body, file, content, parents, files, when, author, trailers = [], changes, line }) {
		author ??= rng.pick(PEOPLE);
		const committer = rng.pick(MAINTAINERS), zone = rng.pick(ZONES);
		// Written days or weeks before it was applied; never in the same second.
		const authored = kind === 'merge' ? [when, zone] : [when - rng.between(2 * 3600, 40 * 86400), zone];
		if (kind === 'merge')
			author = committer;
		const lines = kind === 'merge' ? [] : [...trailers, ...(rng.chance(2) ? [`Link: https://lore.example.org/r/${messageId(authored[0])}`] : []),
			`Signed-off-by: ${author.name} <${author.mail}>`,
			...(rng.chance(3) ? [`Reviewed-by: ${(p => `${p.name} <${p.mail}>`)(rng.pick(PEOPLE.filter(p => p !== author)))}`] : []),
			`Signed-off-by: ${committer.name} <${committer.mail}>`];
		const message = [subject, ...body, ...(lines.length ? [lines.join('\n')] : [])].join('\n\n') + '\n';
		changes ??= new Map([[file, content]]);
		const oid = await importer.commit({ author, committer, when: [when, rng.pick(['+0000', '-0700'])], authored, message, parents, changes });
		for (const [path, text] of changes)
			files.set(path, text);
		log.push({ oid, subject, kind, line, file: file ?? null });
		return oid;
	};
}

// ---- command line

export function number(text, name, low, high, usage) {
	if (!/^\d{1,15}$/.test(text ?? '') || Number(text) < low || Number(text) > high)
		throw new Fatal(`--${name} wants a number from ${low} to ${high}\n${usage}`, 2);
	return Number(text);
}

// The options of a maker: --repo, --seed, --base and --json, and `more` of its own with their defaults.
export function readOptions(usage, more = {}) {
	const text = { type: 'string' };
	let values;
	try {
		({ values } = parseArgs({ options: { repo: text, seed: text, json: text, base: { ...text, default: 'refs/heads/base' },
			...Object.fromEntries(Object.entries(more).map(([name, value]) => [name, { ...text, default: value }])) } }));
	} catch (e) {
		throw new Fatal(`${e.message}\n${usage}`, 2);
	}
	if (!values.repo)
		throw new Fatal(usage, 2);
	return { ...values, seed: number(values.seed, 'seed', 0, 999999999999999, usage) };
}

// Runs a maker: what it returns is the JSON on stdout, or in the file of --json. Sets the exit status.
export async function runMaker(name, main) {
	try {
		const { json, history } = await main();
		const text = JSON.stringify(history, null, 1) + '\n';
		if (json)
			writeFileSync(json, text);
		else
			process.stdout.write(text);
	} catch (e) {
		process.stderr.write(`${name}: ${e instanceof Fatal ? e.message : e.stack}\n`);
		process.exitCode = e.status ?? 1;
	}
}
