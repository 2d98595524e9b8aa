/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/pick.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/judge/sides.h"
#include "daemon/judge/stats.h"

/* A contaminated normal run tells about a tenth less than a normal one. */
#define EFFICIENCY 0.9
#define P_LEAST 0.0002
#define P_REFERENCE 0.002
#define SURE 0.02
/* A side branch starts elsewhere and so differs by other changes too (JUDGE.md C.5). */
#define SIDE_BRANCH 0.8
/* A new commit will mostly be run again before it has told what it can: those runs are not in the offer. */
#define BUILD_WEIGHT 1.25
#define SKIP_REACH 12
#define SKIP_BASE 0.02
/* Actions at once must not ask the same thing. */
#define APART 0.02

static const unsigned batches[] = {1, 2, 3, 4, 6, 8, 12, 16};

/* A measured commit, seen as evidence about others. */
struct tested {
	int node;
	double bad; /* P(it is bad) */
	double weight; /* runs of it, less what the spread of builds makes useless */
};

struct chooser {
	const struct evidence *e;
	const struct posterior *p;
	const struct info_table *info;
	double run_seconds, rebuild_seconds;
	double signal2; /* square of the step in spreads of one run, times EFFICIENCY */
	double good_weight, bad_weight; /* of all runs on commits whose side is sure */
	struct tested *tested;
	int n_tested;
	double *risk;	     /* a node: that it cannot be tested */
	bool *main_line;     /* a node: on the first-parent line from the bad anchor */
	bool main_open;	     /* there are candidates on it whose side is open */
	int *pending; /* a node: runs that an action of this round asks for */
};

static double worth(const struct chooser *c, double runs)
{
	return runs / (1 + c->p->lambda * runs);
}

/* Sum over the builds of a node; `extra` runs more on `layout`. */
static double node_weight(const struct chooser *c, int node, unsigned char layout, double extra)
{
	const struct evidence *e = c->e;
	double sum = 0;
	bool found = extra <= 0;

	for (int k = e->cells[node].first; k < e->cells[node].end; k++) {
		bool here = e->cell[k].layout == layout;

		sum += worth(c, e->cell[k].n + (here ? extra : 0));
		found |= here;
	}
	return found ? sum : sum + worth(c, extra);
}

/* Variance of the middle between both levels, in variances of a run: what more runs elsewhere cannot beat. */
static double middle_variance(double good_weight, double bad_weight)
{
	return (1 / fmax(good_weight, 1e-6) + 1 / fmax(bad_weight, 1e-6)) / 4;
}

/* What runs elsewhere tell about the side of a commit with this p: those that are almost surely on its side. */
static double known_about(const struct chooser *c, double p, int but)
{
	double reach = fmin(p, 1 - p) / 2, sum = 0;

	for (int t = 0; t < c->n_tested; t++)
		if (c->tested[t].node != but)
			sum += fmax(0, 1 - fabs(c->tested[t].bad - p) / reach) * c->tested[t].weight;
	return sum;
}

/* Squared signal that weight `after` gives beyond what `before` gave. */
static double gained(const struct chooser *c, double before, double lref_before, double after, double lref_after)
{
	return c->signal2 * fmax(0, after / (1 + after * lref_after) - before / (1 + before * lref_before));
}

/* The layout that an additional run is best spent on: the least run one, or a new one. */
static unsigned char best_layout(const struct chooser *c, int node, bool *ret_new)
{
	unsigned layouts = c->e->opt->jitter && c->e->opt->layouts ? c->e->opt->layouts : 1;
	unsigned char best = 0;
	int fewest = INT_MAX;

	*ret_new = false;
	for (unsigned l = 0; l < layouts; l++) {
		const struct cell *cell = evidence_cell(c->e, node, (unsigned char)l);
		int n = cell ? cell->n : 0;

		if (n < fewest) {
			fewest = n;
			best = (unsigned char)l;
			*ret_new = !cell;
		}
	}
	return best;
}

struct offer {
	int node;
	unsigned char layout;
	double build_seconds, risk, factor;
	double before; /* weight of what is known about its side */
	double lref;
};

static void consider(const struct chooser *c, const struct offer *o, double p, struct action *best, double *best_score)
{
	double own = node_weight(c, o->node, o->layout, 0);

	for (size_t b = 0; b < sizeof(batches) / sizeof(*batches); b++) {
		unsigned r = batches[b];
		double after = o->before + node_weight(c, o->node, o->layout, r) - own;
		double bits = judge_information(c->info, p, sqrt(gained(c, o->before, o->lref, after, o->lref)));
		double seconds = o->build_seconds * BUILD_WEIGHT * (1 - o->risk / 2) + (1 - o->risk) * r * c->run_seconds;
		double score = o->factor * (1 - o->risk) * bits / seconds;

		if (score <= *best_score)
			continue;
		*best_score = score;
		*best = (struct action){o->node, o->layout, r, bits, seconds, false};
	}
}

static bool is_offered(const struct chooser *c, int i)
{
	double p = c->p->bad[i];

	return p > P_LEAST && p < 1 - P_LEAST && c->e->same[i] == i && posterior_testable(c->e, i) &&
	       c->pending[i] == 0;
}

static void consider_node(const struct chooser *c, int i, double lref, struct action *best, double *best_score)
{
	double p = c->p->bad[i];
	struct offer o = {.node = i, .lref = lref, .risk = c->risk[i], .factor = 1};
	bool fresh;

	if (c->main_open && !c->main_line[i])
		o.factor = SIDE_BRANCH;
	o.build_seconds = c->e->obs[i].build_seconds;
	/* nothing tells more than the whole answer */
	if (o.factor * (1 - o.risk) * judge_entropy(p) / (o.build_seconds * BUILD_WEIGHT * (1 - o.risk / 2) + (1 - o.risk) * c->run_seconds) <= *best_score)
		return;
	o.before = known_about(c, p, i) + node_weight(c, i, 0, 0);
	o.layout = best_layout(c, i, &fresh);
	if (fresh && c->e->runs[i] > 0) {
		struct offer again = o;

		o.build_seconds = c->rebuild_seconds;
		again.layout = c->e->cell[c->e->cells[i].first].layout;
		consider(c, &again, p, best, best_score);
	}
	consider(c, &o, p, best, best_score);
}

/* More runs of the anchor on the side that has fewer: it sharpens the middle for every commit that is in doubt. */
static void consider_reference(const struct chooser *c, struct action *best, double *best_score)
{
	bool good = c->good_weight <= c->bad_weight;
	int node = good ? 0 : c->e->dag->n - 1;
	double lref = middle_variance(c->good_weight, c->bad_weight);
	bool fresh;
	unsigned char layout;

	if (c->pending[node] || c->e->runs[node] == 0)
		return;
	layout = best_layout(c, node, &fresh);
	for (size_t b = 0; b < sizeof(batches) / sizeof(*batches); b++) {
		unsigned r = batches[b];
		double more = node_weight(c, node, layout, r) - node_weight(c, node, layout, 0);
		double after = middle_variance(c->good_weight + (good ? more : 0), c->bad_weight + (good ? 0 : more));
		double seconds = r * c->run_seconds + (fresh ? c->rebuild_seconds : 0), bits = 0;

		for (int t = 0; t < c->n_tested; t++) {
			double p = c->tested[t].bad, x;

			if (p <= P_REFERENCE || p >= 1 - P_REFERENCE)
				continue;
			x = known_about(c, p, c->tested[t].node) + c->tested[t].weight;
			bits = fmax(bits, judge_information(c->info, p, sqrt(gained(c, x, lref, x, after))));
		}
		if (bits / seconds <= *best_score)
			continue;
		*best_score = bits / seconds;
		*best = (struct action){node, layout, r, bits, seconds, true};
	}
}

static void find_tested(struct chooser *c)
{
	c->n_tested = 0;
	c->good_weight = c->bad_weight = 0;
	for (int i = 0; i < c->p->n; i++) {
		double bad = c->p->bad[i], weight;

		if (c->e->same[i] != i || (c->e->runs[i] == 0 && c->pending[i] == 0))
			continue;
		weight = node_weight(c, i, 0, c->pending[i]);
		c->tested[c->n_tested++] = (struct tested){i, bad, weight};
		if (bad < SURE)
			c->good_weight += weight;
		else if (bad > 1 - SURE)
			c->bad_weight += weight;
	}
}

/* Steps along the ancestry from what could not be tested, up to SKIP_REACH; a build that went well stops them. */
static void find_risk(struct chooser *c, int *distance)
{
	const struct judge_dag *dag = c->e->dag;
	int n = dag->n;

	for (int i = 0; i < n; i++)
		distance[i] = judge_unusable(&c->e->obs[i]) ? 0 : INT_MAX;
	for (int pass = 0; pass < 2; pass++) /* down the ages, then up */
		for (int k = 0; k < n; k++) {
			int i = pass ? n - 1 - k : k;

			for (int e = dag->parent_start[i]; e < dag->parent_start[i + 1]; e++) {
				int parent = dag->parents[e], from = pass ? i : parent, to = pass ? parent : i;

				if (parent < 0 || distance[from] >= SKIP_REACH || c->e->runs[from] > 0)
					continue;
				if (distance[from] + 1 < distance[to])
					distance[to] = distance[from] + 1;
			}
		}
	for (int i = 0; i < n; i++) {
		c->risk[i] = SKIP_BASE;
		if (c->e->runs[i] > 0)
			c->risk[i] = 0;
		else if (distance[i] > 0 && distance[i] <= SKIP_REACH)
			c->risk[i] = fmax(SKIP_BASE, 0.75 * pow(0.8, distance[i] - 1));
	}
}

static void find_main_line(struct chooser *c)
{
	const struct judge_dag *dag = c->e->dag;

	for (int i = dag->n - 1; i > 0;) {
		int first = dag->parent_start[i];

		c->main_line[i] = true;
		if (c->p->bad[i] > 0.2 && c->p->bad[i] < 0.8 && posterior_testable(c->e, i))
			c->main_open = true;
		i = first < dag->parent_start[i + 1] ? dag->parents[first] : 0;
	}
}

/* Another layout of a commit costs what the middle one of all commits costs that are not built. */
static double typical_build(const struct evidence *e, double *scratch)
{
	size_t n = 0;

	for (int i = 1; i < e->dag->n; i++)
		if (e->obs[i].build_seconds > 0)
			scratch[n++] = e->obs[i].build_seconds;
	judge_sort(scratch, n);
	return n ? scratch[n / 2] : 0;
}

static struct action choose(struct chooser *c)
{
	struct action best = {.node = -1};
	double best_score = 0, lref;

	find_tested(c);
	lref = middle_variance(c->good_weight, c->bad_weight);
	for (int i = 1; i < c->p->n - 1; i++)
		if (is_offered(c, i))
			consider_node(c, i, lref, &best, &best_score);
	consider_reference(c, &best, &best_score);
	return best;
}

static bool is_new(const struct chooser *c, const struct action *a, const struct action *before, int n)
{
	for (int k = 0; k < n; k++)
		if (before[k].reference == a->reference &&
		    fabs(c->p->bad[before[k].node] - c->p->bad[a->node]) < APART)
			return false;
	return true;
}

static int pick(struct chooser *c, int most, struct action *ret)
{
	int n = 0;

	while (n < most) {
		struct action a = choose(c);

		if (a.node < 0 || (n > 0 && !is_new(c, &a, ret, n)))
			break;
		c->pending[a.node] = (int)a.runs;
		ret[n++] = a;
	}
	return n;
}

int pick_actions(const struct evidence *e, const struct posterior *p, const struct info_table *info, int most,
		 struct action *ret)
{
	size_t n = (size_t)p->n;
	struct chooser c = {.e = e, .p = p, .info = info, .run_seconds = e->opt->run_seconds > 0 ? e->opt->run_seconds : 1};
	double d = p->sigma > 0 ? p->step / p->sigma : 0, *scratch = calloc(n, sizeof(*scratch));
	int *distance = calloc(n, sizeof(*distance)), r = -ENOMEM;

	c.signal2 = EFFICIENCY * d * d;
	c.tested = calloc(n, sizeof(*c.tested));
	c.risk = calloc(n, sizeof(*c.risk));
	c.main_line = calloc(n, sizeof(*c.main_line));
	c.pending = calloc(n, sizeof(*c.pending));
	if (scratch && distance && c.tested && c.risk && c.main_line && c.pending) {
		c.rebuild_seconds = typical_build(e, scratch);
		find_risk(&c, distance);
		find_main_line(&c);
		r = pick(&c, most, ret);
	}
	free(scratch);
	free(distance);
	free(c.tested);
	free(c.risk);
	free(c.main_line);
	free(c.pending);
	return r;
}
