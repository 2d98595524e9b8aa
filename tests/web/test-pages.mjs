#!/usr/bin/env -S node --test --test-reporter=tap
// SPDX-License-Identifier: GPL-2.0-or-later
// The pages in a real browser (Debian's chromium). $SCREENSHOTS=DIR keeps pictures, to be looked at by a person.
import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { makeFolder, seed, startServer } from "./server.mjs";

const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
	"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"];
const views = {
	light: { viewport: { width: 1200, height: 900 } },
	dark: { viewport: { width: 1200, height: 900 }, colorScheme: "dark" },
	phone: { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true },
};
let browser;
before(async () => (browser = await chromium.launch({ executablePath: "/usr/bin/chromium", headless: true, args })));
after(() => browser?.close());

/** A page of a fresh context that remembers all that must not happen; calm() fails on it. */
async function openPage(t, view = "light") {
	const context = await browser.newContext({ locale: "en-GB", timezoneId: "Europe/Berlin", ...views[view] });
	t.after(() => context.close());
	const page = await context.newPage();
	const trouble = [];
	page.setDefaultTimeout(15000);
	page.on("pageerror", (e) => trouble.push(`page error: ${e.stack}`));
	page.on("console", (m) => ["error", "warning"].includes(m.type()) && trouble.push(`console: ${m.text()}`));
	page.on("response", (r) => r.status() >= 400 && trouble.push(`${r.status()} ${r.url()}`));
	page.on("requestfailed", (r) => r.failure().errorText !== "net::ERR_ABORTED" && trouble.push(`failed: ${r.url()}`));
	page.on("dialog", (d) => (trouble.push(`dialog: ${d.message()}`), d.dismiss()));
	return { page, trouble, calm: () => assert.deepEqual(trouble, []) };
}

async function startFull(t) {
	const database = path.join(makeFolder(t), "mmbisect.db");
	seed(database, "full");
	return { database, server: await startServer(t, database) };
}

async function shot(page, name) {
	if (process.env.SCREENSHOTS)
		await page.screenshot({ path: path.join(process.env.SCREENSHOTS, `${name}.png`), fullPage: true });
}

const heading = (page) => page.getByRole("heading", { level: 1 });

test("the list: headlines, what runs now, branches", async (t) => {
	const { server } = await startFull(t);
	const { page, calm } = await openPage(t);
	await page.goto(server.where);
	await heading(page).getByText("Findings").waitFor();
	assert.equal(await page.title(), "Findings · mmbisect");
	assert.equal(await page.locator("ul.cards > li").count(), 3);
	await page.getByText("madvise_call 29.3 times as high on x86_64 (thread-stack)").waitFor();
	await page.getByText("from 5,709 to 166,997 ns/call").first().waitFor();
	await page.getByText(/Building d4d4d4d4d4d4, for \d+ s of about/).waitFor();
	await page.getByText("Waiting: 1 exact.").waitFor();
	await page.getByText("refs/heads/<u>x</u>").waitFor();
	assert.match(await page.locator("time").first().getAttribute("title"), /^\d{4}-\d\d-\d\dT.*Z$/);
	calm();
});

test("a finding: three-way table, counters, steps, log, report", async (t) => {
	const { server } = await startFull(t);
	const { page, calm } = await openPage(t);
	await page.goto(server.where);
	await page.getByRole("link", { name: /^madvise_call/ }).click();
	await heading(page).getByText("madvise_call 29.3 times as high on x86_64 (thread-stack)").waitFor();
	assert.equal(new URL(page.url()).pathname, "/finding/1");
	assert.match(await page.title(), /^madvise_call 29\.3 times as high/);
	await page.getByText("from 5,709 to 166,997 ns/call, lower is better").waitFor();
	const measured = page.getByRole("table", { name: /^Median/ });
	assert.deepEqual(await measured.getByRole("rowheader").allInnerTexts().then((x) => x.map((s) => s.split("\n")[0])),
		["madvise_call", "real", "sys"]);
	assert.equal(await measured.getByRole("columnheader").count(), 5);
	const call = await measured.getByRole("row", { name: /^madvise_call/ }).innerText();
	assert.match(call, /5,709[^]*n 1[^]*×29\.3[^]*166,997[^]*×26\.7[^]*152,563[^]*–/);
	assert.match(await measured.getByRole("row", { name: /^sys/ }).innerText(), /×4\.18[^]*4\.6[^]*4\.37 – 5\.06, n 5/);
	await measured.getByText("does not revert: conflict in mm/mmap.c").waitFor();
	assert.equal(await page.getByRole("table", { name: "Counters that moved" }).getByRole("row").count(), 3);
	await page.getByText("1 counter that did not move").click();
	await page.getByRole("rowheader", { name: /^pgmajfault/ }).waitFor();
	const steps = await page.getByRole("table", { name: /^The commits that were tested/ }).innerText();
	assert.match(steps, /good[^]*bad[^]*skip[^]*build-failed: mm\/mmap\.c:12:3/);
	await page.getByText("git bisect bad b2b2b2").waitFor();
	await page.locator("pre", { hasText: "thread-stack.madvise_call" }).waitFor();
	await page.getByText("9 builds, 3 saved, 31 boots, 6 min 52 s").waitFor();
	await page.locator("section", { hasText: "Also seen in" }).getByRole("link", { name: /^thp_fault_alloc/ }).waitFor();
	assert.equal(await page.getByRole("link", { name: "c3c3c3c3c3c3" }).getAttribute("href"), `https://example.org/c/${"c3".repeat(20)}`);
	await page.goBack();
	await heading(page).getByText("Findings").waitFor();
	calm();
});

test("strangers' strings are text", async (t) => {
	const { server } = await startFull(t);
	const { page, calm } = await openPage(t);
	for (const target of ["", "finding/2", "searches", "search/2", "search/6"]) {
		await page.goto(server.url(`/${target}`));
		await page.locator("main h1").waitFor();
		assert.equal(await page.locator("main script, main img, main b b, main i, main u").count(), 0, target);
		assert.match(await page.title(), / · mmbisect$/);
		assert.equal(await page.locator("a[href^='javascript:']").count(), 0);
		assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${target}: wider than the window`);
	}
	await page.goto(server.url("/finding/2"));
	await heading(page).getByText("<i>metric</i>").waitFor();
	await page.getByText(/<script>document\.title='owned'<\/script>.*Jos\ufffd/).first().waitFor();
	await page.locator("pre", { hasText: "Report </pre><script>" }).waitFor();
	assert.match(await page.locator("section", { hasText: "What was said" }).innerText(), /wrong: it was the host root[^]*known: <b>known<\/b> \ufffd/);
	assert.doesNotMatch(await page.locator("main").innerText(), /[\u202a-\u202e]/);
	calm();
});

test("a document that cannot be read still shows its report", async (t) => {
	const { server } = await startFull(t);
	const { page, calm } = await openPage(t);
	await page.goto(server.url("/finding/3"));
	await page.getByText("cannot be read").waitFor();
	await page.getByText("the report is there").waitFor();
	calm();
});

test("a running search shows what it does and follows by itself", async (t) => {
	const { server, database } = await startFull(t);
	const { page, calm } = await openPage(t);
	await page.goto(server.url("/searches"));
	await page.getByRole("link", { name: "madvise_call on x86_64 (thread-stack)" }).first().click();
	await heading(page).getByText("Search: madvise_call on x86_64").waitFor();
	const now = page.locator("section", { has: page.getByRole("heading", { name: "Now" }) });
	await now.getByText("halves what is left: 12 candidates, about 3 steps").waitFor();
	await now.getByText(/Building d4d4d4d4d4d4, for \d+ s of about/).waitFor();
	await now.getByText("1 job waiting").waitFor();
	const steps = page.getByRole("table", { name: /^The commits of this search/ });
	assert.match(await steps.innerText(), /known good[^]*5,709[^]*known bad[^]*166,997[^]*×29\.3[^]*skip does not build[^]*in work/);

	// Nothing that stays is made anew: the marked elements are the same ones after the update, focus included.
	await page.evaluate(() => {
		document.querySelector("h1").marked = true;
		document.querySelector("table").marked = true;
		document.querySelector(".scroll").focus();
	});
	seed(database, "advance");
	await steps.getByText("5,712").waitFor();
	await now.getByText("5712 is on the good side").waitFor();
	assert.ok(await page.evaluate(() => document.querySelector("h1").marked && document.querySelector("table").marked &&
		document.activeElement === document.querySelector(".scroll")));
	calm();
});

test("searches that ended without a culprit", async (t) => {
	const { server } = await startFull(t);
	const { page, calm } = await openPage(t);
	await page.goto(server.url("/search/4"));
	await page.getByText("both ends measure the same").waitFor();
	await page.getByText("not reproduced").waitFor();
	await page.goto(server.url("/search/5"));
	await page.getByText("gave up").waitFor();
	calm();
});

test("empty states", async (t) => {
	const database = path.join(makeFolder(t), "mmbisect.db");
	seed(database, "empty");
	const server = await startServer(t, database);
	const { page, calm } = await openPage(t);
	await page.goto(server.where);
	await page.getByText("No finding yet:").waitFor();
	await page.getByText("Nothing is running.").waitFor();
	await shot(page, "empty");
	await page.getByRole("link", { name: "Searches" }).click();
	await page.getByText("No search yet:").waitFor();
	calm();
});

test("what is not there says so; a lost database and server are said and come back", async (t) => {
	const { server, database } = await startFull(t);
	const { page } = await openPage(t);
	await page.goto(server.url("/finding/99"));
	await heading(page).getByText("There is no such finding.").waitFor();
	await page.goto(server.where);
	await page.getByText("Waiting: 1 exact.").waitFor();
	renameSync(database, `${database}.away`);
	await page.getByText(/There is no database yet.*Trying again/).waitFor();
	await page.getByText("Waiting: 1 exact.").waitFor();
	await page.reload();
	await page.getByText(/This page tries again by itself/).waitFor();
	renameSync(`${database}.away`, database);
	await page.getByText("Waiting: 1 exact.").waitFor();
	await server.stop();
	await page.getByText("The server does not answer. Trying again…").waitFor();
});

test("by keyboard alone", async (t) => {
	const { server } = await startFull(t);
	const { page, calm } = await openPage(t);
	await page.goto(server.where);
	await page.locator("ul.cards > li").first().waitFor();
	await page.keyboard.press("Tab");
	assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
	for (let i = 0; i < 7; i++)
		await page.keyboard.press("Tab");
	await page.getByRole("link", { name: /^madvise_call/ }).focus();
	await page.keyboard.press("Enter");
	await heading(page).getByText("madvise_call").waitFor();
	await page.waitForFunction(() => document.activeElement.id === "main");
	calm();
});

for (const view of Object.keys(views))
	test(`pages fit: ${view}`, async (t) => {
		const { server } = await startFull(t);
		const { page, calm } = await openPage(t, view);
		for (const [name, target] of [["list", "/"], ["finding", "/finding/1"], ["hostile", "/finding/2"], ["running", "/search/6"],
			["searches", "/searches"]]) {
			await page.goto(server.url(target));
			await page.locator("main h1").waitFor();
			assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${name}: wider than the window`);
			await shot(page, `${name}-${view}`);
		}
		calm();
	});
