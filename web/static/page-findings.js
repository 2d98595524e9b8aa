// SPDX-License-Identifier: GPL-2.0-or-later
// PAGE: / : the list of findings, and what goes on now.
import { foreign, h } from "./dom.js";
import { plural } from "./format.js";
import { commit, empty, fromTo, headline, jobLine, section, time } from "./parts.js";

function card(f) {
	return h("li", {},
		h("h2", {}, h("a", { href: `/finding/${f.id}` }, foreign(headline(f)))),
		h("p", {}, commit(f.culprit), " ", foreign(f.subject, 160)),
		h("p", { class: "meta" }, [
			f.unproved ? h("b", {}, "not proved") : null, f.word ? h("b", {}, f.word) : null, f.searches > 1 ? `seen in ${f.searches} searches` : null,
			fromTo(f.change), f.fix ? "a fix is known" : null, [foreign(f.tree, 80), " ", foreign(f.ref ?? "", 80)], time(f.created),
		].filter(Boolean).map((x) => h("span", {}, x))));
}

function now(status) {
	const waiting = status.queue.map((q) => `${q.n} ${q.class}`).join(", ");
	return section("Now",
		status.jobs.length ? h("ul", { class: "jobs" }, status.jobs.map((j) => jobLine(j, status.typical_seconds))) : empty("Nothing is running."),
		waiting ? h("p", {}, `Waiting: ${waiting}.`) : null,
		status.counts.open_searches
			? h("p", {}, h("a", { href: "/searches" }, `${plural(status.counts.open_searches, "search", "searches")} under way`), ".") : null);
}

function refs(status) {
	return section("Watched branches", status.refs.length
		? h("ul", { class: "plain" }, status.refs.slice(0, 20).map((r) =>
			h("li", {}, foreign(r.tree, 80), " ", foreign(r.ref, 80), ": ", r.commit ? commit(r.commit) : "gone", ", ", time(r.at))))
		: empty("No branch was seen yet."));
}

export default {
	path: /^\/(?:index\.html)?$/,
	apis: () => ["/api/findings.json", "/api/status.json"],
	title: () => "Findings",
	interval: ([, status]) => (status.jobs.length ? 3000 : 10000),
	render: ([{ findings, counts }, status]) => [
		h("h1", {}, "Findings"),
		findings.length ? h("ul", { class: "cards" }, findings.map(card))
			: empty("No finding yet: none of the watched branches got slower, or nothing was measured so far."),
		counts.findings > findings.length ? h("p", {}, `The newest ${findings.length} of ${counts.findings}.`) : null,
		now(status), refs(status),
	],
};
