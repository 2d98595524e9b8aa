// SPDX-License-Identifier: GPL-2.0-or-later
/* sections.h: does the proof show the change, and how often is such a search wrong? */
#include <math.h>

#include "daemon/report/lines.h"
#include "daemon/report/number.h"
#include "daemon/report/sections.h"

/* Of a proof that shows the change the table and the checks say all; only what took runs of its own is told here. */
static void add_proof(struct str *out, const json_t *document)
{
	const json_t *proof = json_object_get(document, "proof");
	const char *state = json_get_string(proof, "state");

	if (str_eq(state, "not-shown"))
		(void)str_add(out, "NOT PROVED, and not mailed: when culprit and parent were measured for the proof, the change did not show. ");
	else if (str_eq(state, "not-measured"))
		(void)str_add(out, "Not proved: culprit and parent were not measured side by side: ");
	else if (str_eq(state, "shown") && json_get_number(proof, "pairs", 0) > 0)
		(void)str_add(out, "Proved by runs made after the verdict, in turns: ");
	else
		return;
	add_member(out, proof, "reason", 300);
	(void)str_add(out, ".");
}

/* The record of the judge in made-up histories, where the truth is known. */
static void add_audit(struct str *out, const json_t *document)
{
	const json_t *audit = json_object_get(document, "audit");
	double effect = json_get_number(audit, "effect", NAN), trials = json_get_number(audit, "trials", 0),
	       wrong = json_get_number(audit, "wrong", NAN), right = json_get_number(audit, "right", NAN),
	       most = json_get_number(audit, "wrong_most", NAN);

	if (isnan(effect) || isnan(wrong) || isnan(right) || isnan(most) || trials <= 0)
		return;
	(void)str_addf(out, "%sHow far to trust it: at a change of ", out->len ? " " : "");
	report_add_value(out, effect);
	(void)str_add(out, " standard deviations this search names a wrong commit in less than ");
	report_add_number(out, 100 * most, 1);
	(void)str_add(out, " of 100 (95 % bound; ");
	report_add_number(out, wrong, 0);
	(void)str_add(out, " wrong, ");
	report_add_number(out, right, 0);
	(void)str_add(out, " right, ");
	report_add_number(out, trials - wrong - right, 0);
	(void)str_add(out, " without an answer of ");
	report_add_number(out, trials, 0);
	(void)str_add(out, " simulated searches).");
}

int section_proof(const json_t *document, struct str *out)
{
	_cleanup_str_ struct str text = STR_INIT;

	if (!document_has_culprit(document))
		return 0;
	add_proof(&text, document);
	add_audit(&text, document);
	if (text.failed)
		return -ENOMEM;
	if (text.len)
		report_add_wrapped(out, "", "", text.data);
	return 0;
}
