// SPDX-License-Identifier: GPL-2.0-or-later
/* The member `changes` of an answer: all changes of an exact metric in the range. */
#include "daemon/session-internal.h"

#include "daemon/decision.h"

/* A set that is longer (its search was cut) is told by its ends. */
#define CANDIDATES_MAX 200

static char *subject_of(struct engine *e, const char *oid)
{
	_cleanup_(commit_done) struct commit c = { 0 };

	if (repo_commit(e->repo, oid, NULL, &c) < 0)
		return NULL;
	return TAKE_PTR(c.subject);
}

static json_t *candidates_json(struct engine *e, char *const *oids, const struct judge_change *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->n_nodes && c->n_nodes <= CANDIDATES_MAX; i++) {
		_cleanup_free_ char *subject = subject_of(e, oids[c->nodes[i]]);

		(void)json_array_append_new(list, json_pack("{s:s, s:s?}", "commit", oids[c->nodes[i]], "subject", subject));
	}
	return list;
}

/* JSON has no infinity and no NaN. */
static json_t *number(double v)
{
	return v - v == 0 ? json_real(v) : json_null();
}

static json_t *change_json(struct engine *e, const struct session *s, const struct judge_decision *d, size_t i)
{
	char *const *oids = s->graph.oids;
	const struct judge_change *c = &d->changes[i];
	_cleanup_free_ char *subject = subject_of(e, oids[c->node]);

	return json_pack("{s:s?, s:s, s:s, s:s?, s:o, s:o, s:o, s:o, s:s, s:s?, s:b, s:b}", "commit",
			 c->n_nodes == 1 ? oids[c->node] : NULL, "first_bad", oids[c->node], "good", oids[c->good], "subject",
			 subject, "candidates", candidates_json(e, oids, c), "before", number(c->before), "after",
			 number(c->after), "ratio", number(c->ratio), "kind", decision_kind_name(c->kind), "recovered_by",
			 c->recovered_by >= 0 ? oids[d->changes[c->recovered_by].node] : NULL, "main",
			 (int)i == d->main_change, "cut", c->cut);
}

json_t *document_changes(struct engine *e, const struct session *s, const struct judge_decision *d)
{
	json_t *list = json_array();

	for (size_t i = 0; d->action == JUDGE_DONE && i < d->n_changes; i++)
		(void)json_array_append_new(list, change_json(e, s, d, i));
	return list;
}
