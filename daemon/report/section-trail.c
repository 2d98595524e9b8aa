// SPDX-License-Identifier: GPL-2.0-or-later
/* sections.h: how it was found, and how to find it again. */
#include <math.h>

#include "daemon/report/lines.h"
#include "daemon/report/number.h"
#include "daemon/report/sections.h"

#define SUBJECT_COLUMNS 46
#define STEPS_MAX 200 /* beyond it a list is no reading; the log has them all */

/* "  name  text", wrapped. */
static void add_wrapped_field(struct str *out, const char *name, const char *text)
{
	_cleanup_free_ char *clean = NULL;
	char indent[32];

	if (!text || !*text)
		return;
	clean = report_line(text);
	if (!clean) {
		out->failed = true;
		return;
	}
	(void)snprintf(indent, sizeof(indent), "  %-13s", name);
	report_add_wrapped(out, indent, "               ", clean);
}

static void add_cost(struct str *out, const json_t *document)
{
	const json_t *cost = json_object_get(document, "cost");
	_cleanup_str_ struct str text = STR_INIT;
	char duration[32];

	if (!json_is_object(cost))
		return;
	(void)str_addf(&text, "%lld builds (%lld saved), %lld boots, %s",
		       (long long)json_get_int(cost, "builds", 0),
		       (long long)json_get_int(cost, "builds_saved", 0),
		       (long long)json_get_int(cost, "boots", 0),
		       str_duration(json_get_number(cost, "seconds", 0), duration));
	add_wrapped_field(out, "cost", text.data);
}

int section_made_with(const json_t *document, struct str *out)
{
	const json_t *machines = json_object_get(document, "machines");
	_cleanup_str_ struct str text = STR_INIT;

	add_wrapped_field(&text, "exact", json_get_string(machines, "exact"));
	add_wrapped_field(&text, "time", json_get_string(machines, "time"));
	add_wrapped_field(&text, "accelerator", json_get_string(document, "accelerator"));
	add_wrapped_field(&text, "toolchain", json_get_string(document, "toolchain"));
	add_cost(&text, document);
	if (text.failed)
		return -ENOMEM;
	if (text.len)
		(void)str_addf(out, "Measured with:\n%s", text.data);
	return 0;
}

/* A command is for copying: it is not wrapped. */
int section_reproduce(const json_t *document, struct str *out)
{
	if (!json_get_string(document, "reproduce"))
		return 0;
	(void)str_add(out, "To reproduce:\n  ");
	add_member(out, document, "reproduce", REPORT_LINE_OCTETS);
	(void)str_add(out, "\n");
	return 0;
}

/* As wide as "good", so that the numbers stand below each other. */
static void add_side(struct str *out, const char *side)
{
	_cleanup_str_ struct str text = STR_INIT;

	report_add_line(&text, side, 4);
	(void)str_add(out, text.data);
	for (size_t n = report_width(text.data); n < 4; n++)
		(void)str_add(out, " ");
}

/* Some commit was run more than once: each has its number of runs, and its value is a median. */
static bool has_runs(const json_t *steps)
{
	for (size_t i = 0; i < json_array_size(steps); i++)
		if (json_get_int(json_array_get(steps, i), "n", 0) > 1)
			return true;
	return false;
}

static void add_step(struct str *out, const json_t *step, bool with_value, bool with_runs)
{
	double value = json_get_number(step, "value", NAN);
	_cleanup_str_ struct str number = STR_INIT;

	if (!isnan(value))
		report_add_value(&number, value);
	(void)str_add(out, "  ");
	add_short_oid(out, step, "commit");
	(void)str_add(out, "  ");
	add_side(out, str_eq(json_get_string(step, "side"), "unknown") ? "?" : json_get_string(step, "side"));
	if (with_value)
		(void)str_addf(out, "  %12s", number.data);
	(void)str_add(out, "  ");
	if (with_runs)
		(void)str_addf(out, "n=%-3lld  ", (long long)json_get_int(step, "n", 0));
	add_member(out, step, "subject", SUBJECT_COLUMNS);
	if (json_get_string(step, "note")) {
		(void)str_add(out, "\n                      ");
		add_member(out, step, "note", REPORT_PROSE_COLUMNS);
	}
	(void)str_add(out, "\n");
}

int section_steps(const json_t *document, struct str *out)
{
	const json_t *steps = json_object_get(document, "steps");
	size_t n = json_array_size(steps), shown = MIN(n, (size_t)STEPS_MAX);
	const bool runs = has_runs(steps);

	if (!n)
		return 0;
	(void)str_addf(out, "Steps of the bisection%s:\n",
		       document_failure(document) ? " (n runs, how they ended)" : runs ? " (medians of n runs)" : "");
	for (size_t i = 0; i < shown; i++)
		add_step(out, json_array_get(steps, i), !document_failure(document), runs);
	if (n > shown)
		(void)str_addf(out, "  (and %zu more)\n", n - shown);
	return 0;
}

/* Lines as they are, not indented: what lies between the marks goes into `git bisect replay`. */
int section_log(const json_t *document, struct str *out)
{
	const char *log = json_get_string(document, "bisect_log");

	if (!log || !*log)
		return 0;
	(void)str_add(out, "For git bisect replay:\n\n");
	while (*log) {
		size_t len = strcspn(log, "\n");
		_cleanup_free_ char *line = strndup(log, len), *clean = line ? report_line(line) : NULL;

		if (!clean)
			return -ENOMEM;
		if (*clean)
			(void)str_addf(out, "%s\n", clean);
		log += len;
		log += *log == '\n';
	}
	return 0;
}

int section_footer(const json_t *document, struct str *out)
{
	const char *reporter = json_get_string(document, "reporter");

	if (!document_has_culprit(document) && !str_eq(json_get_string(document, "verdict"), "set"))
		return 0;
	report_add_wrapped(out, "", "",
			   "This was found and written by a machine; no person has checked it, and the cause may lie "
			   "elsewhere. Other workloads and machines may show other numbers.");
	if (json_get_string(document, "ref")) /* of a watched branch: this is a mail */
		report_add_wrapped(out, "", "", "If it is wrong, intended or already fixed, please reply to this mail.");
	(void)str_add(out, "\nIf you fix this in a commit of its own, please add\n  Reported-by: ");
	report_add_line(out, reporter ? reporter : "mmbisect", 200);
	(void)str_add(out, "\n");
	if (document_has_culprit(document)) {
		(void)str_add(out, "  Fixes: ");
		add_short_oid(out, document, "culprit");
		(void)str_add(out, " (\"");
		add_member(out, json_object_get(document, "commit"), "subject", 200);
		(void)str_add(out, "\")\n");
	}
	return 0;
}
