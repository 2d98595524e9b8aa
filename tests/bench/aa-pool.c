// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs of two images that do the same, compared again and again: aa-pool DOCUMENT METRIC COMPARISONS SEED MINIMUM
 *
 * DOCUMENT is what `mmbisect compare --class time --json A B` prints. All runs go into one pool; each comparison shuffles it,
 * gives one half to each side and asks judge_sequential() as the daemon does, round by round, until it answers or the half is used
 * up. There is no change, so whatever is called worse or better is a false alarm. The comparison that was really measured, A against
 * B in the order of the runs, is told first. Two of 200 are
 * what alpha allows, and each would start a search, which has to reproduce the change before it names anybody. Exit status 1: more false
 * alarms than chance makes of alpha.
 */
#include "daemon/judge/sequential.h"
#include "daemon/simulate/rng.h"
#include "lib/json.h"
#include "lib/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ALPHA 0.01

struct pool {
	double *values;
	size_t n, capacity, half;
	enum judge_better better;
};

static int read_row(const json_t *row, const char *metric, struct pool *p)
{
	const json_t *m = json_object_get(json_object_get(json_object_get(row, "metrics"), "time"), metric);
	const json_t *list = json_object_get(m, "values");

	for (size_t i = 0; i < json_array_size(list); i++) {
		if (grow_array(&p->values, &p->capacity, p->n, sizeof(*p->values)) < 0)
			return -ENOMEM;
		p->values[p->n++] = json_number_value(json_array_get(list, i));
	}
	p->better = str_eq(json_get_string(m, "better"), "higher") ? JUDGE_HIGHER : JUDGE_LOWER;
	return 0;
}

static int read_pool(const char *file, const char *metric, struct pool *p)
{
	_cleanup_json_ json_t *document = json_load_file(file, 0, NULL);
	const json_t *rows = json_object_get(document, "rows");

	if (json_array_size(rows) != 2 || read_row(json_array_get(rows, 0), metric, p) < 0)
		return -EINVAL;
	p->half = p->n;
	if (read_row(json_array_get(rows, 1), metric, p) < 0)
		return -EINVAL;
	p->half = MIN(p->half, p->n - p->half);
	return p->half >= 10 ? 0 : -EINVAL;
}

/* The daemon's way: a look after each round of pairs. */
static int compare(const double *a, const double *b, size_t most, enum judge_better better, double minimum,
		   struct judge_sequential *ret)
{
	const struct judge_sequential_options opt = { better, minimum, ALPHA, (unsigned)most };
	size_t n = 0;

	do {
		int r = judge_sequential(a, n, b, n, &opt, ret);

		if (r < 0)
			return r;
		n += ret->more;
	} while (ret->answer == JUDGE_ASK_MORE);
	return 0;
}

static void shuffle(double *values, size_t n, struct rng *rng)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = (size_t)rng_below(rng, (int)i);
		double v = values[i - 1];

		values[i - 1] = values[k];
		values[k] = v;
	}
}

static int run(struct pool *p, unsigned comparisons, unsigned seed, double minimum)
{
	unsigned answers[JUDGE_SAY_UNDECIDED + 1] = { 0 }, pairs = 0, alarms;
	struct judge_sequential said;
	int r = compare(p->values, p->values + p->n - p->half, p->half, p->better, minimum, &said);

	if (r < 0)
		return r;
	printf("as measured: %s\n", said.reason);
	for (unsigned i = 0; i < comparisons; i++) {
		struct rng rng;

		rng_seed(&rng, seed, "aa-pool", i);
		shuffle(p->values, p->n, &rng);
		r = compare(p->values, p->values + p->half, p->half, p->better, minimum, &said);
		if (r < 0)
			return r;
		answers[said.answer]++;
		pairs += said.pairs;
	}
	alarms = answers[JUDGE_SAY_WORSE] + answers[JUDGE_SAY_IMPROVED];
	printf("time, %zu runs in a pool, seed %u: %u comparisons at a minimum of %g %%: %u worse, %u better, %u the same, %u undecided; "
	       "%.1f pairs on average\n",
	       p->n, seed, comparisons, 100 * minimum, answers[JUDGE_SAY_WORSE], answers[JUDGE_SAY_IMPROVED], answers[JUDGE_SAY_SAME],
	       answers[JUDGE_SAY_UNDECIDED], (double)pairs / MAX(comparisons, 1U));
	return alarms > ALPHA * comparisons + 3 * sqrt(ALPHA * comparisons) ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct pool p = { 0 };
	uint64_t comparisons, seed;
	double minimum;
	int r;

	if (argc != 6 || str_to_u64(argv[3], &comparisons) < 0 || str_to_u64(argv[4], &seed) < 0 ||
	    str_to_double(argv[5], &minimum) < 0) {
		(void)fprintf(stderr, "usage: aa-pool DOCUMENT METRIC COMPARISONS SEED MINIMUM\n");
		return 2;
	}
	r = read_pool(argv[1], argv[2], &p);
	if (r >= 0)
		r = run(&p, (unsigned)comparisons, (unsigned)seed, minimum);
	if (r < 0)
		(void)fprintf(stderr, "aa-pool: %s: no two rows with ten values of %s each, or the judge refused them\n", argv[1],
			      argv[2]);
	free(p.values);
	return r < 0 ? 2 : r;
}
