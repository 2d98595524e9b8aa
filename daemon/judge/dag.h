/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commits of one search as a graph of small integers.
 *
 * Nodes are in topological order, parents before children. Node 0 is the good anchor, node n-1 the
 * bad anchor; nodes 1 to n-1 are the candidates: ancestors-or-self of bad that are no
 * ancestors-or-self of good. A parent outside of this set counts as good. Its edge is left out, or
 * written JUDGE_OUTSIDE where the place of the others matters: a first parent outside must be
 * written, or a search along first parents would take the second parent for the first.
 *
 * The arrays are the caller's; a struct judge_sub owns its arrays. Wrong graphs are -EINVAL, and
 * memory can run out (-ENOMEM); nothing else fails.
 */
#ifndef MMB_JUDGE_DAG_H
#define MMB_JUDGE_DAG_H

#include <stdbool.h>

#define JUDGE_OUTSIDE (-1)

struct judge_dag {
	int n;
	const int *parent_start; /* n + 1 entries: parents of i are parents[start[i]] ..
				    [start[i+1]-1] */
	const int *parents;
};

/* -EINVAL: fewer than two nodes, not topological, out of range, or bad does not descend from a
 * candidate. */
int judge_dag_check(const struct judge_dag *dag);

/* Where the parents of `node` that count end: all of them, or only the first one. */
static inline int judge_dag_parents_end(const struct judge_dag *dag, int node, bool first_parent)
{
	int first = dag->parent_start[node], end = dag->parent_start[node + 1];

	return first_parent && end > first ? first + 1 : end;
}

/* ret: a byte a node, 1 for `node` and its ancestors, node 0 among them where an edge leads there. */
void judge_dag_above(const struct judge_dag *dag, int node, bool first_parent, unsigned char *ret);

/* The graph of a part of the nodes, numbered anew in the same order; edges that leave the part are
 * gone. */
struct judge_sub {
	int n;
	int *node;   /* number in the whole graph */
	int *number; /* the other way round; of nodes of the part only */
	int *parent_start;
	int *parents;
};

/* The part of `dag` whose nodes have a byte != 0 in `in`. */
int judge_sub_init(const struct judge_dag *dag, bool first_parent, const unsigned char *in,
		   struct judge_sub *ret);
void judge_sub_done(struct judge_sub *sub);

/* ret_weights[i], sub->n entries of the caller's: how many nodes of the part are ancestors-or-self
 * of i. */
int judge_sub_weights(const struct judge_sub *sub, int *ret_weights);

#endif
