// SPDX-License-Identifier: GPL-2.0-or-later
/* mmbisect log: the decisions of a search as they were made, or all searches. Nothing is written. */
#include "daemon/cli.h"
#include "daemon/export.h"
#include "daemon/report/lines.h"
#include "lib/clock.h"
#include "lib/fs.h"
#include "lib/str.h"

struct log {
	struct paths paths;
	struct db *db;
	struct repo *repo; /* NULL: cannot be read, so there are no subjects */
	struct search search;
	struct search_entries entries;
};

static void log_done(struct log *l)
{
	search_done(&l->search);
	search_entries_done(&l->entries);
	(void)repo_close(l->repo);
	(void)db_close(l->db);
	paths_done(&l->paths);
}

static int database(const struct log *l, int r, struct error *err)
{
	return r < 0 ? error_set(err, r, "database %s: %s", l->paths.db, db_error_text(l->db)) : 0;
}

static int open_log(const struct cli *cli, struct error *err, struct log *l)
{
	_cleanup_error_ struct error why = ERROR_INIT;
	int r = paths_init(cli->state, cli->configs, err, &l->paths);

	if (r >= 0 && !fs_exists(l->paths.db))
		return error_set(err, -ENOENT, "there is no state at %s yet: give --state the folder of a search or of mmbisectd",
				 l->paths.state);
	if (r >= 0)
		r = db_open_read_only(l->paths.db, err, &l->db);
	if (r >= 0)
		(void)repo_open_read_only(l->paths.mirror, &why, &l->repo);
	return r;
}

static int open_search(const struct cli *cli, struct error *err, struct log *l)
{
	uint64_t id;
	int r;

	if (cli->n_revs != 1 || str_to_u64(cli->revs[0], &id) < 0 || id > INT64_MAX)
		return error_set(err, -EINVAL, "give the number of one search (mmbisect log lists them)");
	r = open_log(cli, err, l);
	if (r < 0)
		return r;
	r = db_search_get(l->db, (int64_t)id, &l->search);
	if (r == -ENOENT)
		return error_set(err, r, "there is no search %s in %s (mmbisect log lists them)", cli->revs[0], l->paths.state);
	if (r >= 0)
		r = db_search_entries(l->db, (int64_t)id, &l->entries);
	return database(l, r, err);
}

static char *subject_of(const struct log *l, const char *oid)
{
	_cleanup_(commit_done) struct commit c = { 0 };

	if (!oid || !l->repo || repo_commit(l->repo, oid, NULL, &c) < 0)
		return NULL;
	return TAKE_PTR(c.subject);
}

static json_t *entry_json(const struct log *l, const struct search_entry *e)
{
	_cleanup_free_ char *subject = subject_of(l, e->oid);
	char at[32];

	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "at", clock_iso8601((uint64_t)e->at_ns, at), "phase",
			 json_bytes(e->phase), "action", json_bytes(e->action), "commit", json_bytes(e->oid), "subject",
			 json_bytes(subject), "runs", e->runs ? json_integer(e->runs) : json_null(), "layout",
			 (json_int_t)e->layout, "reason",
			 json_bytes(e->reason));
}

static json_t *search_json(const struct search *s)
{
	return json_pack("{s:I, s:o, s:o, s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:s?, s:s?}", "id", (json_int_t)s->id, "tree",
			 json_bytes(s->tree), "ref", json_bytes(s->ref), "good", s->good, "bad", s->bad, "workload", s->workload,
			 "arch", s->arch, "metric", json_bytes(s->metric), "class", s->class, "state", s->state, "verdict",
			 s->verdict, "culprit", s->culprit);
}

static int print_log_json(const struct log *l)
{
	_cleanup_json_ json_t *list = json_array(), *document = NULL;

	for (size_t i = 0; i < l->entries.n; i++)
		(void)json_array_append_new(list, entry_json(l, &l->entries.items[i]));
	document = json_pack("{s:s, s:o, s:O}", "kind", "log", "search", search_json(&l->search), "decisions", list);
	return document && cli_print_json(document) >= 0 ? CLI_ANSWER : CLI_INFRA;
}

/* The commits of one decision stand together, and its reason stands once. */
static bool same_decision(const struct search_entry *a, const struct search_entry *b)
{
	return str_eq(a->action, b->action) && str_eq(a->reason, b->reason) && str_eq(a->phase ? a->phase : "", b->phase ? b->phase : "");
}

static void add_entry(struct str *out, const struct log *l, const struct search_entry *e, bool first)
{
	_cleanup_free_ char *subject = subject_of(l, e->oid);
	char at[32];

	(void)str_addf(out, "%-20s  %-7s  ", first ? clock_iso8601((uint64_t)e->at_ns, at) : "", first && e->phase ? e->phase : "");
	report_add_line(out, e->action, 20);
	if (e->oid)
		(void)str_addf(out, " %.12s", e->oid);
	if (e->runs)
		(void)str_addf(out, " to %lld run%s", (long long)e->runs, e->runs == 1 ? "" : "s");
	if (e->layout)
		(void)str_addf(out, ", layout %lld", (long long)e->layout);
	if (subject) {
		(void)str_add(out, "  ");
		report_add_line(out, subject, CLI_SUBJECT_COLUMNS);
	}
	(void)str_add(out, "\n");
}

static int print_log_text(const struct log *l)
{
	_cleanup_str_ struct str out = STR_INIT;

	for (size_t i = 0; i < l->entries.n; i++) {
		const struct search_entry *e = &l->entries.items[i];

		add_entry(&out, l, e, i == 0 || !same_decision(e, e - 1));
		if (i + 1 == l->entries.n || !same_decision(e, e + 1))
			cli_add_reason(&out, "                      ", e->reason);
	}
	return cli_print_text(&out);
}

static int print_export(const struct log *l)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_json_ json_t *recording = NULL;
	int r = l->repo ? export_search(l->db, l->repo, &l->paths, &l->search, &err, &recording) :
			  error_set(&err, -ENOENT, "the commits of the search cannot be read: no mirror %s", l->paths.mirror);

	if (r < 0)
		return cli_fail(&err);
	return cli_print_json(recording) < 0 ? CLI_INFRA : CLI_ANSWER;
}

static int list_text(const struct search_list *list)
{
	_cleanup_str_ struct str out = STR_INIT;

	for (size_t i = list->n; i-- > 0;) {
		const struct search *s = &list->items[i];
		char at[32];

		(void)str_addf(&out, "%5lld  %s  %-14s  %.12s..%.12s  ", (long long)s->id, clock_iso8601((uint64_t)s->created_ns, at),
			       s->verdict ? s->verdict : s->state, s->good, s->bad);
		report_add_line(&out, s->workload, 40);
		(void)str_addf(&out, " %s %s ", s->arch, s->class);
		report_add_line(&out, s->metric, 40);
		(void)str_add(&out, "\n");
	}
	return cli_print_text(&out);
}

static int list_json(const struct search_list *list)
{
	_cleanup_json_ json_t *array = json_array(), *document = NULL;

	for (size_t i = list->n; i-- > 0;)
		(void)json_array_append_new(array, search_json(&list->items[i]));
	document = json_pack("{s:s, s:O}", "kind", "searches", "searches", array);
	return document && cli_print_json(document) >= 0 ? CLI_ANSWER : CLI_INFRA;
}

/* All searches, newest first. */
static int list_searches(const struct cli *cli)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(search_list_done) struct search_list list = { 0 };
	_cleanup_(log_done) struct log l = { 0 };
	int r = open_log(cli, &err, &l);

	if (r >= 0)
		r = database(&l, db_search_list(l.db, false, &list), &err);
	if (r < 0)
		return cli_fail(&err);
	return cli->json ? list_json(&list) : list_text(&list);
}

int cmd_log(const struct cli *cli)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(log_done) struct log l = { 0 };

	if (cli->n_revs == 0 && !cli->export)
		return list_searches(cli);
	if (open_search(cli, &err, &l) < 0)
		return cli_fail(&err);
	if (cli->export)
		return print_export(&l);
	return cli->json ? print_log_json(&l) : print_log_text(&l);
}
