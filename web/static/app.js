// SPDX-License-Identifier: GPL-2.0-or-later
// The front end's own loop: path -> page -> its APIs -> elements, again at the page's interval. A page is a module with
//   path      what it answers, as a regular expression
//   apis      (match) -> the JSON it needs
//   title     (data) -> text
//   render    (data) -> nodes
//   interval  (data) -> milliseconds to the next look, 0: it will not change
//   missing   what to say on 404
import { h, patchChildren } from "./dom.js";
import { duration } from "./format.js";
import finding from "./page-finding.js";
import findings from "./page-findings.js";
import search from "./page-search.js";
import searches from "./page-searches.js";
import { empty } from "./parts.js";

const pages = [findings, finding, searches, search];
const RETRY_MS = 3000;

const main = document.getElementById("main");
const notice = document.getElementById("notice");
let visit = null; // {page, match, timer, abort, shown}: what is on the screen
let serverAhead = 0; // ms that the server's clock is ahead of ours

function say(text) {
	notice.hidden = !text;
	if (notice.textContent !== text)
		notice.textContent = text;
}

function show(title, nodes) {
	document.title = `${title} · mmbisect`;
	patchChildren(main, nodes.flat(Infinity).filter(Boolean));
	tick();
}

/** Keeps "for 12 s" going between two looks. */
function tick() {
	for (const span of main.querySelectorAll("[data-since]")) {
		const text = duration(Math.max(0, Math.floor((Date.now() + serverAhead - Date.parse(span.dataset.since)) / 1000)));
		if (span.textContent !== text)
			span.textContent = text;
	}
}

async function fetchText(url, signal) {
	const response = await fetch(url, { signal, cache: "no-cache" });
	const text = await response.text();
	if (response.ok) {
		const date = Date.parse(response.headers.get("date") ?? "");
		serverAhead = Number.isNaN(date) ? 0 : date - Date.now();
		return text;
	}
	let message = `The server answers ${response.status}.`;
	try {
		message = JSON.parse(text).error ?? message;
	} catch { /* not ours: the number says enough */ }
	throw Object.assign(new Error(message), { status: response.status });
}

/** One look at the APIs of the page; returns ms to the next. */
async function look(v) {
	const texts = await Promise.all(v.page.apis(v.match).map((url) => fetchText(url, v.abort.signal)));
	const data = texts.map((t) => JSON.parse(t));
	const key = texts.join("\n");
	if (v !== visit)
		return 0;
	if (v.shown !== key)
		show(v.page.title(data), v.page.render(data));
	v.shown = key;
	say("");
	return v.page.interval(data);
}

function failed(v, error) {
	if (v !== visit || error.name === "AbortError")
		return 0;
	if (error.status === 404) {
		show("Not found", [h("h1", {}, v.page.missing ?? "There is no such page."), h("p", {}, h("a", { href: "/" }, "All findings"))]);
		return 0;
	}
	if (!v.shown)
		show("No data", [h("h1", {}, "mmbisect"), empty("Nothing can be shown yet.")]);
	say(`${error.status ? error.message : "The server does not answer."} Trying again…`);
	return RETRY_MS;
}

async function run(v) {
	clearTimeout(v.timer);
	const wait = await look(v).catch((error) => failed(v, error));
	if (v === visit && wait && !document.hidden)
		v.timer = setTimeout(run, wait, v);
	v.paused = v === visit && wait && document.hidden;
}

function markNavigation() {
	for (const a of document.querySelectorAll("nav a")) {
		if (new URL(a.href).pathname === location.pathname)
			a.setAttribute("aria-current", "page");
		else
			a.removeAttribute("aria-current");
	}
}

async function go(focus) {
	visit?.abort.abort();
	clearTimeout(visit?.timer);
	say("");
	markNavigation();
	const page = pages.find((p) => p.path.test(location.pathname));
	if (!page) {
		visit = null;
		show("Not found", [h("h1", {}, "There is no such page."), h("p", {}, h("a", { href: "/" }, "All findings"))]);
		return;
	}
	visit = { page, match: location.pathname.match(page.path), abort: new AbortController() };
	await run(visit);
	if (focus) {
		main.focus({ preventScroll: true });
		window.scrollTo(0, 0);
	}
}

const isPlainClick = (e) => e.button === 0 && !e.metaKey && !e.ctrlKey && !e.shiftKey && !e.altKey && !e.defaultPrevented;

document.addEventListener("click", (event) => {
	const a = event.target.closest?.("a[href]");
	if (!a || !isPlainClick(event) || a.origin !== location.origin || a.hash || !pages.some((p) => p.path.test(a.pathname)))
		return;
	event.preventDefault();
	if (a.pathname !== location.pathname)
		history.pushState(null, "", a.pathname);
	go(true);
});
window.addEventListener("popstate", () => go(false));
document.addEventListener("visibilitychange", () => {
	if (!document.hidden && visit?.paused)
		run(visit);
});
setInterval(tick, 1000);
go(false);
