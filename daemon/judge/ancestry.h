/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who descends from whom, in one graph. Private to this room.
 *
 * Bit rows are kept for merges only: the rest of a strand is found by walking. A set of nodes is
 * `words` 64-bit words, bit i of the whole is node i. With first_parent only first parents count.
 * The graph is borrowed and must have passed judge_dag_check(). -ENOMEM.
 */
#ifndef MMB_JUDGE_ANCESTRY_H
#define MMB_JUDGE_ANCESTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/judge/dag.h"

struct ancestry {
	struct judge_dag dag; /* its arrays are borrowed */
	bool first_parent;
	size_t words;	/* of one set */
	int *row;	/* a node: index of its row, -1: it has at most one parent that counts */
	uint64_t *rows; /* ancestors-or-self of each merge */
};

int ancestry_init(const struct judge_dag *dag, bool first_parent, struct ancestry *ret);
void ancestry_done(struct ancestry *a);

/* ret: the ancestors-or-self of `node` among nodes 1 to n-1. */
void ancestry_set(const struct ancestry *a, int node, uint64_t *ret);

static inline bool ancestry_in(const uint64_t *set, int node)
{
	return set[node / 64] >> (node % 64) & 1;
}

/* ret[i] = sum of mass[c] over all c that are ancestors-or-self of i; both have dag->n entries. */
void ancestry_sums(const struct ancestry *a, const double *mass, double *ret);

#endif
