// SPDX-License-Identifier: GPL-2.0-or-later
/* mmbisect replay: the decisions of a recorded search once more, on paper. Nothing is written. */
#include "daemon/cli.h"
#include "daemon/decision.h"
#include "daemon/replay.h"
#include "daemon/report/lines.h"
#include "lib/fs.h"
#include "lib/str.h"

#define RECORDING_MAX (256 << 20)

struct paper {
	bool json;
	struct str text;
	json_t *decisions, *end; /* end: the verdict */
	bool gave_up;
	unsigned n;
};

static void paper_done(struct paper *p)
{
	str_done(&p->text);
	json_decref(p->decisions);
	json_decref(p->end);
}

static const char *short_id(const char *id, char out[41])
{
	(void)snprintf(out, 41, "%.*s", str_is_oid(id) ? 12 : 40, id);
	return out;
}

static json_t *wants_json(const struct recording *rec, const struct judge_decision *d)
{
	json_t *list = json_array();

	for (size_t i = 0; i < d->n_wants; i++)
		(void)json_array_append_new(list, json_pack("{s:s, s:i}", "commit", rec->ids[d->wants[i].node], "runs",
							    (int)d->wants[i].runs));
	return list;
}

static json_t *candidates_json(const struct recording *rec, const struct judge_decision *d)
{
	json_t *list = json_array();

	for (size_t i = 0; i < d->n_candidates; i++)
		(void)json_array_append_new(list, json_pack("{s:s, s:f}", "commit", rec->ids[d->candidates[i].node], "probability",
							    d->candidates[i].probability));
	return list;
}

static json_t *changes_json(const struct recording *rec, const struct judge_decision *d)
{
	json_t *list = json_array();

	for (size_t i = 0; i < d->n_changes; i++) {
		const struct judge_change *c = &d->changes[i];
		json_t *nodes = json_array();

		for (size_t k = 0; k < c->n_nodes; k++)
			(void)json_array_append_new(nodes, json_string(rec->ids[c->nodes[k]]));
		(void)json_array_append_new(list, json_pack("{s:o, s:f, s:f, s:s, s:s?, s:b}", "commits", nodes, "before", c->before,
							    "after", c->after, "kind", decision_kind_name(c->kind), "recovered_by",
							    c->recovered_by >= 0 ? rec->ids[d->changes[c->recovered_by].node] : NULL,
							    "cut", c->cut));
	}
	return list;
}

static int add_decision_json(struct paper *p, const struct recording *rec, const struct judge_decision *d)
{
	if (d->action == JUDGE_DONE) {
		p->end = json_pack("{s:s, s:s?, s:o}", "verdict", decision_verdict_name(d->verdict), "culprit",
				   d->culprit >= 0 && d->verdict == JUDGE_CULPRIT ? rec->ids[d->culprit] : NULL, "candidates",
				   candidates_json(rec, d));
		if (!p->end)
			return -ENOMEM;
		if (d->n_changes)
			(void)json_object_set_new(p->end, "changes", changes_json(rec, d));
	}
	return json_array_append_new(p->decisions,
				     json_pack("{s:s, s:s, s:o, s:s}", "phase", decision_phase_name(d->phase), "action",
					       d->action == JUDGE_DONE ? decision_verdict_name(d->verdict) : "measure", "wants",
					       wants_json(rec, d), "reason", d->reason)) < 0 ?
		       -ENOMEM :
		       0;
}

static void add_node(struct str *out, const struct recording *rec, int node)
{
	char id[41];

	report_add_line(out, short_id(rec->ids[node], id), 40);
	if (!rec->subjects[node])
		return;
	(void)str_add(out, "  ");
	report_add_line(out, rec->subjects[node], CLI_SUBJECT_COLUMNS);
}

static void add_decision_text(struct str *out, const struct recording *rec, const struct judge_decision *d, unsigned number)
{
	(void)str_addf(out, "%5u  %-7s  ", number, decision_phase_name(d->phase));
	for (size_t i = 0; i < d->n_wants; i++) {
		char id[41];

		(void)str_addf(out, "%s", i ? ", " : "measure ");
		report_add_line(out, short_id(rec->ids[d->wants[i].node], id), 40);
		(void)str_addf(out, " to %u", d->wants[i].runs);
	}
	if (d->action == JUDGE_DONE)
		(void)str_add(out, decision_verdict_name(d->verdict));
	(void)str_add(out, "\n");
	cli_add_reason(out, "                ", d->reason);
	for (size_t i = 0; d->action == JUDGE_DONE && i < d->n_candidates; i++) {
		(void)str_addf(out, "                %5.1f %%  ", 100 * d->candidates[i].probability);
		add_node(out, rec, d->candidates[i].node);
		(void)str_add(out, "\n");
	}
}

/* Beside the main one, which is the verdict. */
static void add_changes_text(struct str *out, const struct recording *rec, const struct judge_decision *d)
{
	for (size_t i = 0; d->action == JUDGE_DONE && i < d->n_changes; i++) {
		const struct judge_change *c = &d->changes[i];

		if ((int)i == d->main_change)
			continue;
		(void)str_addf(out, "                %s, %.6g to %.6g%s  ", decision_kind_name(c->kind), c->before, c->after,
			       c->n_nodes > 1 ? ", one of several up to" : "");
		add_node(out, rec, c->node);
		(void)str_add(out, "\n");
	}
}

static int on_decision(const struct recording *rec, const struct judge_decision *d, void *userdata)
{
	struct paper *p = userdata;

	p->n++;
	p->gave_up = d->action == JUDGE_DONE && d->verdict == JUDGE_GAVE_UP;
	if (p->json)
		return add_decision_json(p, rec, d);
	add_decision_text(&p->text, rec, d, p->n);
	add_changes_text(&p->text, rec, d);
	return p->text.failed ? -ENOMEM : 0;
}

static int read_recording(const char *file, struct error *err, struct recording *ret)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ json_t *document = NULL;
	json_error_t error;
	size_t len;
	int r = fs_read(file, RECORDING_MAX, &text, &len);

	if (r < 0)
		return error_errno(err, r, "%s", file);
	document = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!document)
		return error_set(err, -EINVAL, "%s:%d: %s", file, error.line, error.text);
	r = recording_read(document, err, ret);
	return r < 0 ? error_prefix(err, "%s", file) : 0;
}

static int print_paper(struct paper *p, const struct replay *count)
{
	_cleanup_json_ json_t *document = NULL;

	if (!p->json) {
		(void)str_addf(&p->text, "%u images, %u runs", count->builds, count->runs);
		if (count->again)
			(void)str_addf(&p->text, ", of which %u with a sample that had been used before", count->again);
		(void)str_add(&p->text, "\n");
		return cli_print_text(&p->text);
	}
	document = json_pack("{s:s, s:O, s:i, s:i, s:i}", "kind", "replay", "decisions", p->decisions, "images", (int)count->builds,
			     "runs", (int)count->runs, "runs_again", (int)count->again);
	if (!document || (p->end && json_object_update(document, p->end) < 0))
		return CLI_INFRA;
	return cli_print_json(document) < 0 ? CLI_INFRA : CLI_ANSWER;
}

int cmd_replay(const struct cli *cli)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(recording_done) struct recording rec = { 0 };
	_cleanup_(paper_done) struct paper paper = { .json = cli->json, .text = STR_INIT, .decisions = json_array() };
	struct replay count = { 0 };
	int r, status;

	if (cli->n_revs != 1) {
		(void)fprintf(stderr, "mmbisect replay: give one file (mmbisect replay --help)\n");
		return CLI_USAGE;
	}
	r = read_recording(cli->revs[0], &err, &rec);
	if (r < 0)
		return cli_fail(&err);
	r = replay_run(&rec, on_decision, &paper, &err, &count);
	if (r < 0 && r != -ENODATA)
		return cli_fail(&err);
	status = print_paper(&paper, &count);
	if (r == -ENODATA)
		(void)fprintf(stderr, "mmbisect: %s: %s\n", cli->revs[0], error_text(&err));
	if (status == CLI_ANSWER && (r == -ENODATA || paper.gave_up))
		status = CLI_NO_ANSWER;
	return status;
}
