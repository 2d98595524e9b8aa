// SPDX-License-Identifier: GPL-2.0-or-later
/* sections.h: what else has changed in the range. */
#include <math.h>

#include "daemon/report/lines.h"
#include "daemon/report/number.h"
#include "daemon/report/sections.h"
#include "daemon/report/words.h"

#define SUBJECT_COLUMNS 60
#define SET_MAX 12 /* the document has them all */

static void add_commit(struct str *out, const char *indent, const json_t *object, const char *key)
{
	(void)str_add(out, indent);
	add_short_oid(out, object, key);
	(void)str_add(out, "  ");
	add_member(out, object, "subject", SUBJECT_COLUMNS);
	(void)str_add(out, "\n");
}

/* The commit, or the commits that it may be. */
static void add_commits(struct str *out, const json_t *change)
{
	const json_t *list = json_object_get(change, "candidates");
	size_t n = json_array_size(list);

	if (json_get_string(change, "commit")) {
		add_commit(out, "  ", change, "commit");
		return;
	}
	(void)str_add(out, json_get_bool(change, "cut") ? "  not searched to its end, up to " : "  one of these, the last one is ");
	add_short_oid(out, change, "first_bad");
	(void)str_add(out, ":\n");
	for (size_t i = 0; i < n && n <= SET_MAX; i++)
		add_commit(out, "    ", json_array_get(list, i), "commit");
	if (n > SET_MAX)
		(void)str_addf(out, "    %zu commits\n", n);
}

static void add_what(struct str *out, const json_t *change)
{
	double before = json_get_number(change, "before", NAN), after = json_get_number(change, "after", NAN);
	int decimals = MAX(report_decimals(before), report_decimals(after));

	(void)str_add(out, "    ");
	add_member(out, change, "kind", 20);
	if (json_get_string(change, "recovered_by")) {
		(void)str_add(out, " by ");
		add_short_oid(out, change, "recovered_by");
	}
	if (!isnan(before) && !isnan(after)) {
		(void)str_add(out, ": ");
		report_add_number(out, before, decimals);
		(void)str_add(out, " to ");
		report_add_number(out, after, decimals);
		(void)str_add(out, ", ");
		report_add_ratio(out, before, after);
	}
	(void)str_add(out, "\n");
}

int section_changes(const json_t *document, struct str *out)
{
	const json_t *list = json_object_get(document, "changes"), *change;
	size_t i;

	json_array_foreach (list, i, change) {
		if (json_get_bool(change, "main"))
			continue;
		if (!out->len)
			(void)str_add(out, "Other changes in this range, oldest first:\n");
		add_commits(out, change);
		add_what(out, change);
	}
	return 0;
}
