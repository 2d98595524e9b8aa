// SPDX-License-Identifier: GPL-2.0-or-later
// What several pages show: commits, times, badges, tables, and the sections made from the document of an answer
// (docs/architecture.md, "The document of an answer"). Every member may be missing.
import { foreign, h, withoutBidi } from "./dom.js";
import * as format from "./format.js";

const list = (x) => (Array.isArray(x) ? x : []);
const object = (x) => (x && typeof x === "object" && !Array.isArray(x) ? x : {});

/** A commit's id; a link when the document gives one that is http(s). */
export function commit(oid, link = null) {
	if (!oid)
		return "–";
	const code = h("code", { title: oid }, format.shortOid(oid));
	return /^https?:\/\//.test(link ?? "") ? h("a", { href: link, rel: "noopener noreferrer" }, code) : code;
}

export const time = (iso, onlyClock = false) =>
	iso ? h("time", { datetime: iso, title: iso }, format.localTime(iso, onlyClock)) : "–";

const badges = {
	culprit: ["bad", "culprit found"], set: ["warn", "several candidates"],
	"not-reproduced": ["plain", "not reproduced"], "gave-up": ["plain", "gave up"],
	searching: ["run", "searching"], verifying: ["run", "verifying"], done: ["plain", "done"],
	good: ["good", "good"], bad: ["bad", "bad"], skip: ["warn", "skip"],
};
export function badge(word) {
	const [look, text] = badges[word] ?? ["plain", String(word ?? "")];
	return text && h("span", { class: `badge ${look}` }, text);
}

export const empty = (...text) => h("p", { class: "empty" }, text);
export const section = (title, ...content) => h("section", {}, h("h2", {}, title), content);

/** rows: arrays of cells, the first being the row's header; a cell is content or {class, content}. A wide one scrolls by itself. */
export function table(caption, heads, rows) {
	const cell = (tag, scope) => (c) => {
		const { class: look, content } = c && c.content !== undefined ? c : { content: c };
		return h(tag, { scope, class: look }, content);
	};
	return h("figure", {}, h("figcaption", {}, caption),
		h("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: 0 },
			h("table", { "aria-label": caption },
				h("thead", {}, h("tr", {}, heads.map(cell("th", "col")))),
				h("tbody", {}, rows.map((r) => h("tr", {}, cell("th", "row")(r[0]), r.slice(1).map(cell("td"))))))));
}

const facts = (pairs) => h("dl", {}, pairs.filter(([, v]) => v !== null && v !== undefined && v !== "")
	.map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", {}, v))));

/** "madvise_call 29.3 times as high on x86_64 (thread-stack)" */
export const headline = (x) => `${x.metric} ${format.changeWords(object(x.change).ratio)} on ${x.arch} (${x.workload})`;

/** "from 5,709 to 166,997 ns/call" */
export function fromTo(change) {
	const c = object(change);
	if (c.before === undefined)
		return null;
	const exact = c.class === "exact";
	const spread = c.low !== c.high && c.low !== undefined ? `, ratio ${format.value(c.low)} to ${format.value(c.high)}` : "";
	return `from ${format.value(c.before, exact)} to ${format.value(c.after, exact)} ${c.unit ?? ""}${spread}`;
}

/* The table of rows: a line a metric, a column a row of the document. */

const isTime = (unit) => /^(ns|us|µs|ms|s)(\/|$)/.test(unit ?? "");

/** [{name, machine, unit, better, cls, cells: METRIC or undefined, a row each}] over all rows. */
function metricsOf(rows) {
	const found = new Map();
	rows.forEach((row, i) => {
		for (const [machine, metrics] of Object.entries(object(row.metrics)))
			for (const [name, m] of Object.entries(object(metrics))) {
				const key = `${machine} ${name}`;
				if (!found.has(key))
					found.set(key, { name, machine, unit: m.unit, better: m.better, cls: m.class, cells: [] });
				found.get(key).cells[i] = m;
			}
	});
	return [...found.values()];
}

const moved = (m) => new Set(m.cells.filter(Boolean).map((c) => c.median)).size > 1;

function metricCell(m, base) {
	if (!m)
		return { class: "number", content: "–" };
	const exact = m.class === "exact";
	const spread = m.low === m.high ? `n ${m.n}` : `${format.value(m.low, exact)} – ${format.value(m.high, exact)}, n ${m.n}`;
	return {
		class: "number",
		content: [m === base || !base ? null : [h("span", { class: "delta" }, format.change(base.median, m.median)), " "],
			h("b", {}, format.value(m.median, exact)),
			h("small", {}, spread)],
	};
}

function metricHead(m) {
	const words = [m.unit, m.machine === "time" ? "timing machine" : "deterministic", m.better && `${m.better} is better`];
	return [m.name, h("small", {}, words.filter(Boolean).join(", "))];
}

function rowHead(row) {
	const trouble = row.status && row.status !== "ok";
	return {
		class: "number",
		content: [foreign(row.label ?? row.row, 60), row.commit ? h("small", {}, commit(row.commit)) : null,
			trouble && h("small", { class: "trouble" }, foreign([row.status.replaceAll("-", " "), row.note].filter(Boolean).join(": "), 160))],
	};
}

function metricTable(caption, rows, metrics) {
	return table(caption, ["Metric", ...rows.map(rowHead)],
		metrics.map((m) => [metricHead(m), ...rows.map((_, i) => metricCell(m.cells[i], m.cells[0]))]));
}

export function rowsSection(doc) {
	const rows = list(doc.verify ?? doc.rows).map(object);
	if (!rows.length)
		return null;
	const all = metricsOf(rows);
	const isCounter = (m) => m.name !== doc.metric && !isTime(m.unit);
	const timed = all.filter((m) => !isCounter(m)).sort((a, b) => (b.name === doc.metric) - (a.name === doc.metric));
	const counters = all.filter(isCounter);
	const still = counters.filter((m) => !moved(m));
	return [
		section("What was measured", metricTable("Median, change against the first column, spread, number of boots", rows, timed)),
		counters.length ? section("Counters",
			still.length < counters.length
				? metricTable("Counters that moved", rows, counters.filter(moved)) : empty("No counter moved."),
			still.length ? h("details", {}, h("summary", {}, `${format.plural(still.length, "counter")} that did not move`),
				metricTable("Counters that did not move", rows, still)) : null) : null,
	];
}

export function stepsSection(doc) {
	const steps = list(doc.steps).map(object);
	if (!steps.length)
		return null;
	const exact = object(doc.change).class === "exact";
	return section("Steps", table(`The commits that were tested${doc.change?.unit ? `, ${doc.metric} in ${doc.change.unit}` : ""}`,
		["Commit", "Subject", "Side", { class: "number", content: "Value" }, "Note"],
		steps.map((s) => [commit(s.commit), { class: "text", content: foreign(s.subject, 120) }, badge(s.side),
			{ class: "number", content: format.value(s.value, exact) }, { class: "text", content: foreign(s.note ?? "", 200) }])));
}

function candidatesSection(doc) {
	const candidates = list(doc.candidates).map(object);
	if (candidates.length < 2)
		return null;
	return section("Candidates", table("Commits that it may be", ["Commit", { class: "number", content: "Probability" }],
		candidates.map((c) => [commit(c.commit), { class: "number", content: `${format.value(c.probability * 100)} %` }])));
}

const pre = (text) => h("pre", { tabindex: 0, dir: "ltr" }, withoutBidi(text));
export const textSection = (title, text) => (text ? section(title, pre(text)) : null);

function howSection(doc) {
	const cost = object(doc.cost);
	const machines = Object.entries(object(doc.machines)).map(([name, text]) => [`Machine, ${name}`, foreign(text)]);
	const spent = cost.builds === undefined ? null : [format.plural(cost.builds, "build"),
		cost.builds_saved ? `, ${cost.builds_saved} saved` : "", `, ${format.plural(cost.boots ?? 0, "boot")}, ${format.duration(cost.seconds)}`].join("");
	const pairs = [...machines, ["Toolchain", doc.toolchain && foreign(doc.toolchain)],
		["Accelerator", doc.accelerator && foreign(doc.accelerator)], ["Cost", spent]];
	return pairs.some(([, v]) => v) ? section("How", facts(pairs)) : null;
}

/** "lower is better", when a row says so. */
function direction(doc) {
	const found = list(doc.verify ?? doc.rows).flatMap((row) => Object.values(object(object(row).metrics)))
		.map((metrics) => object(metrics)[doc.metric]?.better).find(Boolean);
	return found ? `, ${found} is better` : "";
}

/** What is known of the culprit, the fix and the reason. */
export function answerFacts(doc) {
	const c = object(doc.commit);
	const fix = object(doc.fix);
	const range = object(doc.range);
	return facts([
		["Commit", c.oid && [commit(c.oid, c.link), " ", foreign(c.subject)]],
		["Author", c.author && [foreign(c.author), c.date ? [", ", time(c.date)] : null]],
		["Change", fromTo(doc.change) && [fromTo(doc.change), direction(doc)]],
		["Fix", fix.oid && [commit(fix.oid), " ", foreign(fix.subject), fix.found_by ? [h("small", {}, " found by "), foreign(fix.found_by)] : null,
			fix.ref ? [h("small", {}, " on "), foreign(fix.ref)] : null]],
		["Reason", doc.reason && foreign(doc.reason, 1000)],
		["Range", range.good && [commit(range.good), " good, ", commit(range.bad), " bad"]],
		["Tree", doc.tree && [foreign(doc.tree), doc.ref ? [" ", foreign(doc.ref)] : null]],
	]);
}

export const documentSections = (doc) => [
	rowsSection(doc), candidatesSection(doc), stepsSection(doc), textSection("Bisect log", doc.bisect_log),
	textSection("Reproduce", doc.reproduce), howSection(doc),
];

/* Jobs. */

const doing = { build: "Building", run: "Measuring" };

/** "Building 1a2b3c4d5e6f, for 12 s of about 15 s"; the seconds are kept going by app.js. */
export function jobLine(job, typical) {
	const usual = object(typical)[job.class];
	return h("li", {}, `${doing[job.kind] ?? job.kind} `, commit(job.commit),
		job.class === "build" ? null : ` (${job.class})`,
		job.started ? [", for ", h("span", { "data-since": job.started }, "…")] : null,
		usual ? `${job.started ? " of" : ","} about ${format.duration(Math.max(1, Math.round(usual)))}` : null,
		job.attempts > 1 ? `, attempt ${job.attempts}` : null,
		job.error ? [": ", foreign(job.error, 160)] : null);
}
