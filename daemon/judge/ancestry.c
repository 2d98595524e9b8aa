/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/ancestry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The next parent of `node` that is a candidate, from edge *e on; -1: no more. */
static int next_parent(const struct ancestry *a, int node, int *e)
{
	int end = judge_dag_parents_end(&a->dag, node, a->first_parent);

	while (*e < end) {
		int parent = a->dag.parents[(*e)++];

		if (parent > 0)
			return parent;
	}
	return -1;
}

/* The only parent that counts, -1: none. Not to be asked of merges. */
static int only_parent(const struct ancestry *a, int node)
{
	int e = a->dag.parent_start[node];

	return next_parent(a, node, &e);
}

static bool is_merge(const struct ancestry *a, int node)
{
	int e = a->dag.parent_start[node], parents = 0;

	while (next_parent(a, node, &e) > 0)
		parents++;
	return parents > 1;
}

static void add(const struct ancestry *a, int node, uint64_t *set)
{
	for (; node > 0 && a->row[node] < 0; node = only_parent(a, node)) {
		if (ancestry_in(set, node))
			return; /* and with it all that is behind it */
		set[node / 64] |= UINT64_C(1) << (node % 64);
	}
	if (node <= 0)
		return;
	const uint64_t *row = a->rows + (size_t)a->row[node] * a->words;
	for (size_t w = 0; w < a->words; w++)
		set[w] |= row[w];
}

static void fill_row(struct ancestry *a, int node)
{
	uint64_t *row = a->rows + (size_t)a->row[node] * a->words;
	int e = a->dag.parent_start[node], parent;

	while ((parent = next_parent(a, node, &e)) > 0)
		add(a, parent, row);
	row[node / 64] |= UINT64_C(1) << (node % 64);
}

int ancestry_init(const struct judge_dag *dag, bool first_parent, struct ancestry *ret)
{
	struct ancestry a = {.dag = *dag, .first_parent = first_parent};
	int merges = 0;

	a.words = ((size_t)dag->n + 63) / 64;
	a.row = malloc((size_t)dag->n * sizeof(*a.row));
	if (!a.row)
		return -ENOMEM;
	for (int i = 0; i < dag->n; i++)
		a.row[i] = i > 0 && is_merge(&a, i) ? merges++ : -1;
	a.rows = calloc((size_t)merges * a.words + 1, sizeof(*a.rows));
	if (!a.rows) {
		free(a.row);
		return -ENOMEM;
	}
	for (int i = 0; i < dag->n; i++)
		if (a.row[i] >= 0)
			fill_row(&a, i);
	*ret = a;
	return 0;
}

void ancestry_done(struct ancestry *a)
{
	free(a->row);
	free(a->rows);
	*a = (struct ancestry){0};
}

void ancestry_set(const struct ancestry *a, int node, uint64_t *ret)
{
	memset(ret, 0, a->words * sizeof(*ret));
	add(a, node, ret);
}

static double sum_row(const struct ancestry *a, int node, const double *mass)
{
	const uint64_t *row = a->rows + (size_t)a->row[node] * a->words;
	double sum = 0;

	for (size_t w = 0; w < a->words; w++)
		for (uint64_t bits = row[w]; bits; bits &= bits - 1)
			sum += mass[64 * w + (size_t)__builtin_ctzll(bits)];
	return sum;
}

void ancestry_sums(const struct ancestry *a, const double *mass, double *ret)
{
	ret[0] = 0;
	for (int i = 1; i < a->dag.n; i++) {
		int parent;

		if (a->row[i] >= 0) {
			ret[i] = sum_row(a, i, mass);
			continue;
		}
		parent = only_parent(a, i);
		ret[i] = mass[i] + (parent > 0 ? ret[parent] : 0);
	}
}
