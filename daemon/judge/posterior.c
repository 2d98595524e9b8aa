/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/posterior.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/judge/ancestry.h"
#include "daemon/judge/sides.h"

/* The estimates that the grid stands on are made from the posterior, which stands on the grid. */
#define ROUNDS 3
#define SURELY_GOOD 0.02
#define SURELY_BAD 0.98

/* A node that says something about candidates: it has runs, is known to be bad, or has the image of another. */
struct witness {
	int node;
	int same; /* its image's first node */
	bool slow;
	const uint64_t *set; /* its ancestors-or-self */
};

/* Candidates that no witness tells apart. */
struct class {
	uint64_t key;
	int node; /* one of them */
};

struct work {
	const struct evidence *e;
	const struct ancestry *ancestry;
	struct judge_memo *memo;
	struct witness *witness;
	int n_witnesses;
	uint64_t *sets;
	int *of;	    /* a node: its witness, -1 none */
	struct class *member; /* all candidates, sorted by key */
	int n_members;
	const struct cell_table **table; /* a cell */
};

bool posterior_testable(const struct evidence *e, int node)
{
	return !judge_unusable(&e->obs[node]) && e->obs[node].state != JUDGE_SLOW;
}

/* Images that more than one node has: the others are bound to the first one. */
static void find_shared(const struct evidence *e, bool *ret_shared)
{
	for (int i = 0; i < e->dag->n; i++)
		if (e->same[i] != i)
			ret_shared[i] = ret_shared[e->same[i]] = true;
}

static int find_witnesses(struct work *w)
{
	const struct evidence *e = w->e;
	int n = e->dag->n, count = 0;
	bool *shared = calloc((size_t)n, sizeof(*shared));

	if (!shared)
		return -ENOMEM;
	find_shared(e, shared);
	for (int i = 0; i < n; i++)
		shared[i] |= (e->same[i] == i && e->runs[i] > 0) || e->obs[i].state == JUDGE_SLOW;
	for (int i = 0; i < n; i++)
		count += shared[i];
	w->witness = calloc((size_t)count + 1, sizeof(*w->witness));
	w->sets = calloc((size_t)count * w->ancestry->words + 1, sizeof(*w->sets));
	if (!w->witness || !w->sets) {
		free(shared);
		return -ENOMEM;
	}
	for (int i = 0; i < n; i++) {
		uint64_t *set = w->sets + (size_t)w->n_witnesses * w->ancestry->words;

		w->of[i] = shared[i] ? w->n_witnesses : -1;
		if (!shared[i])
			continue;
		ancestry_set(w->ancestry, i, set);
		w->witness[w->n_witnesses++] =
			(struct witness){i, e->same[i], e->obs[i].state == JUDGE_SLOW, set};
	}
	free(shared);
	return 0;
}

static uint64_t scatter(uint64_t x)
{
	/* splitmix64 */
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static int by_key(const void *a, const void *b)
{
	const struct class *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->node - y->node;
}

/* A class is a set of witnesses: its key is the exclusive or of their numbers, scattered. */
static int find_classes(struct work *w)
{
	int n = w->e->dag->n;
	const uint64_t *bad = w->witness[w->of[n - 1]].set;
	uint64_t *key = calloc((size_t)n, sizeof(*key));

	w->member = calloc((size_t)n, sizeof(*w->member));
	if (!key || !w->member) {
		free(key);
		return -ENOMEM;
	}
	for (int k = 0; k < w->n_witnesses; k++) {
		uint64_t number = scatter((uint64_t)w->witness[k].node);

		for (size_t word = 0; word < w->ancestry->words; word++)
			for (uint64_t bits = w->witness[k].set[word]; bits; bits &= bits - 1)
				key[64 * word + (size_t)__builtin_ctzll(bits)] ^= number;
	}
	for (int i = 1; i < n; i++)
		if (ancestry_in(bad, i))
			w->member[w->n_members++] = (struct class){key[i], i};
	free(key);
	qsort(w->member, (size_t)w->n_members, sizeof(*w->member), by_key);
	return 0;
}

/* Slow commits are bad, equal images on one side; what has the image of its only parent changed nothing. */
static bool is_possible(const struct work *w, int candidate)
{
	for (int k = 0; k < w->n_witnesses; k++) {
		const struct witness *x = &w->witness[k];
		bool inside = ancestry_in(x->set, candidate);

		if (x->slow && !inside)
			return false;
		if (x->same != x->node && inside != ancestry_in(w->witness[w->of[x->same]].set, candidate))
			return false;
	}
	return true;
}

/* What one class makes of the runs, summed up over the grid. */
struct weighed {
	double ln;    /* ln p(runs | class), one constant left out */
	double step, sigma2, lambda; /* expected, given the class */
};

/* ln of the sum of exp, and the mean of the index under it. */
static double ln_sum(const double *ln, double *ret_mean)
{
	double high = -INFINITY, sum = 0, mean = 0;

	for (int l = 0; l < MODEL_LEVELS; l++)
		high = fmax(high, ln[l]);
	for (int l = 0; l < MODEL_LEVELS; l++) {
		double x = exp(ln[l] - high);

		sum += x;
		mean += l * x;
	}
	*ret_mean = mean / sum;
	return high + log(sum);
}

struct point {
	double ln, step;
};

/* One spread and one lambda: both levels integrated out; they separate. */
static struct point weigh_point(const struct work *w, const struct grid *g, const bool *inside, int k, int s)
{
	double sum[2][MODEL_LEVELS] = {{0}}, mean[2];
	struct point p;

	for (int c = 0; c < w->e->n_cells; c++) {
		int side = inside[c];
		const double *ln = w->table[c]->ln[k][s][side];

		for (int l = 0; l < MODEL_LEVELS; l++)
			sum[side][l] += ln[l];
	}
	p.ln = log(model_lambda_prior(g, k)) + ln_sum(sum[0], &mean[0]) + ln_sum(sum[1], &mean[1]);
	p.step = g->level[1] - g->level[0] + MODEL_STEP * g->sigma * (mean[1] - mean[0]);
	return p;
}

static struct weighed weigh(const struct work *w, const struct grid *g, int candidate, bool *inside)
{
	struct point p[MODEL_LAMBDAS][MODEL_SPREADS];
	struct weighed x = {.ln = -INFINITY};
	double high = -INFINITY, sum = 0;

	if (!is_possible(w, candidate))
		return x;
	for (int c = 0; c < w->e->n_cells; c++)
		inside[c] = ancestry_in(w->witness[w->of[w->e->cell[c].node]].set, candidate);
	for (int k = 0; k < g->lambdas; k++)
		for (int s = 0; s < MODEL_SPREADS; s++) {
			p[k][s] = weigh_point(w, g, inside, k, s);
			high = fmax(high, p[k][s].ln);
		}
	for (int k = 0; k < g->lambdas; k++)
		for (int s = 0; s < MODEL_SPREADS; s++) {
			double q = exp(p[k][s].ln - high), spread = model_spread(g, s);

			sum += q;
			x.step += q * p[k][s].step;
			x.sigma2 += q * spread * spread;
			x.lambda += q * model_lambda(k);
		}
	x.ln = high + log(sum);
	x.step /= sum;
	x.sigma2 /= sum;
	x.lambda /= sum;
	return x;
}

static int make_tables(struct work *w, const struct grid *g)
{
	const struct evidence *e = w->e;
	const struct density *density = memo_density(w->memo);

	for (int c = 0; c < e->n_cells; c++) {
		struct table *t = memo_table(w->memo, e->cell[c].node, e->cell[c].layout);

		w->table[c] = t && density ? table_of(t, density, g, e->run + e->cell[c].first, e->cell[c].n) : NULL;
		if (!w->table[c])
			return -ENOMEM;
	}
	return 0;
}

static void spread_mass(const struct work *w, const struct weighed *of_member, struct posterior *p)
{
	double high = -INFINITY, sum = 0, sigma2 = 0;

	p->step = p->lambda = 0;
	for (int m = 0; m < w->n_members; m++)
		high = fmax(high, of_member[m].ln);
	p->impossible = !(high > -INFINITY);
	for (int m = 0; m < w->n_members; m++) {
		const struct weighed *x = &of_member[m];
		double q = p->impossible ? 1 : exp(x->ln - high);

		p->mass[w->member[m].node] = q;
		sum += q;
		p->step += q * x->step;
		sigma2 += q * x->sigma2;
		p->lambda += q * x->lambda;
	}
	for (int m = 0; m < w->n_members; m++)
		p->mass[w->member[m].node] /= sum;
	p->step /= sum;
	p->sigma = sqrt(sigma2 / sum);
	p->lambda /= sum;
	ancestry_sums(w->ancestry, p->mass, p->bad);
}

static int weigh_all(struct work *w, const struct grid *g, struct posterior *p)
{
	struct weighed *x = calloc((size_t)w->n_members + 1, sizeof(*x));
	bool *inside = calloc((size_t)w->e->n_cells + 1, sizeof(*inside));
	int r = x && inside ? make_tables(w, g) : -ENOMEM;

	for (int m = 0; r == 0 && m < w->n_members; m++)
		x[m] = m > 0 && w->member[m].key == w->member[m - 1].key ? x[m - 1] :
									  weigh(w, g, w->member[m].node, inside);
	if (r == 0)
		spread_mass(w, x, p);
	free(x);
	free(inside);
	return r;
}

/* Level of all commits that are surely on this side. */
static double side_level(const struct evidence *e, const double *bad, bool is_bad)
{
	double sum = 0;
	int n = 0;

	for (int i = 0; i < e->dag->n; i++) {
		bool sure = is_bad ? bad[i] > SURELY_BAD : bad[i] < SURELY_GOOD;

		if (!sure || e->same[i] != i || e->runs[i] == 0)
			continue;
		struct level level = evidence_level(e, i, INT64_MIN);

		sum += level.mean * level.n;
		n += level.n;
	}
	return n ? sum / n : NAN;
}

/*
 * From the anchors' levels to those of all commits whose side is sure: the grid follows. Always from the
 * start, so that an answer depends on the runs alone.
 */
static int settle(struct work *w, struct posterior *p)
{
	const struct evidence *e = w->e;
	struct grid before = {.sigma = 0};

	memset(p->bad, 0, (size_t)p->n * sizeof(*p->bad));
	for (int i = 1; i < p->n - 1; i++)
		p->bad[i] = 0.5;
	p->bad[e->same[p->n - 1]] = 1;
	for (int round = 0; round < ROUNDS; round++) {
		double good = side_level(e, p->bad, false), bad = side_level(e, p->bad, true);
		struct grid g;

		if (!isfinite(good) || !isfinite(bad))
			return 0; /* the last round's posterior is all there is */
		g = model_grid(good, bad, e->sigma, e->opt->jitter);
		if (round > 0 && model_same_grid(&g, &before))
			return 0;
		int r = weigh_all(w, &g, p);

		if (r < 0)
			return r;
		before = g;
	}
	return 0;
}

/* The child of a node that has exactly one among the candidates, -1 else. */
static int *only_children(const struct ancestry *a)
{
	int n = a->dag.n, *child = malloc((size_t)n * sizeof(*child));

	if (!child)
		return NULL;
	for (int i = 0; i < n; i++)
		child[i] = -1;
	for (int i = 1; i < n; i++)
		for (int e = a->dag.parent_start[i]; e < judge_dag_parents_end(&a->dag, i, a->first_parent); e++) {
			int parent = a->dag.parents[e];

			if (parent > 0)
				child[parent] = child[parent] == -1 ? i : -2;
		}
	return child;
}

/* A commit that cannot be tested is told apart from its only child by nothing. */
static int find_atoms(const struct work *w, struct posterior *p)
{
	int *child = only_children(w->ancestry);

	if (!child)
		return -ENOMEM;
	for (int i = p->n - 1; i >= 0; i--) {
		p->atom[i] = i > 0 && child[i] > 0 && !posterior_testable(w->e, i) ? p->atom[child[i]] : i;
		p->atom_mass[p->atom[i]] += p->mass[i];
	}
	p->best = p->n - 1;
	for (int i = 0; i < p->n; i++)
		if (p->atom_mass[i] > p->atom_mass[p->best])
			p->best = i;
	free(child);
	return 0;
}

static void work_done(struct work *w)
{
	free(w->witness);
	free(w->sets);
	free(w->of);
	free(w->member);
	free(w->table);
}

static int fill(struct work *w, struct posterior *p)
{
	int r;

	w->of = calloc((size_t)p->n, sizeof(*w->of));
	w->table = calloc((size_t)w->e->n_cells + 1, sizeof(void *));
	if (!w->of || !w->table)
		return -ENOMEM;
	r = find_witnesses(w);
	if (r == 0)
		r = find_classes(w);
	if (r == 0)
		r = settle(w, p);
	return r < 0 ? r : find_atoms(w, p);
}

int posterior_init(const struct evidence *e, struct judge_memo *memo, struct posterior *ret)
{
	struct work w = {.e = e, .memo = memo};
	struct posterior p = {.n = e->dag->n};
	size_t n = (size_t)e->dag->n;
	int r = memo_ancestry(memo, e->dag, e->opt->first_parent, &w.ancestry);

	if (r < 0)
		return r;
	p.mass = calloc(n, sizeof(*p.mass));
	p.bad = calloc(n, sizeof(*p.bad));
	p.atom = calloc(n, sizeof(*p.atom));
	p.atom_mass = calloc(n, sizeof(*p.atom_mass));
	r = p.mass && p.bad && p.atom && p.atom_mass ? fill(&w, &p) : -ENOMEM;
	work_done(&w);
	if (r < 0)
		posterior_done(&p);
	else
		*ret = p;
	return r;
}

void posterior_done(struct posterior *p)
{
	free(p->mass);
	free(p->bad);
	free(p->atom);
	free(p->atom_mass);
	*p = (struct posterior){0};
}
