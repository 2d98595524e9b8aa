/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/recovery.h"

#include <math.h>

#define TOLERANCE 0.1
#define HALF 0.5

struct undoing {
	struct judge_change *changes;
	const struct judge_options *opt;
	const unsigned char *above; /* ancestors-or-self of the change that took something back */
	int by;
};

static double shift_of(const struct judge_change *c)
{
	return c->after - c->before;
}

/* How much of the effect is left when both have happened, as a share of it: by differences or by factors. */
static double rest_of(const struct judge_change *worse, const struct judge_change *better)
{
	double rest = fabs((shift_of(worse) + shift_of(better)) / shift_of(worse));

	if (worse->before > 0 && worse->after > 0 && better->before > 0 && better->after > 0)
		rest = fmin(rest, fabs(1 + log(better->ratio) / log(worse->ratio)));
	return rest;
}

static bool stands_before(const struct undoing *u, int i)
{
	return u->changes[i].kind == JUDGE_REGRESSION && u->above[u->changes[i].node];
}

static void take_back(const struct undoing *u, int i)
{
	u->changes[i].kind = JUDGE_RECOVERED;
	u->changes[i].recovered_by = u->by;
}

static bool has(const struct judge_change *c, int node)
{
	for (size_t i = 0; i < c->n_nodes; i++)
		if (c->nodes[i] == node)
			return true;
	return false;
}

static bool by_hint(const struct undoing *u)
{
	for (int i = u->by - 1; i >= 0; i--)
		for (size_t h = 0; stands_before(u, i) && h < u->opt->n_hints; h++)
			if (has(&u->changes[i], u->opt->hints[h].reverted) &&
			    has(&u->changes[u->by], u->opt->hints[h].reverting) &&
			    rest_of(&u->changes[i], &u->changes[u->by]) <= HALF) {
				take_back(u, i);
				return true;
			}
	return false;
}

static bool by_effect(const struct undoing *u)
{
	for (int i = u->by - 1; i >= 0; i--)
		if (stands_before(u, i) && rest_of(&u->changes[i], &u->changes[u->by]) <= TOLERANCE) {
			take_back(u, i);
			return true;
		}
	return false;
}

static void by_level(const struct undoing *u)
{
	double now = u->changes[u->by].after;
	int first = 0;

	while (first < u->by && !(stands_before(u, first) &&
				  fabs(now - u->changes[first].before) <= TOLERANCE * fabs(shift_of(&u->changes[first]))))
		first++;
	for (int i = first; i < u->by; i++)
		if (stands_before(u, i))
			take_back(u, i);
}

void recovery_find(const struct judge_dag *dag, const struct judge_options *opt,
		   struct judge_change *changes, size_t n, unsigned char *scratch)
{
	for (size_t i = 0; i < n; i++) {
		struct undoing u = {changes, opt, scratch, (int)i};

		if (changes[i].kind != JUDGE_IMPROVEMENT)
			continue;
		judge_dag_above(dag, changes[i].node, opt->first_parent, scratch);
		if (!by_hint(&u) && !by_effect(&u))
			by_level(&u);
	}
}

int recovery_main(const struct judge_change *changes, size_t n, int preferred)
{
	int main = -1;

	for (size_t i = 0; i < n; i++) {
		double size = fabs(shift_of(&changes[i])), most = main < 0 ? -1 : fabs(shift_of(&changes[main]));

		if (changes[i].kind != JUDGE_REGRESSION || changes[i].cut)
			continue;
		if (size > most || (size >= most && changes[i].node == preferred))
			main = (int)i;
	}
	return main;
}
