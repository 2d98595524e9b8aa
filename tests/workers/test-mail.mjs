#!/usr/bin/env node
// SPDX-License-Identifier: GPL-2.0-or-later
// mmbisect-mail against real servers on the loopback: what arrives is what was given, and each failure is told as what it is. TAP.
//
//   MMB_MAIL   the program (default: $O/bin/mmbisect-mail, O=out)

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const TOP = fileURLToPath(new URL('../..', import.meta.url));
const MAIL = process.env.MMB_MAIL ?? join(resolve(TOP, process.env.O ?? 'out'), 'bin/mmbisect-mail');
const SINK = join(TOP, 'tests/demo/smtp-sink.mjs');
const top = mkdtempSync(join(tmpdir(), 'mmb-mail-'));
const children = [];
let number = 0, failed = 0;

function ok(good, title, detail = '') {
	console.log(`${good ? 'ok' : 'not ok'} ${++number} - ${title}`);
	if (!good) {
		failed++;
		console.log(`# ${JSON.stringify(detail)}`);
	}
}

async function sink(...args) {
	const dir = join(top, `sink-${children.length}`);
	const child = spawn(process.execPath, [SINK, dir, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
	children.push(child);
	const [line] = await once(child.stdout, 'data');
	return { dir, port: Number(/^port (\d+)\n$/.exec(line)[1]) };
}

// A server that answers by the first rule whose pattern fits a command line; it hears all.
async function server(rules, greeting = '220 here ESMTP') {
	const heard = [];
	const s = createServer(socket => {
		socket.on('error', () => {});
		socket.write(`${greeting}\r\n`);
		let inData = false;
		socket.on('data', data => {
			for (const line of String(data).split('\r\n').filter(l => l)) {
				heard.push(line);
				if (inData && line !== '.')
					continue;
				const rule = rules.find(([pattern]) => pattern.test(line));
				inData = rule?.[1].startsWith('354') ?? false;
				socket.write(`${rule ? rule[1] : '250 ok'}\r\n`);
			}
		});
	});
	s.listen(0, '127.0.0.1');
	await once(s, 'listening');
	s.unref();
	return { port: s.address().port, heard };
}

const message = 'From: a@example.org\r\nTo: b@example.org\r\nSubject: t\r\n\r\n.\r\n..two\r\n.one dot\r\n\r\nlast\r\n';
const job = (port, more = {}) => ({ job: 'mail', id: '3', server: `smtp://127.0.0.1:${port}`, user: null, password: null, tls: 'none',
	sender: 'a@example.org', recipients: ['b@example.org', 'c@example.org'], message, limit_seconds: 20, ...more });

async function send(input) {
	const child = spawn(MAIL, [], { stdio: ['pipe', 'pipe', 'pipe'],
		env: { ...process.env, all_proxy: 'http://127.0.0.1:1', ALL_PROXY: 'http://127.0.0.1:1' } });
	let out = '', err = '';
	child.stdout.on('data', d => out += d);
	child.stderr.on('data', d => err += d);
	child.stdin.on('error', () => {});
	child.stdin.end(typeof input === 'string' ? input : JSON.stringify(input));
	const [code] = await once(child, 'close');
	let result = null;
	try {
		result = JSON.parse(out).result;
	} catch {
		// no result line: the caller looks at code and err
	}
	return { code, out, err, status: result?.status, error: result?.error, lines: out.split('\n').length - 1 };
}

const eml = (s, n) => readFileSync(join(s.dir, `${String(n).padStart(4, '0')}.eml`), 'latin1');

try {
	let s = await sink();
	let r = await send(job(s.port));
	ok(r.code === 0 && r.status === 'sent' && r.lines === 1 && r.error === undefined, 'sent', r);
	ok(eml(s, 1) === message, 'the bytes are the same, dots and all', eml(s, 1));
	const envelope = JSON.parse(readFileSync(join(s.dir, '0001.json'), 'utf8'));
	ok(envelope.from === 'a@example.org' && envelope.to.join() === 'b@example.org,c@example.org', 'the envelope', envelope);
	const dots = `${'.\r\n'.repeat(5000)}Subject: x\r\n\r\n${'.'.repeat(998)}\r\n`.repeat(10);
	r = await send(job(s.port, { message: dots }));
	ok(r.status === 'sent' && eml(s, 2) === dots, 'dots across all buffers', { ...r, got: readdirSync(s.dir) });

	s = await sink('--fail-first', '1', '--no-8bitmime');
	r = await send(job(s.port));
	ok(r.code === 0 && r.status === 'retry' && /^451 /.test(r.error), '451 after the data: retry', r);
	r = await send(job(s.port));
	ok(r.status === 'sent' && eml(s, 1) === message, '... and then it is taken, without 8BITMIME', r);

	s = await sink('--hang');
	const start = Date.now();
	r = await send(job(s.port, { limit_seconds: 2 }));
	ok(r.code === 0 && r.status === 'retry' && Date.now() - start < 8000, 'a server that hangs: retry at the limit', r);

	s = await server([]);
	const free = createServer();
	free.listen(0, '127.0.0.1');
	await once(free, 'listening');
	const { port } = free.address();
	free.close();
	await once(free, 'close');
	r = await send(job(port));
	ok(r.code === 0 && r.status === 'retry' && /refused|connect/i.test(r.error), 'nobody listens: retry', r);
	r = await send(job(1, { server: 'smtp://no-such-host.invalid:25' }));
	ok(r.status === 'retry', 'no such host: retry', r);

	s = await server([[/^RCPT/, '550 5.1.1 <b@example.org>: no such user']]);
	r = await send(job(s.port));
	ok(r.code === 0 && r.status === 'refused' && r.error === '550 5.1.1 <b@example.org>: no such user', '550 for a recipient: refused', r);
	s = await server([[/^RCPT/, '450 4.2.0 greylisted']]);
	r = await send(job(s.port));
	ok(r.status === 'retry' && r.error === '450 4.2.0 greylisted', '450 for a recipient: retry', r);
	s = await server([[/^DATA/, '354 go'], [/^\.$/, '554 5.7.1 spam \x1b[31m?']]);
	r = await send(job(s.port));
	ok(r.status === 'refused' && /^554 5\.7\.1 spam/.test(r.error) && !r.error.includes('\x1b'), '554 after the data: refused', r);
	s = await server([], '421 too busy');
	r = await send(job(s.port));
	ok(r.status === 'retry' && /421/.test(r.error), '421 as a greeting: retry', r);

	s = await server([]);
	r = await send(job(s.port, { tls: 'starttls', user: 'u', password: 'secret-word' }));
	ok(r.status === 'retry' && !s.heard.some(l => /^(MAIL|AUTH|RCPT|DATA)/.test(l)), 'no STARTTLS offered: nothing is said in the clear', { r, heard: s.heard });
	s = await server([[/^EHLO/, '250-here\r\n250 STARTTLS'], [/^STARTTLS/, '454 not now']]);
	r = await send(job(s.port, { tls: 'starttls' }));
	ok(r.status === 'retry' && !s.heard.some(l => /^MAIL/.test(l)), 'STARTTLS that fails: retry, not in the clear', { r, heard: s.heard });
	s = await server([[/^MAIL/, '530 5.7.0 authentication required']]);
	r = await send(job(s.port));
	ok(r.status === 'retry' && /^530/.test(r.error), '530: our login is wrong, not the mail', r);

	s = await server([]);
	const malformed = [
		['a bare LF', { message: 'a: b\n\nx\r\n' }], ['a bare CR', { message: 'a: b\r\n\r\nx\r.\r\n' }],
		['no final CRLF', { message: 'a: b\r\n\r\nx' }], ['a byte over 127', { message: 'a: b\r\n\r\n\u00e5\r\n' }],
		['a line of 999', { message: `${'x'.repeat(999)}\r\n` }], ['no message', { message: '' }],
		['an address with CRLF', { recipients: ['b@c\r\nRCPT TO:<d@e>'] }], ['an address with >', { recipients: ['b@c> <d@e'] }],
		['a sender without @', { sender: 'nobody' }], ['no recipients', { recipients: [] }], ['a number as recipient', { recipients: [1] }],
		['another protocol', { server: 'file:///etc/passwd' }], ['smtp:// with smtps', { tls: 'smtps' }], ['an unknown tls', { tls: 'yes' }],
		['a password in the clear', { user: 'u', password: 'p' }], ['no limit', { limit_seconds: 0 }], ['another job', { job: 'run' }],
	];
	for (const [title, more] of malformed) {
		r = await send(job(s.port, more));
		ok(r.code === 2 && r.out === '' && /^mmbisect-mail: .+\n$/.test(r.err), `malformed: ${title}`, r);
	}
	r = await send('{"job":');
	ok(r.code === 2 && r.out === '', 'malformed: half a job', r);
	ok(s.heard.length === 0, 'nothing of it was ever said to a server', s.heard);
} finally {
	for (const child of children)
		child.kill('SIGTERM');
	rmSync(top, { recursive: true, force: true });
}
console.log(`1..${number}`);
process.exitCode = failed ? 1 : 0;
