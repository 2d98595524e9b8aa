/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/simulate/graph.h"

#include <errno.h>
#include <stdlib.h>

#define BRANCHES_MAX 8
#define PARENTS_MAX 4 /* of an octopus */

/* The ends of side branches that are not merged yet, while a graph grows. */
struct growth {
	struct sim_graph *graph;
	struct rng *rng;
	int main; /* newest commit of the mainline */
	int tips[BRANCHES_MAX];
	int n_tips;
};

static int graph_init(int nodes, int edges_max, struct sim_graph *ret)
{
	struct sim_graph g = {
		.start = calloc((size_t)nodes + 1, sizeof(*g.start)),
		.parents = calloc((size_t)edges_max, sizeof(*g.parents)),
	};

	if (!g.start || !g.parents) {
		sim_graph_done(&g);
		return -ENOMEM;
	}
	g.dag = (struct judge_dag){nodes, g.start, g.parents};
	*ret = g;
	return 0;
}

static void add_parent(struct sim_graph *g, int parent)
{
	g->parents[g->n_edges++] = parent;
}

int sim_graph_strand(int candidates, struct sim_graph *ret)
{
	int r = graph_init(candidates + 1, candidates, ret);

	if (r < 0)
		return r;
	for (int i = 1; i <= candidates; i++) {
		add_parent(ret, i - 1);
		ret->start[i + 1] = ret->n_edges;
	}
	return 0;
}

/* Merges one branch, seldom several, into the mainline. */
static void grow_merge(struct growth *g, int node)
{
	int branches = rng_below(g->rng, 12) ? 1 : 2 + rng_below(g->rng, PARENTS_MAX - 2);

	add_parent(g->graph, g->main);
	for (; branches > 0 && g->n_tips > 0; branches--) {
		int k = rng_below(g->rng, g->n_tips);

		add_parent(g->graph, g->tips[k]);
		g->tips[k] = g->tips[--g->n_tips];
	}
	g->main = node;
}

/* A branch forks off somewhere behind; many are older than the good anchor, and so are outside. */
static void grow_fork(struct growth *g, int node)
{
	int back = 1 + rng_below(g->rng, 100);

	add_parent(g->graph, back < node ? node - back : JUDGE_OUTSIDE);
	g->tips[g->n_tips++] = node;
}

static void grow_on(struct growth *g, int node)
{
	int k = rng_below(g->rng, 2 * g->n_tips + 1);
	int *tip = k < g->n_tips ? &g->tips[k] : &g->main;

	add_parent(g->graph, *tip);
	*tip = node;
}

int sim_graph_merges(int candidates, struct rng *rng, struct sim_graph *ret)
{
	struct growth g = {.graph = ret, .rng = rng};
	int r = graph_init(candidates + 1, PARENTS_MAX * candidates, ret);

	if (r < 0)
		return r;
	for (int i = 1; i <= candidates; i++) {
		int left = candidates - i + 1, dice = rng_below(rng, 100);

		/* every branch must be back in the mainline at the bad anchor */
		if (g.n_tips > 0 && (g.n_tips >= left - 1 || dice < 10))
			grow_merge(&g, i);
		else if (g.n_tips < BRANCHES_MAX && g.n_tips + 2 < left && dice >= 88)
			grow_fork(&g, i);
		else if (left == 1)
			add_parent(ret, g.main);
		else
			grow_on(&g, i);
		ret->start[i + 1] = ret->n_edges;
	}
	return 0;
}

void sim_graph_done(struct sim_graph *graph)
{
	free(graph->start);
	free(graph->parents);
	*graph = (struct sim_graph){0};
}

void sim_graph_below(const struct judge_dag *dag, int node, unsigned char *ret_below)
{
	for (int i = 0; i < dag->n; i++) {
		ret_below[i] = i == node;
		for (int e = dag->parent_start[i]; !ret_below[i] && e < dag->parent_start[i + 1];
		     e++)
			if (dag->parents[e] >= node)
				ret_below[i] = ret_below[dag->parents[e]];
	}
}
