// SPDX-License-Identifier: GPL-2.0-or-later
/* sections.h: what was found, and where. */
#include <math.h>

#include "daemon/report/lines.h"
#include "daemon/report/number.h"
#include "daemon/report/row.h"
#include "daemon/report/sections.h"
#include "daemon/report/table.h"

#define STEPS_SUBJECT_COLUMNS 60
#define CANDIDATES_MAX 40 /* the document has them all */

static void add_of(struct str *out, const char *before, const json_t *document, const char *key)
{
	if (!json_get_string(document, key))
		return;
	(void)str_add(out, before);
	add_member(out, document, key, 100);
}

static void add_range(struct str *out, const json_t *document)
{
	const json_t *range = json_object_get(document, "range");

	if (!json_get_string(range, "good") || !json_get_string(range, "bad"))
		return;
	(void)str_add(out, " (");
	add_short_oid(out, range, "good");
	(void)str_add(out, "..");
	add_short_oid(out, range, "bad");
	(void)str_add(out, ")");
}

static bool higher_is_better(const json_t *document)
{
	const char *const machines[] = { "exact", "time" };
	const json_t *rows = document_rows(document), *metrics, *metric;
	const char *name = json_get_string(document, "metric");

	for (size_t i = 0; name && i < json_array_size(rows); i++)
		for (size_t m = 0; m < ARRAY_SIZE(machines); m++) {
			metrics = json_object_get(json_array_get(rows, i), "metrics");
			metric = json_object_get(json_object_get(metrics, machines[m]), name);
			if (metric)
				return str_eq(json_get_string(metric, "better"), "higher");
		}
	return false;
}

/* "thread-stack got worse on x86_64: madvise_call went from 5 709 to 166 997 ns/call, ..." */
static void add_noticed(struct str *out, const json_t *document)
{
	if (document_failure(document)) {
		add_failure_noticed(out, document);
		return;
	}
	(void)str_add(out, "mmbisect noticed that the workload ");
	add_member(out, document, "workload", 40);
	(void)str_add(out, " got worse");
	add_of(out, " on ", document, "arch");
	(void)str_add(out, ": ");
	add_member(out, document, "metric", 40);
	(void)str_add(out, " went from ");
	if (!add_change(out, document))
		(void)str_add(out, "good to bad");
	(void)str_addf(out, ", %s is better.", higher_is_better(document) ? "higher" : "lower");
}

static void add_traced(struct str *out, const json_t *document, const char *to)
{
	(void)str_add(out, " A bisection");
	add_of(out, " of ", document, "tree");
	add_of(out, " ", document, "ref");
	add_range(out, document);
	(void)str_addf(out, "%s ends at %s:",
		       json_get_string(document, "base") ? ", from the merge base of good and bad on," : "", to);
}

static void greet_culprit(struct str *out, const json_t *document)
{
	add_noticed(out, document);
	add_traced(out, document, "this commit");
}

static void greet_set(struct str *out, const json_t *document)
{
	add_noticed(out, document);
	add_traced(out, document, "these commits, and cannot tell which of them it is");
}

static void greet_without(struct str *out, const json_t *document, const char *what)
{
	(void)str_addf(out, "mmbisect %s", what);
	if (document_failure(document)) {
		add_of(out, " with the workload ", document, "workload");
	} else {
		add_of(out, " ", document, "metric");
		add_of(out, " of the workload ", document, "workload");
	}
	add_of(out, " on ", document, "arch");
	add_range(out, document);
	(void)str_add(out, ". ");
	if (json_get_string(document, "reason")) {
		(void)str_add(out, "Reason: ");
		add_member(out, document, "reason", 400);
	}
}

static void greet_not_reproduced(struct str *out, const json_t *document)
{
	const char *relation = json_get_string(json_object_get(document, "change"), "relation");
	const char *what = "measured no change for the worse between good and bad in";

	if (str_eq(relation, "improved"))
		what = "measured the opposite of what was asked for: bad is better than good in";
	if (document_failure(document))
		what = "found no failure that bad has and good has not";
	if (str_eq(json_get_string(document, "side"), "good"))
		what = "found the change on the good side: good has a commit, which bad has not, that improved";
	greet_without(out, document, what);
}

static void greet_gave_up(struct str *out, const json_t *document)
{
	greet_without(out, document, document_failure(document) ? "found no culprit: it gave up" : "found no culprit: it gave up on");
}

static void greet_rows(struct str *out, const json_t *document)
{
	(void)str_add(out, "Workload ");
	add_member(out, document, "workload", 40);
	add_of(out, " on ", document, "arch");
	add_of(out, ", watched metric: ", document, "metric");
}

int section_greeting(const json_t *document, struct str *out)
{
	static const struct {
		const char *verdict;
		void (*greet)(struct str *out, const json_t *document);
	} greetings[] = {
		{ "culprit", greet_culprit },
		{ "set", greet_set },
		{ "not-reproduced", greet_not_reproduced },
		{ "gave-up", greet_gave_up },
	};
	void (*greet)(struct str *, const json_t *) =
		json_object_get(document, "rows") ? greet_rows : greet_gave_up;
	_cleanup_str_ struct str text = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(greetings); i++)
		if (str_eq(json_get_string(document, "verdict"), greetings[i].verdict))
			greet = greetings[i].greet;
	greet(&text, document);
	if (text.failed)
		return -ENOMEM;
	report_add_wrapped(out, "", "", text.data);
	return 0;
}

/* "  name   text" when the member is a string. */
static void add_field(struct str *out, const char *name, const json_t *object, const char *key)
{
	if (!json_get_string(object, key) || !*json_get_string(object, key))
		return;
	(void)str_addf(out, "  %-8s", name);
	add_member(out, object, key, 200);
	(void)str_add(out, "\n");
}

int section_commit(const json_t *document, struct str *out)
{
	const json_t *commit = json_object_get(document, "commit");

	if (!document_has_culprit(document))
		return 0;
	add_field(out, "commit", document, "culprit");
	add_field(out, "", commit, "subject");
	add_field(out, "author", commit, "author");
	add_field(out, "date", commit, "date");
	add_field(out, "link", commit, "link");
	return 0;
}

/* A commit's subject is known where the bisection went by. */
static const char *subject_of(const json_t *document, const char *oid)
{
	const json_t *steps = json_object_get(document, "steps");

	for (size_t i = 0; i < json_array_size(steps); i++)
		if (str_eq(json_get_string(json_array_get(steps, i), "commit"), oid))
			return json_get_string(json_array_get(steps, i), "subject");
	return NULL;
}

int section_candidates(const json_t *document, struct str *out)
{
	const json_t *list = json_object_get(document, "candidates");
	size_t n = json_array_size(list), shown = MIN(n, (size_t)CANDIDATES_MAX);

	if (document_has_culprit(document))
		return 0;
	if (n && str_eq(json_get_string(document, "verdict"), "gave-up"))
		(void)str_add(out, "The likeliest commits until then:\n");
	for (size_t i = 0; i < shown; i++) {
		const json_t *candidate = json_array_get(list, i);
		const char *subject = json_get_string(candidate, "subject");
		double probability = json_get_number(candidate, "probability", NAN);

		(void)str_add(out, "  ");
		add_short_oid(out, candidate, "commit");
		if (!isnan(probability)) {
			(void)str_addf(out, "  ");
			report_add_number(out, probability * 100, 0);
			(void)str_add(out, " %");
		}
		(void)str_add(out, "  ");
		if (!subject)
			subject = subject_of(document, json_get_string(candidate, "commit"));
		report_add_line(out, subject, STEPS_SUBJECT_COLUMNS);
		(void)str_add(out, "\n");
	}
	if (n > shown)
		(void)str_addf(out, "  (and %zu more)\n", n - shown);
	return 0;
}

int section_table(const json_t *document, struct str *out)
{
	return report_table_rows(document_rows(document), json_get_string(document, "metric"), out);
}

int section_counters(const json_t *document, struct str *out)
{
	return report_table_counters(document_rows(document), json_get_string(document, "metric"), out);
}
