/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/several.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What would be left if the tests that were asked for had these sides. */
struct leaf {
	enum judge_side *sides;
	int left, pick;
};

static bool is_free(const struct judge_obs *obs, const struct leaf *leaf)
{
	return leaf->pick >= 0 && obs[leaf->pick].build_seconds <= 0;
}

/* The leaf in which a test tells most; -1: none whose test is free. */
static int largest(const struct judge_obs *obs, const struct leaf *leaves, int n)
{
	int best = -1;

	for (int i = 0; i < n; i++)
		if (is_free(obs, &leaves[i]) && (best < 0 || leaves[i].left > leaves[best].left))
			best = i;
	return best;
}

static int look(const struct judge_dag *dag, bool first_parent, struct leaf *leaf)
{
	struct judge_search s;
	int r = judge_search_run(dag, first_parent, leaf->sides, &s);

	if (r < 0)
		return r;
	leaf->left = s.n_candidates;
	leaf->pick = s.pick;
	judge_search_done(&s);
	return 0;
}

/* Its test done, with either result: one leaf becomes two. */
static int split(const struct judge_dag *dag, bool first_parent, struct leaf *leaf, struct leaf *ret_other)
{
	size_t size = (size_t)dag->n * sizeof(*leaf->sides);
	struct leaf other = {.sides = malloc(size)};
	int r, pick = leaf->pick;

	if (!other.sides)
		return -ENOMEM;
	memcpy(other.sides, leaf->sides, size);
	other.sides[pick] = JUDGE_SIDE_BAD;
	leaf->sides[pick] = JUDGE_SIDE_GOOD;
	*ret_other = other;
	r = look(dag, first_parent, leaf);
	return r < 0 ? r : look(dag, first_parent, ret_other);
}

int judge_pick_several(const struct judge_dag *dag, const struct judge_obs *obs, bool first_parent, const enum judge_side *sides,
		       const struct judge_search *s, int most, int *ret)
{
	struct leaf leaves[JUDGE_WANTS_MAX + 1] = {{.left = s->n_candidates, .pick = s->pick}};
	int n = 0, n_leaves = 1, r = 0;

	ret[n++] = s->pick;
	if (most > JUDGE_WANTS_MAX)
		most = JUDGE_WANTS_MAX;
	if (most < 2 || !is_free(obs, &leaves[0]))
		return n;
	leaves[0].sides = malloc((size_t)dag->n * sizeof(*sides));
	if (!leaves[0].sides)
		return -ENOMEM;
	memcpy(leaves[0].sides, sides, (size_t)dag->n * sizeof(*sides));
	for (int at = 0; r == 0 && at >= 0 && n < most;) {
		r = split(dag, first_parent, &leaves[at], &leaves[n_leaves]);
		n_leaves += leaves[n_leaves].sides != NULL;
		at = r < 0 ? -1 : largest(obs, leaves, n_leaves);
		if (at >= 0)
			ret[n++] = leaves[at].pick;
	}
	for (int i = 0; i < n_leaves; i++)
		free(leaves[i].sides);
	return r < 0 ? r : n;
}
