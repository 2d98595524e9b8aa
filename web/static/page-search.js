// SPDX-License-Identifier: GPL-2.0-or-later
// PAGE: /search/ID : one bisection, while it runs and after.
import { foreign, h } from "./dom.js";
import * as format from "./format.js";
import { answerFacts, badge, commit, documentSections, empty, jobLine, section, table, time } from "./parts.js";

const QUEUE_SHOWN = 5;

function meta(s) {
	return h("p", { class: "meta" },
		h("span", {}, badge(s.verdict ?? s.state)), s.verdict && s.state !== "done" ? h("span", {}, badge(s.state)) : null,
		h("span", {}, commit(s.good), " good, ", commit(s.bad), " bad"), h("span", {}, foreign(s.tree, 80), " ", foreign(s.ref ?? "", 80)),
		s.first_parent ? h("span", {}, "first parents only") : null,
		h("span", {}, "started ", time(s.created)), s.ended ? h("span", {}, "ended ", time(s.ended)) : null,
		s.finding ? h("span", {}, h("a", { href: `/finding/${s.finding}` }, "finding")) : null);
}

function now({ jobs, log, typical_seconds: typical }) {
	const running = jobs.filter((j) => j.state === "leased");
	const queued = jobs.filter((j) => j.state === "queued");
	const last = log.at(-1);
	return section("Now",
		h("div", { "aria-live": "polite" }, last ? h("p", {}, foreign(last.reason)) : null),
		running.length ? h("ul", { class: "jobs" }, running.map((j) => jobLine(j, typical)))
			: empty(queued.length ? "Waiting for its turn." : "Deciding what to measure next."),
		queued.length ? [h("h3", {}, `${format.plural(queued.length, "job")} waiting`),
			h("ul", { class: "plain" }, queued.slice(0, QUEUE_SHOWN).map((j) => jobLine(j, typical)))] : null);
}

function state(step) {
	const roles = [step.is_good && "known good", step.is_bad && "known bad"].filter(Boolean).join(", ");
	if (step.running)
		return "in work";
	if (step.build === "build-failed")
		return [badge("skip"), " does not build"];
	if (step.run && step.run !== "ok")
		return foreign(step.run.replaceAll("-", " "), 40);
	return roles || (step.n ? "measured" : "");
}

function steps({ steps: rows, search }) {
	const base = rows.find((r) => r.is_good)?.median;
	const unit = rows.find((r) => r.unit)?.unit;
	return section("Steps so far", table(`The commits of this search${unit ? `, ${search.metric} in ${unit}` : ""}`,
		["Commit", "State", { class: "number", content: "Value" }, { class: "number", content: "Against good" }, "Note"],
		rows.map((r) => [commit(r.commit), { class: "state", content: state(r) },
			{ class: "number", content: r.n ? [h("b", {}, format.value(r.median, r.class === "exact")), h("small", {}, r.low === r.high ? `n ${r.n}`
				: `${format.value(r.low)} – ${format.value(r.high)}, n ${r.n}`)] : "–" },
			{ class: "number", content: r.n && !r.is_good ? format.change(base, r.median) : "" },
			{ class: "text", content: foreign(r.build_error ?? r.run_error ?? "", 200) }])));
}

const log = (entries) => section("Log", entries.length ? table("What it did, and why", ["Time", "Action", "Commit", "Reason"],
	entries.map((e) => [time(e.at, true), foreign(e.action, 60), e.commit ? commit(e.commit) : "",
		{ class: "text", content: foreign(e.reason) }])) : empty("No entry yet."));

function body(data) {
	const { search } = data;
	if (search.state !== "done")
		return [now(data), steps(data), log(data.log)];
	if (!search.document)
		return [empty("This search ended without a document that can be read."), steps(data), log(data.log)];
	return [answerFacts(search.document), documentSections(search.document), log(data.log)];
}

export default {
	path: /^\/search\/([1-9]\d*)$/,
	apis: ([, id]) => [`/api/search/${id}.json`],
	title: ([{ search: s }]) => `Search: ${s.metric} on ${s.arch} (${s.workload})`,
	interval: ([{ search }]) => (search.state === "done" ? 0 : 2000),
	missing: "There is no such search.",
	render: ([data]) => [
		h("h1", {}, foreign(`Search: ${data.search.metric} on ${data.search.arch} (${data.search.workload})`)),
		meta(data.search), body(data),
	],
};
