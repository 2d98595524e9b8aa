// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/report/text.h"

#include <math.h>

#include "daemon/report/lines.h"
#include "daemon/report/number.h"
#include "daemon/report/sections.h"
#include "daemon/report/words.h"

/* The most important first. */
static const report_section_fn sections[] = {
	section_greeting, section_commit, section_proof,    section_noise,	section_candidates, section_failure,
	section_changes,  section_table,  section_checks,   section_words,	section_counters,   section_made_with,
	section_reproduce, section_steps, section_log,	    section_footer,
};

const json_t *document_rows(const json_t *document)
{
	const json_t *rows = json_object_get(document, "rows");

	return rows ? rows : json_object_get(document, "verify");
}

bool document_is_finding(const json_t *document)
{
	return !json_object_get(document, "rows") && report_row(document_rows(document), "parent", NULL);
}

bool document_has_culprit(const json_t *document)
{
	return str_eq(json_get_string(document, "verdict"), "culprit");
}

void add_member(struct str *out, const json_t *object, const char *key, size_t columns)
{
	report_add_line(out, json_get_string(object, key), columns);
}

void add_short_oid(struct str *out, const json_t *object, const char *key)
{
	const char *oid = json_get_string(object, key);

	if (oid && str_is_oid(oid))
		(void)str_addf(out, "%.12s", oid);
}

bool add_change(struct str *out, const json_t *document)
{
	const json_t *change = json_object_get(document, "change");
	double before = json_get_number(change, "before", NAN), after = json_get_number(change, "after", NAN);
	int decimals = MAX(report_decimals(before), report_decimals(after));

	if (isnan(before) || isnan(after))
		return false;
	report_add_number(out, before, decimals);
	(void)str_add(out, " to ");
	report_add_number(out, after, decimals);
	(void)str_add(out, " ");
	add_member(out, change, "unit", 16);
	(void)str_add(out, ", ");
	report_add_ratio(out, before, after);
	return true;
}

int report_text(const json_t *document, struct str *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		_cleanup_str_ struct str part = STR_INIT;
		int r = sections[i](document, &part);

		if (r < 0)
			return r;
		if (part.failed)
			return -ENOMEM;
		if (part.len)
			(void)str_addf(out, "%s%s", i ? "\n" : "", part.data);
	}
	return out->failed ? -ENOMEM : 0;
}

/* What there is to say of an answer without a single culprit. */
static void add_other_subject(const json_t *document, struct str *out)
{
	add_member(out, document, "workload", 40);
	(void)str_add(out, " on ");
	add_member(out, document, "arch", 16);
	(void)str_add(out, ": ");
	add_member(out, document, json_get_string(document, "verdict") ? "verdict" : "status", 40);
}

int report_subject(const json_t *document, struct str *out)
{
	const json_t *commit = json_object_get(document, "commit"), *change = json_object_get(document, "change");
	double before = json_get_number(change, "before", NAN), after = json_get_number(change, "after", NAN);

	(void)str_add(out, "[mmbisect] ");
	if (!document_has_culprit(document)) {
		add_other_subject(document, out);
		return out->failed ? -ENOMEM : 0;
	}
	if (document_failure(document)) {
		add_failure_subject(out, document);
	} else {
		add_member(out, document, "workload", 40);
		(void)str_add(out, " ");
		add_member(out, document, "metric", 40);
		(void)str_add(out, ": ");
	}
	if (!isnan(before) && !isnan(after)) {
		report_add_ratio(out, before, after);
		(void)str_add(out, " since ");
	}
	add_short_oid(out, document, "culprit");
	(void)str_add(out, " (\"");
	add_member(out, commit, "subject", 100);
	(void)str_add(out, "\")");
	return out->failed ? -ENOMEM : 0;
}
