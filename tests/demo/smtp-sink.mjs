#!/usr/bin/env node
// A small SMTP server for tests: takes every mail and stores it.
//
//   smtp-sink.mjs DIR [--port-file FILE] [--fail-first N] [--no-8bitmime] [--hang]
//
// Listens on 127.0.0.1, on a port that the kernel picks: "port N" is the first line on stdout; FILE, renamed in, holds N.
// A mail becomes DIR/0001.eml (the bytes between DATA and the final dot, CRLF kept, dot-stuffing undone) and DIR/0001.json (envelope,
// size, time). The .json is renamed in last: once it is there, both are complete. Numbers go on from what DIR holds.
// --fail-first N   the first N mails get 451 after their data and are not stored
// --no-8bitmime    EHLO does not offer 8BITMIME; MAIL ... BODY=8BITMIME is refused; so is a mail with bytes above 127
// --hang           accepts connections and never says a word
// Ends with status 0 on SIGTERM or SIGINT.

import { createServer } from 'node:net';
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const USAGE = 'usage: smtp-sink.mjs DIR [--port-file FILE] [--fail-first N] [--no-8bitmime] [--hang]';
const LINE_MAX = 4096, MAIL_MAX = 64 << 20;

function usage(text) {
	process.stderr.write(`smtp-sink: ${text}\n${USAGE}\n`);
	process.exit(2);
}

function options() {
	try {
		const { values, positionals } = parseArgs({ allowPositionals: true, options: { 'port-file': { type: 'string' },
			'fail-first': { type: 'string', default: '0' }, 'no-8bitmime': { type: 'boolean' }, hang: { type: 'boolean' } } });
		if (positionals.length !== 1 || !/^\d{1,9}$/.test(values['fail-first']))
			usage('one DIR is wanted, and a number for --fail-first');
		return { dir: positionals[0], portFile: values['port-file'], failFirst: Number(values['fail-first']),
			eightBit: !values['no-8bitmime'], hang: values.hang };
	} catch (e) {
		return usage(e.message);
	}
}

function put(path, content) {
	writeFileSync(`${path}.new`, content);
	renameSync(`${path}.new`, path);
}

const opt = options();
mkdirSync(opt.dir, { recursive: true });
let stored = Math.max(0, ...readdirSync(opt.dir).map(n => Number(/^(\d{4,})\.(eml|json)$/.exec(n)?.[1] ?? 0)));
let toFail = opt.failFirst;

function store(session, data) {
	const name = join(opt.dir, String(++stored).padStart(4, '0'));
	put(`${name}.eml`, data);
	put(`${name}.json`, JSON.stringify({ from: session.from, to: session.to, helo: session.helo, body: session.body, size: data.length,
		received: new Date().toISOString() }) + '\n');
	return stored;
}

// One connection. Bytes are gathered in `rest` and eaten line by line, so packets may end anywhere and commands may be pipelined.
class Session {
	constructor(socket) {
		this.socket = socket;
		this.rest = Buffer.alloc(0);
		this.helo = null;
		this.data = null;                         // list of lines while in DATA
		this.reset();
		socket.on('error', () => {});             // a client that goes away is no news
		if (opt.hang)
			return void socket.resume();
		socket.on('data', chunk => this.feed(chunk));
		this.say('220 smtp-sink.example.org ESMTP');
	}
	reset() {
		this.from = null;
		this.to = [];
		this.body = '7BIT';
	}
	say(...lines) {
		if (this.socket.writable)
			this.socket.write(lines.map(l => `${l}\r\n`).join(''));
	}
	feed(chunk) {
		this.rest = this.rest.length ? Buffer.concat([this.rest, chunk]) : chunk;
		let from = 0;
		for (let at; (at = this.rest.indexOf('\r\n', from)) >= 0 && this.socket.writable; from = at + 2) {
			const line = this.rest.subarray(from, at);
			if (this.data)
				this.dataLine(line);
			else
				this.command(line.toString('latin1'));
		}
		this.rest = Buffer.from(this.rest.subarray(from));
		if (this.rest.length > (this.data ? MAIL_MAX : LINE_MAX)) {
			this.say('500 line too long');
			this.socket.end();
		}
	}
	dataLine(line) {
		if (line.length === 1 && line[0] === 0x2e)
			return this.endData();
		line = line[0] === 0x2e ? line.subarray(1) : line;
		this.dataSize += line.length + 2;
		if (this.dataSize <= MAIL_MAX)            // else eaten to its end, and refused there
			this.data.push(line, Buffer.from('\r\n'));
	}
	endData() {
		const data = Buffer.concat(this.data), tooBig = this.dataSize > MAIL_MAX;
		this.data = null;
		if (toFail > 0) {
			toFail--;
			this.say('451 4.3.0 not now, try again later');
		} else if (tooBig) {
			this.say('552 5.3.4 too big');
		} else if (!opt.eightBit && data.some(b => b > 127)) {
			this.say('554 5.6.1 8-bit data, and 8BITMIME was not offered');
		} else {
			try {
				this.say(`250 2.0.0 stored as ${store(this, data)}`);
			} catch (e) {
				process.stderr.write(`smtp-sink: cannot store: ${e.message}\n`);
				this.say('451 4.3.1 cannot store');
			}
		}
		this.reset();
	}
	command(line) {
		const [, verb, arg] = /^(\S*) ?(.*)$/s.exec(line);
		switch (verb.toUpperCase()) {
		case 'EHLO':
			this.reset();
			this.helo = arg;
			return this.say('250-smtp-sink.example.org', '250-PIPELINING', ...(opt.eightBit ? ['250-8BITMIME'] : []), '250-ENHANCEDSTATUSCODES',
				`250 SIZE ${MAIL_MAX}`);
		case 'HELO':
			this.reset();
			this.helo = arg;
			return this.say('250 smtp-sink.example.org');
		case 'MAIL': {
			const m = /^FROM: ?<([^<>\s]*)>((?: \S+)*)$/i.exec(arg);
			if (!m)
				return this.say('501 5.5.4 MAIL FROM:<address>');
			if (this.helo === null || this.from !== null)
				return this.say('503 5.5.1 not now');
			for (const p of m[2].trim().split(' ').filter(x => x)) {
				const [, key, value] = /^([^=]*)=?(.*)$/.exec(p.toUpperCase());
				if (key === 'BODY' && (value === '7BIT' || (value === '8BITMIME' && opt.eightBit)))
					this.body = value;
				else if (key === 'SIZE' && Number(value) > MAIL_MAX)
					return this.say('552 5.3.4 too big');
				else if (key !== 'SIZE')
					return this.say('555 5.5.4 parameter not known');
			}
			this.from = m[1];
			return this.say('250 2.1.0 ok');
		}
		case 'RCPT': {
			const m = /^TO: ?<([^<>\s]+)>$/i.exec(arg);
			if (!m)
				return this.say('501 5.5.4 RCPT TO:<address>');
			if (this.from === null)
				return this.say('503 5.5.1 MAIL first');
			this.to.push(m[1]);
			return this.say('250 2.1.5 ok');
		}
		case 'DATA':
			if (!this.to.length)
				return this.say('503 5.5.1 RCPT first');
			this.data = [];
			this.dataSize = 0;
			return this.say('354 go on, end with a dot');
		case 'RSET':
			this.reset();
			return this.say('250 2.0.0 ok');
		case 'NOOP':
			return this.say('250 2.0.0 ok');
		case 'VRFY':
			return this.say('252 2.1.5 perhaps');
		case 'QUIT':
			this.say('221 2.0.0 bye');
			return void this.socket.end();
		default:
			return this.say('500 5.5.2 command not known');
		}
	}
}

const sockets = new Set();
const server = createServer(socket => {
	sockets.add(socket);
	socket.on('close', () => sockets.delete(socket));
	new Session(socket);
});
server.on('error', e => {
	process.stderr.write(`smtp-sink: ${e.message}\n`);
	process.exit(1);
});
server.listen(0, '127.0.0.1', () => {
	const { port } = server.address();
	if (opt.portFile)
		put(opt.portFile, `${port}\n`);
	process.stdout.write(`port ${port}\n`);
});
for (const signal of ['SIGTERM', 'SIGINT'])
	process.on(signal, () => {
		server.close(() => process.exit(0));
		for (const s of sockets)
			s.destroy();
	});
