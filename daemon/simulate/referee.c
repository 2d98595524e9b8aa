/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/simulate/referee.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool referee_is_culprit(const struct world *w, int node)
{
	for (int i = 0; i < w->n_steps; i++)
		if (w->steps[i].node == node)
			return w->steps[i].size > 0;
	return false;
}

/* Room to think in: bytes a node. */
struct bench {
	const struct world *w;
	unsigned char *below, *other; /* descendants of the culprit, of another */
	unsigned char *scope;	      /* whose tests count */
	unsigned char *atom, *loose;
};

#define BENCH_ARRAYS 5

static int bench_init(struct bench *b, const struct world *w)
{
	size_t bytes = (size_t)w->graph.dag.n;
	unsigned char *room = calloc(bytes, BENCH_ARRAYS);

	if (!room)
		return -ENOMEM;
	*b = (struct bench){
		w, room, room + bytes, room + 2 * bytes, room + 3 * bytes, room + 4 * bytes};
	return 0;
}

/* The first commit in order that builds and has `node` in it; the bad anchor at the latest. */
static int first_testable(const struct world *w, const unsigned char *below, int node)
{
	int i = node;

	while (!below[i] || w->broken[i])
		i++;
	return i;
}

static void mark_parents(const struct judge_dag *dag, int node, unsigned char *bytes)
{
	for (int e = dag->parent_start[node]; e < dag->parent_start[node + 1]; e++)
		if (dag->parents[e] > 0)
			bytes[dag->parents[e]] = 1;
}

/* Ancestors-or-self of top: what git tests when top is known to be bad. */
static void scope_above(const struct bench *b, int top)
{
	memset(b->scope, 0, (size_t)b->w->graph.dag.n);
	b->scope[top] = 1;
	for (int i = top; i > 0; i--)
		if (b->scope[i])
			mark_parents(&b->w->graph.dag, i, b->scope);
}

static bool same_tests(const struct bench *b)
{
	for (int i = 1; i < b->w->graph.dag.n; i++)
		if (!b->w->broken[i] && b->scope[i] && b->below[i] != b->other[i])
			return false;
	return true;
}

/*
 * All commits that no test in scope tells from the culprit, whose descendants are `below`: they are
 * in the same commits that build. They are reached from the first of those, top, against the
 * arrows, through commits that do not build. Returns how many; `ret_atom` has their bytes.
 */
static size_t find_atom(const struct bench *b, int top, unsigned char *ret_atom)
{
	const struct judge_dag *dag = &b->w->graph.dag;
	size_t n = 0;

	memset(ret_atom, 0, (size_t)dag->n);
	ret_atom[top] = 1;
	for (int i = top; i > 0; i--)
		if (ret_atom[i] && (b->w->broken[i] || i == top))
			mark_parents(dag, i, ret_atom);
	for (int i = 1; i <= top; i++) {
		if (!ret_atom[i])
			continue;
		sim_graph_below(dag, i, b->other);
		ret_atom[i] = same_tests(b);
		n += ret_atom[i];
	}
	return n;
}

/* By all tests there are; returns the number of commits. */
static size_t find_strict(const struct bench *b, int culprit)
{
	sim_graph_below(&b->w->graph.dag, culprit, b->below);
	memset(b->scope, 1, (size_t)b->w->graph.dag.n);
	return find_atom(b, first_testable(b->w, b->below, culprit), b->atom);
}

/* Must this set stay whole around the culprit? */
static bool is_whole(const struct bench *b, int culprit, const int *nodes, size_t n)
{
	size_t strict = find_strict(b, culprit);
	int top = culprit;

	for (size_t i = 0; i < n; i++) {
		strict -= b->atom[nodes[i]];
		top = nodes[i] > top ? nodes[i] : top;
	}
	if (strict > 0)
		return false;
	memcpy(b->loose, b->atom, (size_t)b->w->graph.dag.n);
	if (b->below[top] && !b->w->broken[top]) {
		scope_above(b, top);
		(void)find_atom(b, top, b->loose);
	}
	for (size_t i = 0; i < n; i++)
		if (!b->loose[nodes[i]] && !b->atom[nodes[i]])
			return false;
	return true;
}

int referee_judge(const struct world *w, const int *nodes, size_t n, enum outcome *ret)
{
	struct bench b;

	*ret = OUTCOME_WRONG;
	if (n == 1 && referee_is_culprit(w, nodes[0]))
		*ret = OUTCOME_RIGHT;
	if (n <= 1)
		return 0;
	if (bench_init(&b, w) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n && *ret != OUTCOME_RIGHT; i++)
		if (referee_is_culprit(w, nodes[i]))
			*ret = is_whole(&b, nodes[i], nodes, n) ? OUTCOME_RIGHT : OUTCOME_WIDE;
	free(b.below);
	return 0;
}

bool referee_is_near_culprit(const struct world *w, int node)
{
	struct bench b;
	bool near = referee_is_culprit(w, node);

	if (near || bench_init(&b, w) < 0)
		return near;
	for (int i = 0; i < w->n_steps && !near; i++)
		if (w->steps[i].size > 0 && find_strict(&b, w->steps[i].node) > 0)
			near = b.atom[node];
	free(b.below);
	return near;
}
