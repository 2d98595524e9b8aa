// SPDX-License-Identifier: GPL-2.0-or-later
/* What other layouts of the commits of a search measured (docs/architecture.md, "Layouts"). */
#include "daemon/session-internal.h"

#include "lib/str.h"

/* Values of one layout, or of several in time. */
struct joined {
	double *values;
	int64_t *runs;
	unsigned char *of;
	size_t n;
};

static void joined_done(struct joined *j)
{
	free(j->values);
	free(j->runs);
	free(j->of);
}

/* Merges two lists that are in time. */
static int join(const struct values *a, const unsigned char *of_a, const struct values *b, unsigned char layout, struct joined *ret)
{
	size_t n = a->n + b->n, i = 0, k = 0;

	ret->values = calloc(n + 1, sizeof(*ret->values));
	ret->runs = calloc(n + 1, sizeof(*ret->runs));
	ret->of = calloc(n + 1, sizeof(*ret->of));
	if (!ret->values || !ret->runs || !ret->of)
		return -ENOMEM;
	for (; ret->n < n; ret->n++) {
		bool first = k == b->n || (i < a->n && a->runs[i] < b->runs[k]);
		const struct values *from = first ? a : b;
		size_t at = first ? i++ : k++;

		ret->values[ret->n] = from->items[at];
		ret->runs[ret->n] = from->runs[at];
		ret->of[ret->n] = !first ? layout : of_a ? of_a[at] : 0;
	}
	return 0;
}

static int add_layout(struct session_obs *o, int node, const struct values *more, unsigned char layout)
{
	_cleanup_(joined_done) struct joined j = { 0 };
	struct node_layouts *l = &o->layouts[node];
	struct values *values = &o->values[node];
	int r = join(values, l->of, more, layout, &j);

	if (r < 0)
		return r;
	values_done(values);
	free(l->of);
	*values = (struct values){ .items = j.values, .runs = j.runs, .n = j.n, .capacity = j.n, .runs_capacity = j.n };
	l->of = j.of;
	j = (struct joined){ 0 };
	return 0;
}

/* The signatures that a node has shown so far: layouts of one image are one layout. */
static bool is_new(char *const *seen, int n, const char *signature)
{
	for (int i = 0; i < n; i++)
		if (seen[i] && str_eq(seen[i], signature))
			return false;
	return true;
}

/* One layout of a node: 1 it has values or may have, 0 it is not available. */
static int observe_layout(struct engine *e, const struct session *s, int node, int layout, struct session_obs *o, char **seen,
			  struct error *err)
{
	struct want want = session_want(s, node, 1);
	_cleanup_(want_result_done) struct want_result look = { 0 };
	_cleanup_(values_done) struct values values = { 0 };
	int r;

	want.layout = layout;
	r = plan_look(e, &want, err, &look);
	if (r < 0)
		return r;
	if (look.state == WANT_SKIPPED || look.state == WANT_SLOW)
		return 0;
	if (!look.series || !look.signature)
		return 1;
	if (!is_new(seen, layout, look.signature))
		return 0;
	seen[layout] = TAKE_PTR(look.signature);
	r = db_run_values(e->db, look.series, seen[layout], s->question.metric, &values);
	if (r < 0)
		return error_errno(err, r, "database");
	o->layouts[node].without[layout] = look.n_ok - (int64_t)values.n;
	session_forget_later(s, &values);
	r = add_layout(o, node, &values, (unsigned char)layout);
	return r < 0 ? error_errno(err, r, "search") : 1;
}

/* Returns how many layouts of the node there are, or may be. */
static int observe_node(struct engine *e, const struct session *s, int node, struct session_obs *o, struct error *err)
{
	char *seen[SESSION_LAYOUTS] = { o->looks[node].signature }; /* borrowed */
	int layout = 1, r = 1;

	for (; layout < SESSION_LAYOUTS && r > 0; layout += r > 0)
		r = observe_layout(e, s, node, layout, o, seen, err);
	for (int i = 1; i < SESSION_LAYOUTS; i++)
		free(seen[i]);
	return r < 0 ? r : layout;
}

/* Arrays of the first node of the image. */
static void show(struct session_obs *o, int node, int first)
{
	o->obs[node].values = o->values[first].items;
	o->obs[node].n_values = o->values[first].n;
	o->obs[node].order = o->values[first].runs;
	o->obs[node].layout = o->layouts[first].of;
}

static bool is_first(const struct session_obs *o, int node)
{
	return o->obs[node].image == node + 1;
}

int layouts_observe(struct engine *e, const struct session *s, struct session_obs *o, struct error *err)
{
	int layouts = SESSION_LAYOUTS, r = 0;

	o->layouts = calloc((size_t)o->n, sizeof(*o->layouts));
	if (!o->layouts)
		return error_errno(err, -ENOMEM, "search");
	for (int i = 0; i < o->n; i++) {
		o->layouts[i].without[0] = o->looks[i].n_ok - (int64_t)o->obs[i].n_values;
		if (!is_first(o, i) || !o->looks[i].series || (o->obs[i].state != JUDGE_TESTED && o->obs[i].state != JUDGE_UNTESTED))
			continue;
		r = observe_node(e, s, i, o, err);
		if (r < 0)
			return r;
		layouts = MIN(layouts, r);
	}
	for (int i = 0; i < o->n; i++)
		if (o->obs[i].image > 0)
			show(o, i, o->obs[i].image - 1);
	o->options.layouts = (unsigned char)layouts;
	return 0;
}

int layouts_node(const struct session_obs *o, const struct judge_want *wanted)
{
	int image = o->obs[wanted->node].image;

	return wanted->layout && image > 0 ? image - 1 : wanted->node;
}
