/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/dag.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Shape of the arrays alone: monotone starts, and each parent outside or before its child. */
static int check_edges(const struct judge_dag *dag)
{
	if (dag->n < 2 || !dag->parent_start || dag->parent_start[0] != 0)
		return -EINVAL;
	for (int i = 0; i < dag->n; i++)
		if (dag->parent_start[i + 1] < dag->parent_start[i])
			return -EINVAL;
	if (dag->parent_start[dag->n] > 0 && !dag->parents)
		return -EINVAL;

	for (int i = 0; i < dag->n; i++)
		for (int e = dag->parent_start[i]; e < dag->parent_start[i + 1]; e++)
			if (dag->parents[e] >= i || dag->parents[e] < JUDGE_OUTSIDE)
				return -EINVAL;
	return 0;
}

/* Is every candidate an ancestor-or-self of bad? `reached` has n zeroed bytes. */
static int check_reach(const struct judge_dag *dag, unsigned char *reached)
{
	reached[dag->n - 1] = 1;
	for (int i = dag->n - 1; i > 0; i--) {
		if (!reached[i])
			return -EINVAL;
		for (int e = dag->parent_start[i]; e < dag->parent_start[i + 1]; e++)
			if (dag->parents[e] >= 0)
				reached[dag->parents[e]] = 1;
	}
	return 0;
}

int judge_dag_check(const struct judge_dag *dag)
{
	int r = check_edges(dag);
	if (r < 0)
		return r;

	unsigned char *reached = calloc((size_t)dag->n, 1);
	if (!reached)
		return -ENOMEM;
	r = check_reach(dag, reached);
	free(reached);
	return r;
}

void judge_dag_above(const struct judge_dag *dag, int node, bool first_parent, unsigned char *ret)
{
	memset(ret, 0, (size_t)dag->n);
	ret[node] = 1;
	for (int i = node; i > 0; i--) {
		if (!ret[i])
			continue;
		for (int e = dag->parent_start[i]; e < judge_dag_parents_end(dag, i, first_parent);
		     e++)
			if (dag->parents[e] >= 0)
				ret[dag->parents[e]] = 1;
	}
}

int judge_sub_init(const struct judge_dag *dag, bool first_parent, const unsigned char *in,
		   struct judge_sub *ret)
{
	struct judge_sub sub = {0};
	size_t edges = 0, nodes = 0;

	for (int i = 0; i < dag->n; i++)
		if (in[i]) {
			nodes++;
			edges += (size_t)(judge_dag_parents_end(dag, i, first_parent) -
					  dag->parent_start[i]);
		}

	sub.number = calloc((size_t)dag->n, sizeof(*sub.number));
	sub.node = calloc(nodes + 1, sizeof(*sub.node));
	sub.parent_start = calloc(nodes + 1, sizeof(*sub.parent_start));
	sub.parents = calloc(edges + 1, sizeof(*sub.parents));
	if (!sub.number || !sub.node || !sub.parent_start || !sub.parents) {
		judge_sub_done(&sub);
		return -ENOMEM;
	}

	int edge = 0;
	for (int i = 0; i < dag->n; i++) {
		if (!in[i])
			continue;
		for (int e = dag->parent_start[i]; e < judge_dag_parents_end(dag, i, first_parent);
		     e++) {
			int p = dag->parents[e];

			if (p >= 0 && in[p])
				sub.parents[edge++] = sub.number[p];
		}
		sub.number[i] = sub.n;
		sub.node[sub.n++] = i;
		sub.parent_start[sub.n] = edge;
	}
	*ret = sub;
	return 0;
}

void judge_sub_done(struct judge_sub *sub)
{
	free(sub->number);
	free(sub->node);
	free(sub->parent_start);
	free(sub->parents);
	*sub = (struct judge_sub){0};
}

/* Without merges the weight of a node is one more than its parent's. False at the first merge. */
static bool strand_weights(const struct judge_sub *sub, int *weights)
{
	for (int i = 0; i < sub->n; i++) {
		int start = sub->parent_start[i], count = sub->parent_start[i + 1] - start;

		if (count > 1)
			return false;
		weights[i] = 1 + (count ? weights[sub->parents[start]] : 0);
	}
	return true;
}

/*
 * With merges ancestors are counted as sets: 64 nodes at a time get a bit each, the bits flow from
 * parents to children, and every node counts the bits that reached it. That is n/64 passes over the
 * edges that follow, whatever the number of merges; git's count_distance() is one walk a merge.
 */
int judge_sub_weights(const struct judge_sub *sub, int *ret_weights)
{
	if (strand_weights(sub, ret_weights))
		return 0;

	uint64_t *bits = calloc((size_t)sub->n, sizeof(*bits));
	if (!bits)
		return -ENOMEM;

	for (int i = 0; i < sub->n; i++)
		ret_weights[i] = 0;
	for (int base = 0; base < sub->n; base += 64)
		for (int i = base; i < sub->n; i++) {
			uint64_t b = i - base < 64 ? UINT64_C(1) << (i - base) : 0;

			for (int e = sub->parent_start[i]; e < sub->parent_start[i + 1]; e++)
				if (sub->parents[e] >= base)
					b |= bits[sub->parents[e]];
			bits[i] = b;
			ret_weights[i] += __builtin_popcountll(b);
		}
	free(bits);
	return 0;
}
