/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Histories of the simulation: a strand, or a graph with side branches, merges and octopus merges,
 * as the judge takes them (dag.h).
 *
 * A graph owns its arrays. -ENOMEM is all that fails.
 */
#ifndef MMB_SIMULATE_GRAPH_H
#define MMB_SIMULATE_GRAPH_H

#include "daemon/judge/dag.h"
#include "daemon/simulate/rng.h"

struct sim_graph {
	struct judge_dag dag; /* borrows the arrays below */
	int *start, *parents;
	int n_edges;
};

int sim_graph_strand(int candidates, struct sim_graph *ret);
int sim_graph_merges(int candidates, struct rng *rng, struct sim_graph *ret);
void sim_graph_done(struct sim_graph *graph);

/* ret_below: a byte a node, 1 where `node` is an ancestor-or-self. */
void sim_graph_below(const struct judge_dag *dag, int node, unsigned char *ret_below);

#endif
