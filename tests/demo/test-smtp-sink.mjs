#!/usr/bin/env node
// The SMTP sink keeps every byte of a mail, however the packets fall, and misbehaves as told. TAP.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SINK = fileURLToPath(new URL('smtp-sink.mjs', import.meta.url));
const top = mkdtempSync(join(tmpdir(), 'mmb-sink-'));
let number = 0, failed = 0;

function ok(good, title, detail = '') {
	console.log(`${good ? 'ok' : 'not ok'} ${++number} - ${title}`);
	if (!good) {
		failed++;
		console.log(`# ${JSON.stringify(detail)}`);
	}
}

async function start(...args) {
	const dir = join(top, `d${number}-${Math.random()}`), child = spawn(process.execPath, [SINK, dir, '--port-file', `${dir}.port`, ...args],
		{ stdio: ['ignore', 'pipe', 'inherit'] });
	const [line] = await once(child.stdout, 'data');
	return { dir, child, port: Number(/^port (\d+)\n$/.exec(line)[1]), portFile: `${dir}.port` };
}

async function stop(s) {
	const gone = once(s.child, 'exit');
	s.child.kill('SIGTERM');
	return (await gone)[0];
}

// Sends `bytes` in pieces of `size`; returns everything the server said until it closed (or `wait` ms passed).
async function talk(port, bytes, size = Infinity, wait = 5000) {
	const socket = connect(port, '127.0.0.1');
	socket.setNoDelay(true);
	let said = '';
	socket.on('data', d => { said += d; });
	await once(socket, 'connect');
	const timer = setTimeout(() => socket.destroy(), wait), closed = once(socket, 'close');
	const b = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes, 'latin1');
	for (let at = 0; at < b.length; at += size) {
		socket.write(b.subarray(at, at + size));
		if (size < b.length)
			await new Promise(r => setImmediate(r));
	}
	await closed;
	clearTimeout(timer);
	return said;
}

const codes = said => said.split('\r\n').filter(l => /^\d{3} /.test(l)).map(l => l.slice(0, 3)).join(' ');
const envelope = (body = '') => `EHLO here\r\nMAIL FROM:<a@example.org>${body}\r\nRCPT TO:<b@example.org>\r\nRCPT TO:<c@example.org>\r\nDATA\r\n`;
const mail = 'Subject: t\r\n\r\n..two dots\r\n.one dot\r\n.\rno line end\r\n\r\nlast\r\n';
const stuffed = mail.replace(/^\./gm, '..').replace('\r..\rno', '\r..\rno');

try {
	let s = await start();
	ok(readFileSync(s.portFile, 'utf8') === `${s.port}\n`, 'the port is in its file');
	ok(codes(await talk(s.port, `${envelope()}${stuffed}.\r\nQUIT\r\n`)) === '220 250 250 250 250 354 250 221', 'all in one packet');
	ok(readFileSync(join(s.dir, '0001.eml'), 'latin1') === mail, 'the mail is what was sent', readFileSync(join(s.dir, '0001.eml'), 'latin1'));
	const e = JSON.parse(readFileSync(join(s.dir, '0001.json'), 'utf8'));
	ok(e.from === 'a@example.org' && e.to.join() === 'b@example.org,c@example.org' && e.size === mail.length, 'the envelope', e);
	for (const size of [1, 2, 3, 7]) {
		const n = String(size === 1 ? 2 : size === 2 ? 3 : size === 3 ? 4 : 5).padStart(4, '0');
		await talk(s.port, `${envelope()}${stuffed}.\r\nQUIT\r\n`, size);
		ok(readFileSync(join(s.dir, `${n}.eml`), 'latin1') === mail, `packets of ${size} bytes`);
	}
	const eight = Buffer.from('Subject: \xe5\r\n\r\n\xff\x00\xfe\r\n', 'latin1');
	await talk(s.port, Buffer.concat([Buffer.from(envelope(' BODY=8BITMIME')), eight, Buffer.from('.\r\nQUIT\r\n')]));
	ok(readFileSync(join(s.dir, '0006.eml')).equals(eight), '8-bit bytes');
	ok(codes(await talk(s.port, `${envelope()}x\r\n.\r\n${envelope().slice(11)}y\r\n.\r\nQUIT\r\n`)) ===
		'220 250 250 250 250 354 250 250 250 250 354 250 221', 'two mails in one connection');
	ok(codes(await talk(s.port, 'HELO x\r\nDATA\r\nRCPT TO:<a@b>\r\nMAIL nobody\r\nFOO\r\nNOOP\r\nRSET\r\nQUIT\r\n')) ===
		'220 250 503 503 501 500 250 250 221', 'wrong commands, and the session goes on');
	await talk(s.port, `${envelope()}half of a mail\r\n`, Infinity, 100);
	ok(readdirSync(s.dir).length === 16, 'a mail without its end is not stored', readdirSync(s.dir));
	ok(await stop(s) === 0, 'SIGTERM ends it with status 0');

	s = await start('--fail-first', '2');
	const answers = [];
	for (let i = 0; i < 3; i++)
		answers.push(codes(await talk(s.port, `${envelope()}x${i}\r\n.\r\nQUIT\r\n`)).split(' ')[6]);
	ok(answers.join() === '451,451,250' && readFileSync(join(s.dir, '0001.eml'), 'utf8') === 'x2\r\n' && !existsSync(join(s.dir, '0002.eml')),
		'--fail-first 2', answers);
	await stop(s);

	s = await start('--no-8bitmime');
	const said = await talk(s.port, `${envelope(' BODY=8BITMIME')}QUIT\r\n`);
	ok(!/8BITMIME\r/.test(said) && /\r\n555 /.test(said), '--no-8bitmime', said);
	ok(/\r\n554 /.test(await talk(s.port, `${envelope()}\xe5\r\n.\r\nQUIT\r\n`)), '--no-8bitmime refuses 8-bit data');
	await stop(s);

	s = await start('--hang');
	ok(await talk(s.port, 'EHLO here\r\n', Infinity, 200) === '', '--hang says nothing');
	ok(await stop(s) === 0, '--hang: SIGTERM ends it too');
} finally {
	rmSync(top, { recursive: true, force: true });
}
console.log(`1..${number}`);
process.exitCode = failed ? 1 : 0;
