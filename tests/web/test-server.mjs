#!/usr/bin/env -S node --test --test-reporter=tap
// SPDX-License-Identifier: GPL-2.0-or-later
// mmbisect-web over HTTP, without a browser.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { makeFolder, program, request, seed, startServer } from "./server.mjs";

async function startFull(t, ...args) {
	const database = path.join(makeFolder(t), "mmbisect.db");
	seed(database, "full");
	return { database, server: await startServer(t, database, ...args) };
}

test("every kind of answer has its type and the security headers", async (t) => {
	const { server } = await startFull(t);
	const types = {
		"/": /^text\/html/, "/searches": /^text\/html/, "/finding/1": /^text\/html/, "/search/1": /^text\/html/,
		"/app.js": /^text\/javascript/, "/style.css": /^text\/css/, "/icon.svg": /^image\/svg\+xml/,
		"/api/findings.json": /^application\/json/, "/api/finding/1.json": /^application\/json/, "/api/searches.json": /^application\/json/,
		"/api/search/1.json": /^application\/json/, "/api/status.json": /^application\/json/,
	};
	for (const [target, type] of Object.entries(types)) {
		const { status, headers } = await request(server, target);
		assert.equal(status, 200, target);
		assert.match(headers["content-type"], type, target);
		assert.match(headers["content-security-policy"], /default-src 'self'/);
		assert.equal(headers["x-content-type-options"], "nosniff");
	}
});

test("what is not there is 404, in the form that was asked for", async (t) => {
	const { server } = await startFull(t);
	for (const target of ["/nope", "/finding/", "/finding/x", "/finding/01", "/finding/1/", "/app.jsx", "/index.htm", "//",
		`/finding/${"9".repeat(30)}`])
		assert.equal((await request(server, target)).status, 404, target);
	for (const target of ["/api/nope", "/api/finding/99.json", "/api/search/99.json", "/api/finding/-1.json", "/api/finding/1.jsonx"]) {
		const { status, body } = await request(server, target);
		assert.equal(status, 404, target);
		assert.equal(typeof JSON.parse(body).error, "string");
	}
});

for (const args of [[], ["--static", path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../web/static")]])
	test(`no path leads out of the static files ${args[0] ?? ""}`, async (t) => {
		const { server } = await startFull(t, ...args);
		for (const target of ["/../web.mk", "/../../../../../../etc/passwd", "/..%2f..%2f..%2fetc/passwd", "/%2e%2e/web.mk", "/./app.js",
			"/static/../app.js", "/.", "/..", "/%00", "/app.js%2f..%2fapp.js", "/etc/passwd", "//etc/passwd"]) {
			const { status, body } = await request(server, target);
			assert.ok(status === 404 || status === 400, `${target}: ${status}`);
			assert.doesNotMatch(body, /root:|WEB_NODE/);
		}
		assert.equal((await request(server, "/app.js")).status, 200);
	});

test("only GET and HEAD, and no bodies", async (t) => {
	const { server } = await startFull(t);
	for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"]) {
		const { status, headers } = await request(server, "/api/findings.json", { method });
		assert.equal(status, 405, method);
		assert.equal(headers.allow, "GET, HEAD");
	}
	assert.equal((await request(server, "/", { headers: { "content-length": "5" }, body: "hello" })).status, 413);
	assert.equal((await request(server, "/", { headers: { "transfer-encoding": "chunked" }, body: "hello" })).status, 413);
});

test("too long requests are refused and the server goes on", async (t) => {
	const { server } = await startFull(t);
	const long = await request(server, `/${"a".repeat(100000)}`).catch(() => ({ status: 0 }));
	assert.ok(long.status === 0 || (long.status >= 400 && long.status < 500), String(long.status));
	const big = await request(server, "/", { headers: { "x-big": "b".repeat(100000) } }).catch(() => ({ status: 0 }));
	assert.ok(big.status === 0 || (big.status >= 400 && big.status < 500), String(big.status));
	assert.equal((await request(server, "/")).status, 200);
});

test("garbage on the wire is answered or dropped and the server goes on", async (t) => {
	const { server } = await startFull(t);
	const { hostname, port } = new URL(server.where);
	const sockets = ["\0\0\0\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET\r\n\r\n", "\x16\x03\x01\x02\0", "GET / HTTP/1.1\r\n\r\n", "GET / HT"].map((bytes) => {
		const socket = net.connect(port, hostname, () => socket.write(bytes));
		return socket.on("error", () => {}).resume();
	});
	await Promise.all(sockets.map((socket) => once(socket, "connect")));
	assert.equal((await request(server, "/")).status, 200);
	sockets.forEach((socket) => socket.destroy());
	assert.equal((await request(server, "/")).status, 200);
	assert.deepEqual(await server.stop(), [0, null]);
});

test("HEAD has the headers of GET and no body", async (t) => {
	const { server } = await startFull(t);
	for (const target of ["/", "/style.css", "/api/findings.json"]) {
		const get = await request(server, target);
		const head = await request(server, target, { method: "HEAD" });
		assert.equal(head.status, 200);
		assert.equal(head.body, "");
		assert.equal(head.headers["content-length"], get.headers["content-length"]);
		assert.equal(head.headers.etag, get.headers.etag);
	}
});

test("an ETag that is known gives 304, also for data, until the data change", async (t) => {
	const { server, database } = await startFull(t);
	for (const target of ["/app.js", "/api/search/6.json"]) {
		const { etag } = (await request(server, target)).headers;
		for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
			const again = await request(server, target, { headers: { "if-none-match": known } });
			assert.equal(again.status, 304, known);
			assert.equal(again.body, "");
		}
		assert.equal((await request(server, target, { headers: { "if-none-match": "\"other\"" } })).status, 200);
	}
	const { etag } = (await request(server, "/api/search/6.json")).headers;
	seed(database, "advance");
	const { status, body } = await request(server, "/api/search/6.json", { headers: { "if-none-match": etag } });
	assert.equal(status, 200);
	assert.equal(JSON.parse(body).steps.at(-1).median, 5712);
});

test("without a database it says so, and serves as soon as there is one", async (t) => {
	const database = path.join(makeFolder(t), "later.db");
	const server = await startServer(t, database);
	const expect503 = async (text) => {
		const page = await request(server, "/");
		assert.equal(page.status, 503);
		assert.match(page.headers["content-type"], /^text\/html/);
		assert.match(page.body, text);
		assert.match(page.body, /http-equiv="refresh"/);
		assert.equal(page.headers["retry-after"], "5");
		const api = await request(server, "/api/findings.json");
		assert.equal(api.status, 503);
		assert.match(JSON.parse(api.body).error, text);
		assert.equal((await request(server, "/style.css")).status, 200);
	};
	await expect503(/no database yet/);
	writeFileSync(database, "");
	await expect503(/still empty/);
	rmSync(database);
	seed(database, "empty");
	assert.deepEqual(JSON.parse((await request(server, "/api/findings.json")).body).findings, []);
	for (const suffix of ["", "-wal", "-shm"])
		rmSync(database + suffix, { force: true });
	await expect503(/no database yet/);
	seed(`${database}.other`, "full");
	renameSync(`${database}.other`, database);
	assert.equal(JSON.parse((await request(server, "/api/findings.json")).body).findings.length, 3);
	writeFileSync(`${database}.bad`, "no database at all, but long enough to be looked at".repeat(100));
	renameSync(`${database}.bad`, database);
	await expect503(/damaged/);
	assert.match(server.log(), /no database yet[^]*reading[^]*damaged/);
});

test("the database file is never written to", async (t) => {
	const { server, database } = await startFull(t);
	const before = readFileSync(database);
	for (const target of ["/", "/api/findings.json", "/api/finding/2.json", "/api/searches.json", "/api/search/6.json", "/api/status.json"])
		assert.equal((await request(server, target)).status, 200);
	assert.ok(readFileSync(database).equals(before));
	assert.deepEqual(await server.stop(), [0, null]);
	assert.ok(readFileSync(database).equals(before));
});

test("JSON: documents are embedded, strangers' bytes are valid UTF-8", async (t) => {
	const { server } = await startFull(t);
	const { findings, counts } = JSON.parse((await request(server, "/api/findings.json")).body);
	assert.equal(counts.findings, 3);
	assert.equal(findings[2].change.ratio, 29.25);
	const { finding } = JSON.parse((await request(server, "/api/finding/1.json")).body);
	assert.equal(finding.document.verify.length, 4);
	assert.equal(finding.mail, "sent");
	assert.equal(finding.word, null);
	const { searches } = JSON.parse((await request(server, "/api/finding/1.json")).body);
	assert.deepEqual(searches.map((s) => s.metric), ["madvise_call", "thp_fault_alloc"]);
	const { words } = JSON.parse((await request(server, "/api/finding/2.json")).body);
	assert.deepEqual(words.map((w) => w.state), ["known", "wrong"]);
	assert.equal(findings[1].word, "wrong");
	const hostile = JSON.parse((await request(server, "/api/finding/2.json")).body).finding;
	assert.match(hostile.subject, /^<script>.*Jos\ufffd /);
	assert.match(hostile.report, /\ufffd\ufffd bytes/);
	const damaged = JSON.parse((await request(server, "/api/finding/3.json")).body).finding;
	assert.equal(damaged.document, null);
	assert.equal(damaged.report, "the report is there\n");
});

test("JSON: a running search has its steps, jobs and log", async (t) => {
	const { server } = await startFull(t);
	const { search, steps, log, jobs, typical_seconds: typical } = JSON.parse((await request(server, "/api/search/6.json")).body);
	assert.equal(search.state, "searching");
	assert.deepEqual(steps.map((s) => s.median), [5709, 166997, null, null]);
	assert.deepEqual(steps.map((s) => s.build), ["ok", "ok", "build-failed", null]);
	assert.ok(steps[0].is_good && steps[1].is_bad && steps[3].running);
	assert.equal(log.length, 3);
	assert.deepEqual(jobs.map((j) => j.state), ["leased", "queued"]);
	assert.ok(typical.build > 0);
	const status = JSON.parse((await request(server, "/api/status.json")).body);
	assert.equal(status.jobs.length, 1);
	assert.deepEqual(status.queue, [{ class: "exact", n: 1 }]);
	assert.equal(status.refs.length, 2);
	assert.equal(typeof status.data_version, "number");
});

test("a port file, and a clean end", async (t) => {
	const folder = makeFolder(t);
	const server = await startServer(t, path.join(folder, "none"), "--port-file", path.join(folder, "port"));
	assert.equal(readFileSync(path.join(folder, "port"), "utf8").trim(), new URL(server.where).port);
	assert.equal((await request(server, "/")).status, 503);
	assert.deepEqual(await server.stop(), [0, null]);
});

test("a unix socket: served, not stolen, replaced when stale, removed at the end", async (t) => {
	const folder = makeFolder(t);
	const address = `unix:${path.join(folder, "web.sock")}`;
	const socket = address.slice(5);
	const first = await startServer(t, path.join(folder, "none"), "--listen", address);
	assert.equal((await request(first, "/")).status, 503);
	const second = spawnSync(program, ["--db", "x", "--listen", address], { encoding: "utf8" });
	assert.equal(second.status, 3);
	assert.match(second.stderr, /Address already in use/);
	first.child.kill("SIGKILL");
	await once(first.child, "exit");
	assert.ok(existsSync(socket));
	const third = await startServer(t, path.join(folder, "none"), "--listen", address);
	assert.equal((await request(third, "/style.css")).status, 200);
	assert.deepEqual(await third.stop(), [0, null]);
	assert.ok(!existsSync(socket));
});

test("a socket that systemd passes", async (t) => {
	if (spawnSync("systemd-socket-activate", ["--version"]).error)
		return t.skip("no systemd-socket-activate");
	const folder = makeFolder(t);
	const where = `unix:${path.join(folder, "passed.sock")}`;
	const child = spawn("setpriv", ["--pdeathsig", "KILL", "systemd-socket-activate", "-l", where.slice(5), program, "--db", path.join(folder, "none")],
		{ stdio: "ignore" });
	t.after(() => child.kill("SIGKILL"));
	while (!existsSync(where.slice(5)))
		await new Promise((resolve) => setImmediate(resolve));
	let answer = null;
	while (!answer)
		answer = await request({ where }, "/style.css").catch(() => null);
	assert.equal(answer.status, 200);
	child.kill("SIGTERM");
	assert.deepEqual(await once(child, "exit"), [0, null]);
});

test("wrong usage is one clear line and exit 2", () => {
	for (const [args, text] of [[[], /--db PATH is missing/], [["--db"], /--db needs a value/], [["--db", "x", "--nope"], /unknown option --nope/],
		[["--db", "x", "y"], /unexpected argument y/], [["--db", "x", "--listen", "localhost:1"], /no numeric address/],
		[["--db", "x", "--listen", "1.2.3.4"], /no address/], [["--db", "x", "--listen", "127.0.0.1:65536"], /no address/],
		[["--db", "x", "--listen", "::1:80"], /no numeric address/], [["--db", "x", "--listen", "unix:"], /needs a path/],
		[["--db", "x", "--listen", `unix:${"p".repeat(200)}`], /at most 107 bytes/],
		[["--db", "x", "--static", "/does/not/exist"], /no such folder/]]) {
		const { status, stderr, stdout } = spawnSync(program, args, { encoding: "utf8" });
		assert.equal(status, 2, args.join(" "));
		assert.match(stderr, text);
		assert.equal(stdout, "");
	}
	const help = spawnSync(program, ["--help"], { encoding: "utf8" });
	assert.equal(help.status, 0);
	assert.match(help.stdout, /^Usage: mmbisect-web --db PATH/);
});
