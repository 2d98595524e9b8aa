// SPDX-License-Identifier: GPL-2.0-or-later
// PAGE: /searches : all bisections, running ones first.
import { foreign, h } from "./dom.js";
import { changeWords, plural } from "./format.js";
import { badge, commit, empty, time } from "./parts.js";

const jobs = (s) => [s.jobs_running && `${s.jobs_running} running`, s.jobs_queued && `${s.jobs_queued} waiting`,
	`${plural(s.jobs_ended, "job")} done`].filter(Boolean).join(", ");

function card(s) {
	return h("li", {},
		h("h2", {}, h("a", { href: `/search/${s.id}` }, foreign(`${s.metric} on ${s.arch} (${s.workload})`)), " ", badge(s.verdict ?? s.state)),
		h("p", {}, commit(s.good), " good, ", commit(s.bad), " bad",
			s.change ? `: ${changeWords(s.change.ratio)}` : null, s.culprit ? ["; culprit ", commit(s.culprit)] : null),
		s.reason ? h("p", {}, foreign(s.reason)) : null,
		h("p", { class: "meta" }, h("span", {}, foreign(s.tree, 80), " ", foreign(s.ref ?? "", 80)), h("span", {}, jobs(s)),
			h("span", {}, "started ", time(s.created)), s.ended ? h("span", {}, "ended ", time(s.ended)) : null,
			s.finding ? h("span", {}, h("a", { href: `/finding/${s.finding}` }, "finding")) : null));
}

export default {
	path: /^\/searches$/,
	apis: () => ["/api/searches.json"],
	title: () => "Searches",
	interval: ([{ searches }]) => (searches.some((s) => s.state !== "done") ? 3000 : 10000),
	render: ([{ searches, counts }]) => [
		h("h1", {}, "Searches"),
		searches.length ? h("ul", { class: "cards" }, searches.map(card))
			: empty("No search yet: one starts when the tip of a watched branch measures worse than before."),
		counts.searches > searches.length ? h("p", {}, `${searches.length} of ${counts.searches}.`) : null,
	],
};
