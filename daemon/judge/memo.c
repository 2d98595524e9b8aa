/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/memo.h"

#include <stdlib.h>

#define BUCKETS 256

struct entry {
	struct entry *next;
	int node;
	unsigned char layout;
	struct table *table;
};

struct judge_memo {
	struct ancestry ancestry; /* rows NULL: not made yet */
	struct info_table *info;
	struct density *density;
	struct entry *bucket[BUCKETS];
};

struct judge_memo *judge_memo_new(void)
{
	return calloc(1, sizeof(struct judge_memo));
}

struct judge_memo *judge_memo_free(struct judge_memo *memo)
{
	if (!memo)
		return NULL;
	for (int b = 0; b < BUCKETS; b++)
		while (memo->bucket[b]) {
			struct entry *next = memo->bucket[b]->next;

			(void)table_free(memo->bucket[b]->table);
			free(memo->bucket[b]);
			memo->bucket[b] = next;
		}
	ancestry_done(&memo->ancestry);
	free(memo->info);
	(void)density_free(memo->density);
	free(memo);
	return NULL;
}

int memo_ancestry(struct judge_memo *memo, const struct judge_dag *dag, bool first_parent,
		  const struct ancestry **ret)
{
	struct ancestry *a = &memo->ancestry;
	int r;

	if (a->rows && (a->dag.parents != dag->parents || a->dag.n != dag->n || a->first_parent != first_parent))
		ancestry_done(a);
	if (!a->rows) {
		r = ancestry_init(dag, first_parent, a);
		if (r < 0)
			return r;
	}
	*ret = a;
	return 0;
}

const struct info_table *memo_info(struct judge_memo *memo)
{
	if (memo->info)
		return memo->info;
	memo->info = malloc(sizeof(*memo->info));
	if (memo->info)
		info_table_make(memo->info);
	return memo->info;
}

const struct density *memo_density(struct judge_memo *memo)
{
	if (!memo->density)
		memo->density = density_new();
	return memo->density;
}

struct table *memo_table(struct judge_memo *memo, int node, unsigned char layout)
{
	struct entry **bucket = &memo->bucket[((unsigned)node * 31u + layout) % BUCKETS], *e;

	for (e = *bucket; e; e = e->next)
		if (e->node == node && e->layout == layout)
			return e->table;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->table = table_new();
	if (!e->table) {
		free(e);
		return NULL;
	}
	e->node = node;
	e->layout = layout;
	e->next = *bucket;
	*bucket = e;
	return e->table;
}
