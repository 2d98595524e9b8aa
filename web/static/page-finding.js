// SPDX-License-Identifier: GPL-2.0-or-later
// PAGE: /finding/ID : a culprit with everything that proves it.
import { foreign, h } from "./dom.js";
import { answerFacts, badge, documentSections, empty, headline, section, textSection, time } from "./parts.js";

const mails = { queued: "the mail is waiting to be sent", sent: "mailed", failed: "the mail was not sent" };
const words = { accepted: "accepted, a new base line", known: "known", wrong: "wrong" };

function meta(f) {
	return h("p", { class: "meta" },
		h("span", {}, badge(f.verdict)), h("span", {}, "found ", time(f.created)),
		f.unproved ? h("span", {}, h("b", {}, "not proved"), ", not mailed: ", foreign(f.unproved, 300)) : null,
		f.word ? h("span", {}, h("b", {}, words[f.word] ?? f.word)) : null,
		f.mail ? h("span", {}, mails[f.mail] ?? f.mail, f.mailed ? [" ", time(f.mailed)] : null) : null,
		h("span", {}, h("a", { href: `/search/${f.search}` }, "how it was searched")));
}

/** What people said of it, the last word first. */
function wordsSection(said) {
	return said.length ? section("What was said", h("ul", { class: "plain" }, said.toReversed().map((w) =>
		h("li", {}, h("b", {}, words[w.state] ?? w.state), ": ", foreign(w.reason, 1000), h("small", {}, " ", foreign(w.who, 80), ", ", time(w.at)))))) : null;
}

/** One finding a patch: where else it was seen. */
function alsoSection(first, searches) {
	const others = searches.filter((s) => s.id !== first);
	return others.length ? section("Also seen in", h("ul", { class: "plain" }, others.map((s) =>
		h("li", {}, h("a", { href: `/search/${s.id}` }, foreign(headline(s))), " ", foreign(s.tree, 80), " ", foreign(s.ref ?? "", 80), ", ", time(s.ended))))) : null;
}

export default {
	path: /^\/finding\/([1-9]\d*)$/,
	apis: ([, id]) => [`/api/finding/${id}.json`],
	title: ([{ finding }]) => headline({ ...finding, change: finding.document?.change }),
	interval: ([{ finding }]) => (finding.mail === "queued" ? 10000 : 0),
	missing: "There is no such finding.",
	render: ([{ finding: f, searches, words: said }]) => [
		h("h1", {}, foreign(headline({ ...f, change: f.document?.change }))),
		meta(f), wordsSection(said), alsoSection(f.search, searches),
		f.document ? answerFacts(f.document)
			: [h("p", {}, foreign(f.subject)), empty("The document of this answer cannot be read; the report below is all there is.")],
		f.document ? documentSections(f.document) : null,
		textSection("Report", f.report),
	],
};
