// SPDX-License-Identifier: GPL-2.0-or-later
/* sections.h: of a search for a failure, what fails and how, and what the rows of its proof did. */
#include "daemon/report/lines.h"
#include "daemon/report/row.h"
#include "daemon/report/sections.h"

#define TITLE_COLUMNS 200
#define EXCERPT_COLUMNS 160
#define OTHERS_MAX 10

/* What is said of each status: "the kernel does not boot". */
static const struct failing {
	const char *status, *who, *does;
} words[] = {
	{ "build-failed", "the kernel", "does not build" },
	{ "boot-failed", "the kernel", "does not boot" },
	{ "crashed", "the kernel", "crashes" },
	{ "timeout", "the workload", "does not end in time" },
	{ "", "the workload", "fails" },
};

const json_t *document_failure(const json_t *document)
{
	const json_t *failure = json_object_get(document, "failure");

	return json_is_object(failure) ? failure : NULL;
}

static const struct failing *words_of(const json_t *failure)
{
	const char *status = json_get_string(failure, "status");
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(words) && !str_eq(words[i].status, status))
		i++;
	return &words[i];
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_get_string(object, key);

	return text ? text : "";
}

static bool is_of_build(const json_t *failure)
{
	return str_eq(json_get_string(failure, "status"), "build-failed");
}

/* " in 5 of 10 runs of the bad end" */
static void add_how_often(struct str *out, const json_t *failure)
{
	int64_t runs = json_get_int(failure, "runs", 0), seen = json_get_int(failure, "seen", 0);

	if (runs > 0 && !is_of_build(failure))
		(void)str_addf(out, " in %lld of %lld runs of the bad end", (long long)seen, (long long)runs);
}

/* "mmbisect noticed that the kernel crashes on x86_64 with the workload thread-stack: ..." */
void add_failure_noticed(struct str *out, const json_t *document)
{
	const json_t *failure = document_failure(document);

	(void)str_addf(out, "mmbisect noticed that %s %s on ", words_of(failure)->who, words_of(failure)->does);
	add_member(out, document, "arch", 16);
	if (!is_of_build(failure)) {
		(void)str_add(out, " with the workload ");
		add_member(out, document, "workload", 40);
	}
	add_how_often(out, failure);
	if (*text_of(failure, "title")) {
		(void)str_add(out, ": \"");
		add_member(out, failure, "title", TITLE_COLUMNS);
		(void)str_add(out, "\"");
	}
	(void)str_add(out, ".");
}

void add_failure_subject(struct str *out, const json_t *document)
{
	const json_t *failure = document_failure(document);

	if (!is_of_build(failure)) {
		add_member(out, document, "workload", 40);
		(void)str_add(out, " on ");
	}
	add_member(out, document, "arch", 16);
	(void)str_addf(out, ": %s since ", words_of(failure)->does);
}

static void add_excerpt(struct str *out, const json_t *failure)
{
	const char *at = text_of(failure, "console");

	if (!*at)
		return;
	(void)str_addf(out, "What the %s says:\n\n", is_of_build(failure) ? "log of the build" : "console");
	while (*at) {
		size_t len = strcspn(at, "\n");
		_cleanup_free_ char *line = strndup(at, len);

		(void)str_add(out, "  ");
		report_add_line(out, line ? line : "", EXCERPT_COLUMNS);
		(void)str_add(out, "\n");
		at += len;
		at += *at == '\n';
	}
}

static void add_others(struct str *out, const json_t *failure)
{
	const json_t *list = json_object_get(failure, "others");
	size_t n = json_array_size(list);

	if (!n)
		return;
	(void)str_addf(out, "%sOther failures were met, and not taken for it:\n",
		       *text_of(failure, "console") ? "\n" : "");
	for (size_t i = 0; i < MIN(n, (size_t)OTHERS_MAX); i++) {
		const json_t *other = json_array_get(list, i);
		int64_t commits = json_get_int(other, "commits", 0);

		(void)str_add(out, "  ");
		add_member(out, other, "status", 16);
		(void)str_addf(out, " in %lld commit%s: ", (long long)commits, commits == 1 ? "" : "s");
		add_member(out, other, "title", TITLE_COLUMNS);
		(void)str_add(out, "\n");
	}
	if (n > OTHERS_MAX)
		(void)str_addf(out, "  (and %zu more)\n", n - OTHERS_MAX);
}

int section_failure(const json_t *document, struct str *out)
{
	const json_t *failure = document_failure(document);

	if (!failure)
		return 0;
	add_excerpt(out, failure);
	add_others(out, failure);
	return 0;
}

/* A row did what it should: it fails as the bad end does, or it ends well. */
static void add_verdict(struct str *out, const json_t *failure, const json_t *row, bool should_fail)
{
	const char *status = json_get_string(row, "status");

	if (str_eq(status, "ok"))
		(void)str_addf(out, "ends well%s", should_fail ? ", which it should not" : "");
	else if (str_eq(status, json_get_string(failure, "status")))
		(void)str_addf(out, "%s%s", words_of(failure)->does, should_fail ? "" : " still");
	else if (!json_get_string(row, "commit"))
		(void)str_add(out, "not measured");
	else
		(void)str_add(out, "fails in another way");
}

int section_failure_checks(const json_t *document, struct str *out)
{
	static const struct {
		const char *name, *row;
		bool should_fail;
	} checks[] = {
		{ "parent", "parent", false },
		{ "reproduced", "culprit", true },
		{ "fix", "fixed", false },
		{ "revert", "reverted", false },
	};
	const json_t *rows = document_rows(document), *failure = document_failure(document), *row;
	char letter[16];
	size_t at;

	if (!document_is_finding(document))
		return 0;
	(void)str_add(out, "Checks, by how runs end:\n");
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		row = report_row(rows, checks[i].row, &at);
		if (!row)
			continue;
		(void)str_addf(out, "  %-12s%s: ", checks[i].name, report_letter(at, letter));
		add_verdict(out, failure, row, checks[i].should_fail);
		(void)str_add(out, "\n");
	}
	return 0;
}
