// Reads a source tarball (tar, not compressed) on stdin and writes a `git fast-import` stream on stdout: one commit with every file
// of the tarball (its single top folder taken off), and, where FILE holds the text TEXT, a second commit without it.
//
//   xz -dc linux-source-X.tar.xz | node tar-to-fast-import.mjs --counts OUT | git fast-import
//
// OUT gets {"files":N,"symlinks":N,"version":"6.1.192","edited":true}: what the caller compares the commit with. No working tree is
// made and git's ignore rules are never asked (Debian's tarball brings a .gitignore that ignores everything).
// An entry that git cannot hold (device, hard link, a path that leaves the tree) ends the program with status 1.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';

const WHO = 'Demo Importer <demo@example.org>';
const DATE = 1672531200;                                  // 2023-01-01 00:00:00 UTC
const REF = 'refs/heads/base';
const EDIT_FILE = 'mm/huge_memory.c';
// 6.1's early return in deferred_split_huge_page(): the fix of f35b5d7d. Taken out, so that the demo can put it back.
const EDIT_TEXT = '\tif (!list_empty(page_deferred_list(page)))\n\t\treturn;\n\n' +
	'\tspin_lock_irqsave(&ds_queue->split_queue_lock, flags);\n\tif (list_empty(page_deferred_list(page))) {\n';
const EDIT_NEW = EDIT_TEXT.slice(EDIT_TEXT.indexOf('\tspin_lock'));
const EDIT_MESSAGE = 'base: take the early return out of deferred_split\n\n' +
	'deferred_split_huge_page() takes split_queue_lock again, even for a page\nthat is on the deferred queue already.\n';

function die(text) {
	process.stderr.write(`tar-to-fast-import: ${text}\n`);
	process.exit(1);
}

// ---- output: gathered into chunks of about 1 MiB, with back-pressure

let pending = [], pendingBytes = 0;

async function flush() {
	if (!pendingBytes)
		return;
	const chunk = Buffer.concat(pending, pendingBytes);
	pending = [];
	pendingBytes = 0;
	if (!process.stdout.write(chunk))
		await once(process.stdout, 'drain');
}

function emit(data) {
	const b = typeof data === 'string' ? Buffer.from(data) : data;
	pending.push(b);
	pendingBytes += b.length;
}

// ---- input: exact reads from a stream of chunks

const input = process.stdin[Symbol.asyncIterator]();
let have = [], haveBytes = 0;

async function fill(n) {
	while (haveBytes < n) {
		const { value, done } = await input.next();
		if (done)
			return false;
		have.push(value);
		haveBytes += value.length;
	}
	return true;
}

async function read(n) {
	if (n === 0)
		return Buffer.alloc(0);
	if (!await fill(n))
		return null;
	if (have[0].length >= n) {                        // the common case: no copy
		const b = have[0].subarray(0, n);
		if (have[0].length === n)
			have.shift();
		else
			have[0] = have[0].subarray(n);
		haveBytes -= n;
		return b;
	}
	const all = Buffer.concat(have, haveBytes);
	have = all.length > n ? [all.subarray(n)] : [];
	haveBytes -= n;
	return all.subarray(0, n);
}

// ---- tar

function text(b, from, len) {
	const end = b.indexOf(0, from);
	return b.toString('latin1', from, end >= 0 && end < from + len ? end : from + len);
}

function octal(b, from, len) {
	if (b[from] & 0x80)                               // GNU base-256
		return Number(BigInt('0x' + b.toString('hex', from + 1, from + len)));
	const s = text(b, from, len).trim();
	return s ? parseInt(s, 8) : 0;
}

function paxRecords(b) {
	const out = {};
	for (let at = 0; at < b.length;) {
		const space = b.indexOf(0x20, at);
		const len = parseInt(b.toString('latin1', at, space), 10);
		if (!(len > 0))
			die('broken pax header');
		const record = b.toString('latin1', space + 1, at + len - 1);
		const eq = record.indexOf('=');
		out[record.slice(0, eq)] = record.slice(eq + 1);
		at += len;
	}
	return out;
}

// Paths are kept as latin1 strings: one character a byte.
function quotePath(path) {
	if (!/^"|[\n\\]/.test(path))
		return Buffer.from(path, 'latin1');
	return Buffer.from('"' + path.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n') + '"', 'latin1');
}

function cleanPath(path) {
	const parts = path.split('/').filter(p => p !== '' && p !== '.');
	if (parts.some(p => p === '..' || p.toLowerCase() === '.git'))
		die(`path that git cannot hold: ${path}`);
	return parts.slice(1).join('/');
}

async function main() {
	const arg = process.argv.indexOf('--counts');
	const countsFile = arg > 0 ? process.argv[arg + 1] : die('--counts OUT is missing');
	const counts = { files: 0, symlinks: 0, version: null, edited: false };
	let makefile = '', editable = null, top = null, next = {}, zeroBlocks = 0;

	emit('feature done\n');
	const tree = [];                                  // "M mode :mark path\n" lines; marks count from 1
	let mark = 0;

	for (;;) {
		const h = await read(512);
		if (!h)
			die('the tarball ends in the middle');
		if (h.every(x => x === 0)) {
			if (++zeroBlocks === 2)
				break;
			continue;
		}
		zeroBlocks = 0;
		let sum = 256;
		for (let i = 0; i < 512; i++)
			sum += i < 148 || i >= 156 ? h[i] : 0;
		if (sum !== octal(h, 148, 8))
			die('broken tar header (checksum)');
		const prefix = text(h, 257, 6) === 'ustar' ? text(h, 345, 155) : '';   // GNU's magic "ustar " has no prefix
		let path = (prefix ? prefix + '/' : '') + text(h, 0, 100), link = text(h, 157, 100);
		const mode = octal(h, 100, 8), size = octal(h, 124, 12), type = String.fromCharCode(h[156] || 0x30);
		const body = Buffer.from(await read(size) ?? die('the tarball ends in the middle'));
		if (size % 512 && !await read(512 - size % 512))
			die('the tarball ends in the middle');

		if (type === 'L' || type === 'K') {
			next[type === 'L' ? 'path' : 'linkpath'] = text(body, 0, body.length);
			continue;
		}
		if (type === 'x') {
			next = { ...next, ...paxRecords(body) };
			continue;
		}
		if (type === 'g')
			continue;
		path = next.path ?? path;
		link = next.linkpath ?? link;
		next = {};

		const first = path.split('/').find(p => p !== '' && p !== '.');
		top ??= first;
		if (first !== top)
			die(`more than one top folder: ${top}, ${first}`);
		if (type === '5')
			continue;
		const name = cleanPath(path);
		if (!name)
			die(`a file where the top folder should be: ${path}`);
		if (type === '2') {
			const target = Buffer.from(link, 'latin1');
			counts.symlinks++;
			emit(`blob\nmark :${++mark}\ndata ${target.length}\n`);
			emit(target);
			tree.push(Buffer.from(`M 120000 :${mark} `), quotePath(name), Buffer.from('\n'));
		} else if (type === '0' || type === '7') {
			counts.files++;
			if (name === 'Makefile')
				makefile = body.toString('latin1', 0, 400);
			if (name === EDIT_FILE)
				editable = body.toString('latin1');
			emit(`blob\nmark :${++mark}\ndata ${body.length}\n`);
			emit(body);
			tree.push(Buffer.from(`M ${mode & 0o100 ? '100755' : '100644'} :${mark} `), quotePath(name), Buffer.from('\n'));
		} else {
			die(`entry of type '${type}', which git cannot hold: ${path}`);
		}
		emit('\n');
		if (pendingBytes > 1 << 20)
			await flush();
	}
	if (!counts.files)
		die('no file in the tarball');
	while (!(await input.next()).done)
		;                                         // padding; unread, it would give the writer a SIGPIPE

	const v = ['VERSION', 'PATCHLEVEL', 'SUBLEVEL'].map(k => new RegExp(`^${k} = (\\d+)$`, 'm').exec(makefile)?.[1]);
	counts.version = v.every(x => x) ? v.join('.') : 'unknown';
	const message = `Linux ${counts.version}\n\nDebian's source tarball, with all files.\n`;
	emit(`commit ${REF}\nmark :${++mark}\nauthor ${WHO} ${DATE} +0000\ncommitter ${WHO} ${DATE} +0000\n` +
		`data ${message.length}\n${message}\n`);
	for (const b of tree)
		emit(b);
	emit('\n');
	if (editable?.split(EDIT_TEXT).length === 2) {
		counts.edited = true;
		const data = Buffer.from(editable.replace(EDIT_TEXT, () => EDIT_NEW), 'latin1');
		emit(`commit ${REF}\nauthor ${WHO} ${DATE + 3600} +0000\ncommitter ${WHO} ${DATE + 3600} +0000\n` +
			`data ${EDIT_MESSAGE.length}\n${EDIT_MESSAGE}\nfrom :${mark}\nM 100644 inline ${EDIT_FILE}\ndata ${data.length}\n`);
		emit(data);
		emit('\n');
	}
	emit('done\n');
	await flush();
	writeFileSync(countsFile, JSON.stringify(counts) + '\n');
}

process.stdout.on('error', e => die(`cannot write: ${e.message}`));
await main();
