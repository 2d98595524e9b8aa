/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Made-up histories for the tests of the judge: a graph, a hidden culprit, commits that do not
 * build, noise; and a caller that asks judge_next() and measures what it wants until it is done.
 *
 * A world owns all its arrays (world_done()). Memory that runs out ends the test. Numbers come from
 * xoshiro256** seeded by seed_of(): argv[1], else $SEED, else 1.
 */
#ifndef MMB_TEST_JUDGE_WORLD_H
#define MMB_TEST_JUDGE_WORLD_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/judge/judge.h"

#ifndef RUNS_MAX /* of one commit */
#define RUNS_MAX 64
#endif

static uint64_t random_state[4];

static inline uint64_t random_u64(void)
{
	uint64_t *s = random_state, x = s[1] * 5, t = s[1] << 17;

	x = ((x << 7) | (x >> 57)) * 9;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = (s[3] << 45) | (s[3] >> 19);
	return x;
}

static inline void random_seed(uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		/* splitmix64 */
		uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

		z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
		random_state[i] = z ^ (z >> 31);
	}
}

static inline uint64_t seed_of(int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : getenv("SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : 1;

	printf("# seed %llu\n", (unsigned long long)seed);
	random_seed(seed);
	return seed;
}

static inline int random_below(int n)
{
	return (int)(random_u64() % (uint64_t)n);
}

static inline double random_unit(void)
{
	return ((double)(random_u64() >> 11) + 0.5) / 9007199254740992.0;
}

static inline double random_normal(void)
{
	return sqrt(-2 * log(random_unit())) * cos(6.283185307179586 * random_unit());
}

static inline void *make(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	if (!p)
		abort();
	return p;
}

struct world {
	struct judge_dag dag;
	int *start, *parents;
	int edges;
	bool *bad; /* truth of each node */
	bool *unbuildable;
	struct judge_obs *obs;
	double (*values)[RUNS_MAX];
	double sigma; /* of one run; bad is 1.5 times good, both have this spread */
	int tests;    /* commits measured, without the anchors */
};

static inline void world_init(struct world *w, int n, int edges_max)
{
	*w = (struct world){0};
	w->start = make((size_t)n + 1, sizeof(int));
	w->parents = make((size_t)edges_max, sizeof(int));
	w->bad = make((size_t)n, sizeof(bool));
	w->unbuildable = make((size_t)n, sizeof(bool));
	w->obs = make((size_t)n, sizeof(*w->obs));
	w->values = make((size_t)n, sizeof(*w->values));
	w->dag = (struct judge_dag){n, w->start, w->parents};
}

static inline void world_done(struct world *w)
{
	free(w->start);
	free(w->parents);
	free(w->bad);
	free(w->unbuildable);
	free(w->obs);
	free(w->values);
}

/* Parents of nodes must be added in the order of the nodes. */
static inline void world_edge(struct world *w, int node, int parent)
{
	w->parents[w->edges++] = parent;
	for (int i = node + 1; i <= w->dag.n; i++)
		w->start[i] = w->edges;
}

static inline void world_strand(struct world *w, int candidates)
{
	world_init(w, candidates + 1, candidates + 1);
	for (int i = 1; i <= candidates; i++) {
		w->parents[i - 1] = i - 1;
		w->start[i + 1] = i;
	}
	w->edges = candidates;
}

/*
 * Forks, merges, criss-cross and octopus merges; each node but the last gets a child. Some first
 * parents lie outside of the set.
 */
static inline void world_random(struct world *w, int n)
{
	bool *child = make((size_t)n, sizeof(bool));
	int reach = 1 + random_below(8), open = 1;

	world_init(w, n, 8 * n);
	child[0] = true;
	for (int i = 1; i < n; i++) {
		int want = random_below(4) ? 1 : 2 + random_below(3);

		if (random_below(25) == 0)
			world_edge(w, i, JUDGE_OUTSIDE);
		for (int k = 0; k < want; k++) {
			int p = i - 1 - random_below(reach < i ? reach : i);

			world_edge(w, i, p);
			child[p] = true;
		}
		/* nothing may stay without a child for long, or the last merge would take all */
		for (; open < i && (i - open > 6 || i == n - 1 || child[open]); open++)
			if (!child[open]) {
				world_edge(w, i, open);
				child[open] = true;
			}
	}
	free(child);
}

/* Bytes: is `a` an ancestor-or-self of node i? */
static inline void descendants(const struct judge_dag *dag, int a, bool *ret)
{
	for (int i = 0; i < dag->n; i++) {
		ret[i] = i == a;
		for (int e = dag->parent_start[i]; e < dag->parent_start[i + 1]; e++)
			if (dag->parents[e] >= 0 && ret[dag->parents[e]])
				ret[i] = true;
	}
}

static inline void world_set_culprit(struct world *w, int culprit)
{
	descendants(&w->dag, culprit, w->bad);
}

static inline void world_measure(struct world *w, struct judge_want want)
{
	struct judge_obs *o = &w->obs[want.node];

	if (want.node != 0 && want.node != w->dag.n - 1 && o->state == JUDGE_UNTESTED)
		w->tests++;
	if (w->unbuildable[want.node]) {
		o->state = JUDGE_SKIPPED;
		return;
	}
	o->state = JUDGE_TESTED;
	o->values = w->values[want.node];
	while (o->n_values < want.runs && o->n_values < RUNS_MAX)
		w->values[want.node][o->n_values++] =
			(w->bad[want.node] ? 150 : 100) + w->sigma * random_normal();
}

static inline bool same_decision(const struct judge_decision *a, const struct judge_decision *b)
{
	bool same = a->action == b->action && a->n_wants == b->n_wants &&
		    a->verdict == b->verdict && a->culprit == b->culprit &&
		    a->n_candidates == b->n_candidates && a->last_good == b->last_good &&
		    a->first_bad == b->first_bad && a->remaining == b->remaining &&
		    a->steps_left == b->steps_left && a->change.relation == b->change.relation &&
		    strcmp(a->reason, b->reason) == 0;

	for (size_t i = 0; same && i < a->n_wants; i++)
		same = a->wants[i].node == b->wants[i].node && a->wants[i].runs == b->wants[i].runs;
	for (size_t i = 0; same && i < a->n_candidates; i++)
		same = a->candidates[i].node == b->candidates[i].node;
	return same;
}

/* What a caller that was killed does: read all observations back into new memory and ask again. */
static inline int ask_again(const struct world *w, const struct judge_options *opt,
			    struct judge_decision *ret)
{
	size_t n = (size_t)w->dag.n;
	struct judge_obs *obs = make(n, sizeof(*obs));
	double *values = make(n * RUNS_MAX, sizeof(*values)), *next = values;

	for (size_t i = 0; i < n; i++) {
		obs[i] = w->obs[i];
		obs[i].values = next;
		for (size_t k = 0; k < obs[i].n_values; k++)
			*next++ = w->obs[i].values[k];
	}
	int r = judge_next(&w->dag, obs, opt, ret);
	free(obs);
	free(values);
	return r;
}

/*
 * Ask and measure to the end. False: an error, a want that was satisfied already, an answer that
 * differs after a restart, or no end; ret is to be freed when true.
 */
static inline bool world_search(struct world *w, const struct judge_options *opt, bool restart,
				struct judge_decision *ret)
{
	for (int step = 0; step < 2 * w->dag.n + 8; step++) {
		struct judge_decision d, again;

		if (judge_next(&w->dag, w->obs, opt, &d) < 0)
			return false;
		if (restart) {
			if (ask_again(w, opt, &again) < 0)
				return false;
			bool same = same_decision(&d, &again);

			judge_decision_done(&again);
			if (!same)
				return false;
		}
		if (d.action == JUDGE_DONE) {
			*ret = d;
			return true;
		}
		for (size_t i = 0; i < d.n_wants; i++) {
			const struct judge_obs *o = &w->obs[d.wants[i].node];

			if (o->state == JUDGE_SKIPPED || o->n_values >= d.wants[i].runs)
				return false;
			world_measure(w, d.wants[i]);
		}
		bool asked = d.n_wants > 0;

		judge_decision_done(&d);
		if (!asked)
			return false;
	}
	return false;
}

#endif
