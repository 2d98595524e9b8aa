// SPDX-License-Identifier: GPL-2.0-or-later
// For the web tests: a seeded database and a real mmbisect-web on a port of its own. The programs are in $O (default: out).
import { spawn, execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import readline from "node:readline";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const out = path.resolve(root, process.env.O ?? "out");
export const program = path.join(out, "bin/mmbisect-web");

export function makeFolder(t) {
	const folder = mkdtempSync(path.join(tmpdir(), "mmb-web-"));
	t.after(() => rmSync(folder, { recursive: true, force: true }));
	return folder;
}

/** what: empty, full, advance (tests/web/seed.c). */
export function seed(database, what) {
	execFileSync(path.join(out, "tests/web/seed"), [database, what], { stdio: ["ignore", "inherit", "inherit"] });
}

/** Starts the server; resolves when it listens. {child, where, url(path), stop()}: stop resolves to [code, signal]. */
export async function startServer(t, database, ...args) {
	const listen = args.includes("--listen") ? [] : ["--listen", "127.0.0.1:0"];
	// It ends with us, however we end.
	const command = ["--pdeathsig", "KILL", program, "--db", database, ...listen, ...args];
	const child = spawn("setpriv", command, { stdio: ["ignore", "pipe", "pipe"] });
	const ended = once(child, "exit");
	let log = "";
	child.stderr.on("data", (data) => (log += data));
	t.after(() => child.kill("SIGKILL"));
	for await (const line of readline.createInterface({ input: child.stdout })) {
		const where = line.match(/^listening on (.*)$/)[1];
		return {
			child, where, url: (p) => new URL(p, where).href, log: () => log,
			stop: () => (child.kill("SIGTERM"), ended),
		};
	}
	throw new Error(`mmbisect-web ended: ${log}`);
}

/** One request with the path sent exactly as given. {status, headers, body} */
export function request(server, target, { method = "GET", headers = {}, body } = {}) {
	const to = server.where.startsWith("unix:") ? { socketPath: server.where.slice(5) }
		: { host: new URL(server.where).hostname, port: new URL(server.where).port };
	return new Promise((resolve, reject) => {
		const r = http.request({ ...to, method, headers, path: target, agent: false }, (response) => {
			const chunks = [];
			response.on("data", (c) => chunks.push(c));
			response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() }));
		});
		r.on("error", reject);
		r.end(body);
	});
}
