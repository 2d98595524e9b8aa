/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/simulate/world.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define BUILD_NEW 60.0
#define BUILD_NEAR 15.0
#define BOOT_VARIANCE 0.7
#define ITER_VARIANCE 0.9
#define ITERATIONS 3

double world_build_seconds(int distance)
{
	if (distance <= 0)
		return BUILD_NEW;
	return BUILD_NEAR + (BUILD_NEW - BUILD_NEAR) * fmin(1, log2(1 + distance) / 10);
}

double world_total(const struct world *w)
{
	return w->level[w->graph.dag.n - 1];
}

static int make_arrays(struct world *w)
{
	size_t n = (size_t)w->graph.dag.n;

	w->level = calloc(n, sizeof(*w->level));
	w->steps = calloc(WORLD_STEPS_MAX + WORLD_RAMP_MAX, sizeof(*w->steps));
	w->broken = calloc(n, 1);
	w->image = calloc(n, sizeof(*w->image));
	w->built = calloc(n, 1);
	w->of_image = calloc(n, sizeof(*w->of_image));
	w->obs = calloc(n, sizeof(*w->obs));
	if (!w->level || !w->steps || !w->broken || !w->image || !w->built || !w->of_image ||
	    !w->obs)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		w->image[i] = (int)i;
		w->obs[i].build_seconds = world_build_seconds(0);
	}
	return 0;
}

static bool has_step(const struct world *w, int node)
{
	for (int i = 0; i < w->n_steps; i++)
		if (w->steps[i].node == node)
			return true;
	return false;
}

static void add_step(struct world *w, int node, double size)
{
	w->steps[w->n_steps++] = (struct world_step){node, size};
}

/* Culprits are uniform among the candidates; a ramp fits in as a whole. */
static void place_steps(struct world *w, struct rng *rng)
{
	const struct world_options *o = &w->options;
	int ramp = o->ramp > 1 ? o->ramp : 1;
	int first = 1 + rng_below(rng, o->commits - ramp + 1);

	for (int i = 0; o->steps[0] != 0 && i < ramp; i++)
		add_step(w, first + i, o->steps[0] / ramp);
	for (int k = 1; k < WORLD_STEPS_MAX && o->steps[k] != 0; k++) {
		int node;

		do
			node = 1 + rng_below(rng, o->commits);
		while (has_step(w, node));
		add_step(w, node, o->steps[k]);
	}
}

static int raise_levels(struct world *w)
{
	const struct judge_dag *dag = &w->graph.dag;
	unsigned char *below = malloc((size_t)dag->n);

	if (!below)
		return -ENOMEM;
	for (int k = 0; k < w->n_steps; k++) {
		sim_graph_below(dag, w->steps[k].node, below);
		for (int i = 0; i < dag->n; i++)
			w->level[i] += below[i] * w->steps[k].size;
	}
	free(below);
	return 0;
}

/* Clusters of 2 to 6 commits that do not build; the anchors do. */
static void place_broken(struct world *w, struct rng *rng)
{
	int last = w->graph.dag.n - 1;

	for (int i = 1; i < last; i++) {
		int size = 2 + rng_below(rng, 5);

		if (rng_unit(rng) >= w->options.unbuildable / 4)
			continue;
		for (; size > 0 && i < last; size--)
			w->broken[i++] = 1;
	}
}

/* Commits that leave the image as it was: a document, a driver that is not built. */
static void place_noops(struct world *w, struct rng *rng)
{
	const struct judge_dag *dag = &w->graph.dag;

	for (int i = 1; i < dag->n; i++) {
		int start = dag->parent_start[i];
		bool noop = rng_unit(rng) < w->options.noop;

		if (noop && dag->parent_start[i + 1] == start + 1 && dag->parents[start] >= 0 &&
		    !has_step(w, i))
			w->image[i] = w->image[dag->parents[start]];
	}
}

int world_init(struct world *w, const struct world_options *options, uint64_t seed,
	       const char *name, unsigned trial)
{
	struct rng rng;

	*w = (struct world){.options = *options};
	rng_seed(&rng, seed, name, trial);
	int r = options->merges ? sim_graph_merges(options->commits, &rng, &w->graph)
				: sim_graph_strand(options->commits, &w->graph);
	if (r >= 0)
		r = make_arrays(w);
	if (r >= 0) {
		place_steps(w, &rng);
		r = raise_levels(w);
	}
	if (r < 0) {
		world_done(w);
		return r;
	}
	place_broken(w, &rng);
	place_noops(w, &rng);
	w->layout_seed = rng_u64(&rng);
	w->noise = rng;
	return 0;
}

void world_done(struct world *w)
{
	for (int i = 0; w->of_image && i < w->graph.dag.n; i++) {
		free(w->of_image[i].values);
		free(w->of_image[i].order);
		free(w->of_image[i].layout);
	}
	sim_graph_done(&w->graph);
	free(w->level);
	free(w->steps);
	free(w->broken);
	free(w->image);
	free(w->built);
	free(w->of_image);
	free(w->obs);
	*w = (struct world){0};
}

/* The runs of an image are seen at all nodes that are known to have it. */
static void show_runs(struct world *w, int node)
{
	const struct world_runs *runs = &w->of_image[w->image[node]];
	struct judge_obs *o = &w->obs[node];

	o->values = runs->values;
	o->order = runs->order;
	o->layout = runs->layout;
	o->n_values = runs->n;
	o->state = runs->n ? JUDGE_TESTED : JUDGE_UNTESTED;
}

static void show_image(struct world *w, int node)
{
	int image = w->image[node];

	if (w->options.noop <= 0) {
		show_runs(w, node);
		return;
	}
	for (int i = 0; i < w->graph.dag.n; i++)
		if (w->image[i] == image && w->built[i]) {
			w->obs[i].image = image + 1;
			show_runs(w, i);
		}
}

/* What an image costs falls with the distance to the nearest one of the same layout. */
static double layout_seconds(const struct world *w, int node, unsigned char layout)
{
	int n = w->graph.dag.n;

	for (int distance = 1; distance < n; distance++) {
		int low = node - distance, high = node + distance;

		if ((low >= 0 && (w->built[low] >> layout & 1)) ||
		    (high < n && (w->built[high] >> layout & 1)))
			return world_build_seconds(distance);
	}
	return world_build_seconds(0);
}

static void price_builds(struct world *w, int built)
{
	for (int i = 0; i < w->graph.dag.n; i++) {
		double seconds = i == built ? 0 : world_build_seconds(abs(i - built));

		w->obs[i].build_seconds = fmin(w->obs[i].build_seconds, seconds);
	}
}

bool world_build(struct world *w, int node, unsigned char layout)
{
	if (w->built[node] >> layout & 1)
		return true;
	double seconds = layout_seconds(w, node, layout);

	if (w->obs[node].state == JUDGE_SKIPPED)
		return false;
	w->builds++;
	if (w->broken[node]) {
		w->seconds += seconds / 2;
		w->obs[node].state = JUDGE_SKIPPED;
		return false;
	}
	w->seconds += seconds;
	w->built[node] |= (unsigned char)(1u << layout);
	if (layout == 0)
		price_builds(w, node);
	if (w->options.noop > 0)
		show_image(w, node);
	return true;
}

static double jitter(const struct world *w, int image, unsigned char layout)
{
	struct rng rng;

	if (w->options.jitter <= 0)
		return 0;
	rng_seed(&rng, w->layout_seed, "layout", (uint64_t)image * WORLD_LAYOUTS + layout);
	return w->options.jitter * rng_normal(&rng);
}

static double run_noise(struct world *w)
{
	const struct world_options *o = &w->options;
	struct rng *rng = &w->noise;
	double noise = 0;

	if (o->quiet)
		return 0;
	for (int i = 0; i < ITERATIONS; i++)
		noise += sqrt(ITER_VARIANCE) * rng_normal(rng) / ITERATIONS;
	noise += sqrt(BOOT_VARIANCE) * rng_normal(rng);
	if (rng_unit(rng) < o->slow_boots)
		noise += o->slow_by;
	if (rng_unit(rng) < o->outliers)
		noise += rng_between(rng, 3, 10);
	w->drift += o->drift * rng_normal(rng);
	return noise + w->drift;
}

static int runs_grow(struct world_runs *runs)
{
	size_t capacity = runs->capacity ? 2 * runs->capacity : 16;
	double *values = realloc(runs->values, capacity * sizeof(*values));
	int64_t *order = values ? realloc(runs->order, capacity * sizeof(*order)) : NULL;
	unsigned char *layout = order ? realloc(runs->layout, capacity) : NULL;

	if (values)
		runs->values = values;
	if (order)
		runs->order = order;
	if (!layout)
		return -ENOMEM;
	runs->layout = layout;
	runs->capacity = capacity;
	return 0;
}

/* A real run of the side that the node is on. */
static double pool_value(struct world *w, int node)
{
	const struct world_pool *pool = w->options.pool;
	const bool bad = w->level[node] > 0;

	return bad ? pool->bad[rng_below(&w->noise, (int)pool->n_bad)]
		   : pool->good[rng_below(&w->noise, (int)pool->n_good)];
}

int world_run(struct world *w, int node, unsigned char layout, double *ret_value)
{
	int image = w->image[node];
	struct world_runs *runs = &w->of_image[image];
	double value = w->options.pool ? pool_value(w, node)
				       : WORLD_LEVEL + w->level[node] +
						 jitter(w, image, layout) + run_noise(w);

	if (runs->n == runs->capacity && runs_grow(runs) < 0)
		return -ENOMEM;
	runs->values[runs->n] = value;
	runs->order[runs->n] = ++w->order;
	runs->layout[runs->n++] = layout;
	runs->n_of[layout]++;
	w->runs++;
	w->seconds += WORLD_RUN;
	show_image(w, node);
	*ret_value = value;
	return 0;
}

unsigned world_runs_of(const struct world *w, int node, unsigned char layout)
{
	return w->built[node] >> layout & 1 ? w->of_image[w->image[node]].n_of[layout] : 0;
}
