// SPDX-License-Identifier: GPL-2.0-or-later
// PAGE: /finding/ID : a culprit with everything that proves it.
import { foreign, h } from "./dom.js";
import { answerFacts, badge, documentSections, empty, headline, textSection, time } from "./parts.js";

const mails = { queued: "the mail is waiting to be sent", sent: "mailed", failed: "the mail could not be sent" };

function meta(f) {
	return h("p", { class: "meta" },
		h("span", {}, badge(f.verdict)), h("span", {}, "found ", time(f.created)),
		f.mail ? h("span", {}, mails[f.mail] ?? f.mail, f.mailed ? [" ", time(f.mailed)] : null) : null,
		h("span", {}, h("a", { href: `/search/${f.search}` }, "how it was searched")));
}

export default {
	path: /^\/finding\/([1-9]\d*)$/,
	apis: ([, id]) => [`/api/finding/${id}.json`],
	title: ([{ finding }]) => headline({ ...finding, change: finding.document?.change }),
	interval: ([{ finding }]) => (finding.mail === "queued" ? 10000 : 0),
	missing: "There is no such finding.",
	render: ([{ finding: f }]) => [
		h("h1", {}, foreign(headline({ ...f, change: f.document?.change }))),
		meta(f),
		f.document ? answerFacts(f.document)
			: [h("p", {}, foreign(f.subject)), empty("The document of this answer cannot be read; the report below is all there is.")],
		f.document ? documentSections(f.document) : null,
		textSection("Report", f.report),
	],
};
