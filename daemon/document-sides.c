// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/session-internal.h"

int document_below(const struct judge_dag *dag, int node, bool **ret)
{
	bool *below = calloc((size_t)dag->n, sizeof(*below));

	if (!below)
		return -ENOMEM;
	for (int i = node; i < dag->n; i++) {
		below[i] = i == node;
		for (int k = dag->parent_start[i]; k < dag->parent_start[i + 1]; k++)
			below[i] |= dag->parents[k] >= node && below[dag->parents[k]];
	}
	*ret = below;
	return 0;
}

/* The node and all that descend from it. What cannot be tested stays what it is. */
static int mark_below(const struct judge_dag *dag, int node, enum judge_side side, enum judge_side *sides)
{
	_cleanup_free_ bool *below = NULL;
	int r = document_below(dag, node, &below);

	for (int i = node; r >= 0 && i < dag->n; i++)
		if (below[i] && sides[i] != JUDGE_SIDE_SKIP)
			sides[i] = side;
	return r;
}

/* The node and all its ancestors. */
static int mark_above(const struct judge_dag *dag, int node, enum judge_side side, enum judge_side *sides)
{
	_cleanup_free_ bool *above = calloc((size_t)dag->n, sizeof(*above));

	if (!above)
		return -ENOMEM;
	above[node] = true;
	for (int i = node; i >= 0; i--) {
		if (!above[i])
			continue;
		if (sides[i] != JUDGE_SIDE_SKIP)
			sides[i] = side;
		for (int k = dag->parent_start[i]; k < dag->parent_start[i + 1]; k++)
			if (dag->parents[k] >= 0)
				above[dag->parents[k]] = true;
	}
	return 0;
}

/* Without a culprit only those have a side that lie beyond what is left. */
static int conclude_sides(const struct judge_dag *dag, const struct judge_decision *d, enum judge_side *sides)
{
	const bool culprit = d->verdict == JUDGE_CULPRIT;
	int r;

	if (d->action != JUDGE_DONE || d->n_candidates == 0)
		return 0; /* the ends do not even differ */
	r = mark_above(dag, culprit ? dag->n - 1 : d->last_good, JUDGE_SIDE_GOOD, sides);
	return r < 0 ? r : mark_below(dag, culprit ? d->culprit : d->first_bad, JUDGE_SIDE_BAD, sides);
}

int document_sides(const struct judge_dag *dag, const struct session_obs *o, const struct judge_decision *d,
		   enum judge_side **ret)
{
	_cleanup_free_ enum judge_side *sides = calloc((size_t)dag->n, sizeof(*sides));
	const bool noisy = o->options.cls != JUDGE_EXACT && !o->status;
	int r = 0;

	if (!sides)
		return -ENOMEM;
	for (int i = 0; i < dag->n; i++) {
		sides[i] = o->status ? judge_status_side(&o->status->obs[i], &o->status->failure, &o->status->options) :
				       judge_side(o->obs, i, dag->n, &o->options);
		if (noisy && sides[i] != JUDGE_SIDE_SKIP)
			sides[i] = JUDGE_SIDE_UNKNOWN;
	}
	if (noisy)
		r = conclude_sides(dag, d, sides);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(sides);
	return 0;
}
