// SPDX-License-Identifier: GPL-2.0-or-later
/* sections.h: what a search among noisy runs knows of its answer, and what it would need to know more. */
#include <math.h>

#include "daemon/report/lines.h"
#include "daemon/report/number.h"
#include "daemon/report/sections.h"

static void add_share(struct str *out, double share)
{
	report_add_number(out, share * 100, 0);
}

/* "This commit explains 96 % of the change (45 to 147 %, with 95 % confidence)." */
static void add_explained(struct str *out, const json_t *document)
{
	const json_t *explained = json_object_get(document, "explained");
	double value = json_get_number(explained, "value", NAN), low = json_get_number(explained, "low", NAN),
	       high = json_get_number(explained, "high", NAN);

	if (isnan(value) || isnan(low) || isnan(high))
		return;
	(void)str_add(out, "This commit makes ");
	add_share(out, value);
	(void)str_add(out, " % of the change (");
	add_share(out, low);
	(void)str_add(out, " to ");
	add_share(out, high);
	(void)str_add(out, " %, with 95 % confidence).");
}

static void add_rest(struct str *out, const json_t *document)
{
	const json_t *partial = json_object_get(document, "partial");

	if (!json_get_string(partial, "good") || !json_get_string(partial, "bad"))
		return;
	(void)str_add(out, " The rest has another cause, between ");
	add_short_oid(out, partial, "good");
	(void)str_add(out, " and ");
	add_short_oid(out, partial, "bad");
	(void)str_add(out, ": search there for it.");
}

static void add_effect(struct str *out, const json_t *document)
{
	double effect = json_get_number(document, "effect", NAN);

	if (isnan(effect) || effect <= 0)
		return;
	(void)str_add(out, "The change is ");
	report_add_value(out, effect);
	(void)str_add(out, " times as large as the spread (standard deviation) of one run. ");
}

/* Where the ends have had enough runs, runs are not what was missing. */
static void add_runs_needed(struct str *out, const json_t *document)
{
	const json_t *change = json_object_get(document, "change");
	double needed = json_get_number(document, "runs_needed", 0);
	int64_t had = MIN(json_get_int(change, "n_before", 0), json_get_int(change, "n_after", 0));

	if (!str_eq(json_get_string(document, "verdict"), "gave-up") || needed <= (double)had)
		return;
	(void)str_add(out, "It is too noisy: each end had ");
	report_add_number(out, (double)had, 0);
	(void)str_add(out, " runs, and about ");
	report_add_number(out, needed, 0);
	(void)str_add(out, " are needed to see a change of this size (--max-runs).");
}

int section_noise(const json_t *document, struct str *out)
{
	_cleanup_str_ struct str text = STR_INIT;

	if (document_failure(document))
		return 0; /* its reason says it all */
	if (document_has_culprit(document)) {
		add_effect(&text, document);
		add_explained(&text, document);
		add_rest(&text, document);
	} else {
		add_runs_needed(&text, document);
	}
	if (text.failed)
		return -ENOMEM;
	if (text.len)
		report_add_wrapped(out, "", "", text.data);
	return 0;
}
