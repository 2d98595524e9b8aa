// SPDX-License-Identifier: GPL-2.0-or-later
/* sections.h: what the samples say, and no more. */
#include "daemon/report/lines.h"
#include "daemon/report/row.h"
#include "daemon/report/sections.h"
#include "daemon/report/table.h"
#include "daemon/report/words.h"

/* Whether a column of two rows can be compared: 1 and *ret, 0 no, or negative errno. */
static int compare_rows(const json_t *before, const json_t *after, const struct report_column *column,
			struct judge_comparison *ret)
{
	_cleanup_metric_ struct report_metric a = REPORT_METRIC_INIT, b = REPORT_METRIC_INIT;
	int r = report_metric_get(before, column->machine, column->metric, &a);

	if (r > 0)
		r = report_metric_get(after, column->machine, column->metric, &b);
	if (r <= 0)
		return r;
	r = report_compare(&a, &b, ret);
	return r == -ENOMEM ? r : r == 0;
}

static int add_words(struct str *out, const json_t *before, const json_t *after,
		     const struct report_column *column)
{
	_cleanup_metric_ struct report_metric a = REPORT_METRIC_INIT, b = REPORT_METRIC_INIT;
	_cleanup_str_ struct str text = STR_INIT;
	int r = report_metric_get(before, column->machine, column->metric, &a);

	if (r > 0)
		r = report_metric_get(after, column->machine, column->metric, &b);
	if (r <= 0)
		return r;
	r = report_words(column->metric, &a, &b, &text, NULL);
	if (r == -EINVAL)
		return 0;
	if (r >= 0)
		report_add_wrapped(out, "  ", "    ", text.data);
	return r;
}

/* One row held against another, metric by metric; the driver, which is last, comes first. */
static int add_pair(struct str *out, const json_t *document, size_t before, size_t after)
{
	const json_t *rows = document_rows(document);
	const json_t *a = json_array_get(rows, before), *b = json_array_get(rows, after);
	struct report_column columns[REPORT_COLUMNS_MAX];
	size_t n = report_columns(rows, json_get_string(document, "metric"), columns);
	_cleanup_str_ struct str text = STR_INIT;
	char x[16], y[16];
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++)
		r = add_words(&text, a, b, &columns[i ? i - 1 : n - 1]);
	if (r < 0 || text.failed)
		return -ENOMEM;
	if (text.len)
		(void)str_addf(out, "%s against %s [95 %% interval]:\n%s", report_letter(after, y),
			       report_letter(before, x), text.data);
	return 0;
}

static int add_remark(struct str *out, const json_t *document, size_t before, size_t after)
{
	const json_t *rows = document_rows(document);
	_cleanup_str_ struct str text = STR_INIT;
	int r = report_work_remark(json_array_get(rows, before), json_array_get(rows, after),
				   json_get_string(document, "metric"), &text);

	if (r >= 0 && text.len)
		report_add_wrapped(out, "  ", "  ", text.data);
	return r;
}

int section_words(const json_t *document, struct str *out)
{
	static const struct {
		const char *before, *after;
		bool remark;
	} pairs[] = {
		{ "parent", "culprit", true },
		{ "culprit", "fixed", false },
		{ "culprit", "reverted", false },
	};
	const json_t *rows = document_rows(document);
	size_t before, after;
	int r = 0;

	if (!document_is_finding(document)) {
		for (size_t i = 1; i < json_array_size(rows) && r >= 0; i++) {
			r = add_pair(out, document, 0, i);
			if (r >= 0)
				r = add_remark(out, document, 0, i);
		}
		return r;
	}
	for (size_t i = 0; i < ARRAY_SIZE(pairs) && r >= 0; i++) {
		if (!report_row(rows, pairs[i].before, &before) || !report_row(rows, pairs[i].after, &after))
			continue;
		r = add_pair(out, document, before, after);
		if (r >= 0 && pairs[i].remark)
			r = add_remark(out, document, before, after);
	}
	return r;
}

/* The metric that was searched, on the machine where it was. */
static bool driver_column(const json_t *document, struct report_column *ret)
{
	struct report_column columns[REPORT_COLUMNS_MAX];
	const char *metric = json_get_string(document, "metric");
	size_t n = report_columns(document_rows(document), metric, columns);

	for (size_t i = n; metric && i-- > 0;)
		if (str_eq(columns[i].metric, metric)) {
			*ret = columns[i];
			return true;
		}
	return false;
}

/* "worse than A", ... */
static void add_relation(struct str *out, enum judge_relation relation, size_t before)
{
	static const char *const words[] = {
		[JUDGE_SAME] = "as",
		[JUDGE_WORSE] = "worse than",
		[JUDGE_IMPROVED] = "better than",
		[JUDGE_UNCLEAR] = "no difference shown to",
	};
	char letter[16];

	(void)str_addf(out, "%s %s", words[relation], report_letter(before, letter));
}

/* Of a row that is held against the parent: is the change there, too? */
static const char *const places[] = {
	[JUDGE_SAME] = "gone",
	[JUDGE_WORSE] = "still there",
	[JUDGE_IMPROVED] = "gone",
	[JUDGE_UNCLEAR] = "not clear",
};

/* "still there on head of t next: E is " */
static void add_place(struct str *out, const json_t *document, const char *row, const char *verdict)
{
	char letter[16];
	size_t at;
	const json_t *r = report_row(document_rows(document), row, &at);

	(void)str_addf(out, "%s at the ", verdict);
	add_member(out, r, "label", 60);
	(void)str_addf(out, ": %s is ", report_letter(at, letter));
}

/* A row against one or two others, by the driver alone. Words for the first relation are said before it. */
static int add_check(struct str *out, const json_t *document, const char *row, const char *const against[2],
		     const char *const *verdicts)
{
	const json_t *rows = document_rows(document), *after = report_row(rows, row, NULL);
	struct report_column column;
	size_t at, other, n = 0;
	char letter[16];

	if (!driver_column(document, &column) || !report_row(rows, row, &at))
		return 0;
	if (!verdicts)
		(void)str_addf(out, "%s is ", report_letter(at, letter));
	for (size_t i = 0; i < 2; i++) {
		const json_t *before = against[i] ? report_row(rows, against[i], &other) : NULL;
		struct judge_comparison c;
		int r = before ? compare_rows(before, after, &column, &c) : 0;

		if (r < 0)
			return r;
		if (!r)
			continue;
		if (verdicts && !n)
			add_place(out, document, row, verdicts[c.relation]);
		(void)str_add(out, n++ ? ", " : "");
		add_relation(out, c.relation, other);
	}
	if (!n && verdicts)
		(void)str_addf(out, "%s is ", report_letter(at, letter));
	if (!n)
		(void)str_add(out, "not measured");
	return (int)n;
}

/* `subject of the fix (abcdef123456, found by: Fixes: trailer): ` */
static void add_fix(struct str *out, const json_t *document)
{
	const json_t *fix = json_object_get(document, "fix");

	if (!json_is_object(fix))
		return;
	add_short_oid(out, fix, "oid");
	(void)str_add(out, " (\"");
	add_member(out, fix, "subject", 100);
	(void)str_add(out, "\"");
	if (json_get_string(fix, "found_by")) {
		(void)str_add(out, ", found by: ");
		add_member(out, fix, "found_by", 60);
	}
	(void)str_add(out, "): ");
}

/* "also moved there: page_faults 100 -> 300 (worse)": other watched metrics. */
static int add_also(struct str *out, const json_t *document)
{
	const json_t *also = json_object_get(document, "also");

	for (size_t i = 0; i < json_array_size(also); i++) {
		const json_t *c = json_array_get(also, i);
		_cleanup_str_ struct str text = STR_INIT;

		report_add_line(&text, json_get_string(c, "metric"), 40);
		(void)str_add(&text, " ");
		report_add_step(&text, json_get_number(c, "before", 0), json_get_number(c, "after", 0), "");
		(void)str_add(&text, ", ");
		report_add_line(&text, json_get_string(c, "relation"), 16);
		if (text.failed)
			return -ENOMEM;
		report_add_wrapped(out, "  also moved  ", "              ", text.data);
	}
	return 0;
}

int section_checks(const json_t *document, struct str *out)
{
	static const struct check {
		const char *name, *row, *against[2];
		void (*add)(struct str *out, const json_t *document);
		const char *const *verdicts;
	} checks[] = {
		{ "reproduced", "culprit", { "parent", NULL }, NULL, NULL },
		{ "fix", "fixed", { "culprit", "parent" }, add_fix, NULL },
		{ "revert", "reverted", { "culprit", "parent" }, NULL, NULL },
		{ "series", "series-end", { "parent", "culprit" }, NULL, places },
		{ "elsewhere", "branch", { "parent", "culprit" }, NULL, places },
		{ "elsewhere", "branch2", { "parent", "culprit" }, NULL, places },
		{ "elsewhere", "branch3", { "parent", "culprit" }, NULL, places },
	};
	const json_t *rows = document_rows(document);

	if (document_failure(document))
		return section_failure_checks(document, out);
	if (!document_is_finding(document))
		return 0;
	(void)str_add(out, "Checks, by ");
	add_member(out, document, "metric", 40);
	(void)str_add(out, ":\n");
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		_cleanup_str_ struct str text = STR_INIT;
		char indent[32];
		int r;

		if (!report_row(rows, checks[i].row, NULL))
			continue;
		if (checks[i].add)
			checks[i].add(&text, document);
		r = add_check(&text, document, checks[i].row, checks[i].against, checks[i].verdicts);
		if (r < 0 || text.failed)
			return -ENOMEM;
		(void)snprintf(indent, sizeof(indent), "  %-12s", checks[i].name);
		report_add_wrapped(out, indent, "              ", text.data);
	}
	return add_also(out, document);
}
