/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A made-up history to search: a graph, commits that change the level, commits that do not build,
 * and the noise and the cost of builds and runs.
 *
 * The unit of levels is sigma, the standard deviation of one run: its boot gives variance 0.7, its
 * three iterations 0.9 each. Values are 100 + level, so a sigma is one percent; more is worse. All
 * that a search may know is in `obs`; the truth is for the referee. A world owns all its arrays;
 * the same options, seed, name and trial make the same world, and the same questions in the same
 * order get the same answers. -ENOMEM is all that fails.
 */
#ifndef MMB_SIMULATE_WORLD_H
#define MMB_SIMULATE_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/judge/judge.h"
#include "daemon/simulate/graph.h"
#include "daemon/simulate/pool.h"
#include "daemon/simulate/rng.h"

#define WORLD_LEVEL 100.0
#define WORLD_RUN 7.0 /* seconds */
#define WORLD_STEPS_MAX 3
#define WORLD_RAMP_MAX 64
#define WORLD_LAYOUTS 8

struct world_options {
	int commits;		       /* candidates */
	bool merges;		       /* a graph in place of a strand */
	double steps[WORLD_STEPS_MAX]; /* sizes in sigma, each at a commit of its own; 0 ends them
					*/
	int ramp;	 /* > 1: the first step is spread evenly over that many commits */
	double claim;	 /* sigma that somebody claims; 0: what the steps add up to */
	bool quiet;	 /* runs have no noise at all */
	double outliers; /* share of runs that are 3 to 10 sigma too slow */
	double drift;	 /* sd of the random walk of all values, sigma a run */
	double jitter;	 /* sd of what each (image, layout) differs by for no reason, in sigma */
	double slow_boots, slow_by; /* a second mode of boots: its share, how much slower */
	double unbuildable;	    /* share of commits, in clusters of about four */
	double noop;		    /* share of commits whose image is their first parent's */
	unsigned char layouts;	    /* variants that can be built; 0 is 1 */
	unsigned slots;		    /* runs and builds at once; 0 is 1 */
	const struct world_pool *pool; /* borrowed; not NULL: runs are drawn from it, no other noise is made */
};

/* All runs of one image, as the observations list them. */
struct world_runs {
	double *values;
	int64_t *order;
	unsigned char *layout;
	size_t n, capacity;
	unsigned n_of[WORLD_LAYOUTS];
};

struct world_step {
	int node;
	double size;
};

struct world {
	struct world_options options;
	struct sim_graph graph;
	/* the truth */
	double *level; /* of each node, sigma over the good anchor */
	struct world_step *steps;
	int n_steps;
	unsigned char *broken; /* bytes: does not build */
	int *image;	       /* the node whose image it shares, itself mostly */
	/* what has been done so far */
	unsigned char *built; /* a bit a layout */
	struct world_runs *of_image;
	struct judge_obs *obs;
	struct rng noise;
	uint64_t layout_seed;
	double drift;
	int64_t order;
	double seconds; /* of all builds and runs */
	unsigned builds, runs;
};

int world_init(struct world *w, const struct world_options *options, uint64_t seed,
	       const char *name, unsigned trial);
void world_done(struct world *w);

/* Pays for an image unless it is there. False: it does not build, which the observation says then.
 */
bool world_build(struct world *w, int node, unsigned char layout);
/* One run of an image that was built. 0 or -ENOMEM. */
int world_run(struct world *w, int node, unsigned char layout, double *ret_value);
unsigned world_runs_of(const struct world *w, int node, unsigned char layout);

/* Seconds of a build at that distance (in commits) from the nearest image; 0: there is none. */
double world_build_seconds(int distance);
/* Sigma between the anchors. */
double world_total(const struct world *w);

#endif
