/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/simulate/trial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/simulate/rival.h"

const char *const outcome_names[OUTCOME_N] = {
	[OUTCOME_RIGHT] = "right",
	[OUTCOME_WRONG] = "wrong",
	[OUTCOME_WIDE] = "set",
	[OUTCOME_GAVE_UP] = "gave-up",
	[OUTCOME_NOT_REPRODUCED] = "not-reproduced",
	[OUTCOME_OPPOSITE] = "opposite",
	[OUTCOME_BROKEN] = "broken",
};

const struct method methods[] = {
	{"judge", "the search of this program", method_judge, 0},
	{"bis1", "git bisect, one run a step", rival_repeat, 1},
	{"bis3", "three runs, their median", rival_repeat, 3},
	{"bis5", "five runs", rival_repeat, 5},
	{"bis10", "ten runs", rival_repeat, 10},
	{"bis20", "twenty runs", rival_repeat, 20},
	{"bis40", "forty runs", rival_repeat, 40},
	{"bis80", "eighty runs", rival_repeat, 80},
	{"pinpoint", "neighbours compared by ranks", rival_pinpoint, 0},
	{"sprt", "git bisect, a sequential test a step", rival_sprt, 0},
	{"pba1", "posterior, one bit a run", rival_onebit, 0},
};
const size_t n_methods = sizeof(methods) / sizeof(methods[0]);

const struct method *method_find(const char *name)
{
	for (size_t i = 0; i < n_methods; i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

bool trial_is_culprit(const struct world *w, int node)
{
	for (int i = 0; i < w->n_steps; i++)
		if (w->steps[i].node == node)
			return w->steps[i].size > 0;
	return false;
}

/* Room of the referee: bytes a node. */
struct bench {
	unsigned char *below, *other, *atom;
};

/* The first commit in order that builds and has `node` in it; the bad anchor at the latest. */
static int first_testable(const struct world *w, const unsigned char *below, int node)
{
	int i = node;

	while (!below[i] || w->broken[i])
		i++;
	return i;
}

static bool same_below(const struct world *w, const unsigned char *a, const unsigned char *b)
{
	for (int i = 1; i < w->graph.dag.n; i++)
		if (!w->broken[i] && a[i] != b[i])
			return false;
	return true;
}

/*
 * All commits that no test can tell from `node`: they are in the same commits that build. They are
 * reached from the first of those, against the arrows, through commits that do not build. Returns
 * how many; `atom` has their bytes.
 */
static size_t find_atom(const struct world *w, int node, const struct bench *b)
{
	const struct judge_dag *dag = &w->graph.dag;
	size_t n = 0;

	sim_graph_below(dag, node, b->below);
	int top = first_testable(w, b->below, node);

	memset(b->atom, 0, (size_t)dag->n);
	b->atom[top] = 1;
	for (int i = top; i > 0; i--) {
		if (!b->atom[i] || (w->broken[i] == 0 && i != top))
			continue;
		for (int e = dag->parent_start[i]; e < dag->parent_start[i + 1]; e++)
			if (dag->parents[e] > 0)
				b->atom[dag->parents[e]] = 1;
	}
	for (int i = 1; i <= top; i++) {
		if (!b->atom[i])
			continue;
		sim_graph_below(dag, i, b->other);
		b->atom[i] = same_below(w, b->below, b->other);
		n += b->atom[i];
	}
	return n;
}

/* Is the set exactly what must stay around this culprit? */
static bool is_atom(const struct world *w, int culprit, const int *nodes, size_t n,
		    const struct bench *b)
{
	if (find_atom(w, culprit, b) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!b->atom[nodes[i]])
			return false;
	return true;
}

static enum outcome referee_set(const struct world *w, const int *nodes, size_t n,
				const struct bench *b)
{
	enum outcome outcome = OUTCOME_WRONG;

	for (size_t i = 0; i < n; i++) {
		if (!trial_is_culprit(w, nodes[i]))
			continue;
		if (is_atom(w, nodes[i], nodes, n, b))
			return OUTCOME_RIGHT;
		outcome = OUTCOME_WIDE;
	}
	return outcome;
}

int trial_referee(const struct world *w, const int *nodes, size_t n, enum outcome *ret)
{
	size_t bytes = (size_t)w->graph.dag.n;

	if (n <= 1) {
		*ret = n == 1 && trial_is_culprit(w, nodes[0]) ? OUTCOME_RIGHT : OUTCOME_WRONG;
		return 0;
	}
	unsigned char *room = calloc(bytes, 3);
	if (!room)
		return -ENOMEM;
	struct bench b = {room, room + bytes, room + 2 * bytes};

	*ret = referee_set(w, nodes, n, &b);
	free(room);
	return 0;
}

bool trial_is_near_culprit(const struct world *w, int node)
{
	size_t bytes = (size_t)w->graph.dag.n;
	unsigned char *room = calloc(bytes, 3);
	struct bench b = {room, room + bytes, room + 2 * bytes};
	bool near = false;

	for (int i = 0; room && i < w->n_steps && !near; i++)
		if (w->steps[i].size > 0 && find_atom(w, w->steps[i].node, &b) > 0)
			near = b.atom[node];
	free(room);
	return near;
}

int trial_run(const struct world_options *world, const struct method *method,
	      const struct trial_options *options, uint64_t seed, const char *name, unsigned number,
	      struct trial *ret)
{
	struct world w;
	struct trial t = {.number = number};
	int r = world_init(&w, world, seed, name, number);

	if (r < 0)
		return r;
	r = method->run(&w, options, method->parameter, &t);
	t.seconds = w.seconds;
	t.builds = w.builds;
	t.runs = w.runs;
	if (t.answer_seconds <= 0)
		t.answer_seconds = t.seconds;
	if (t.wall <= 0)
		t.wall = t.seconds;
	world_done(&w);
	if (r < 0)
		return r;
	*ret = t;
	return 0;
}
