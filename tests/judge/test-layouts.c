/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does a difference stay in another link order? Constructed runs: a step that all layouts have, one that only the first has, and how
 * often each answer comes when layouts differ by chance. Seed: $SEED, argv[1].
 */
#include <math.h>

#include "daemon/judge/layouts.h"
#include "tap.h"
#include "world.h"

#define LAYOUTS 4
#define RUNS_MAX 64

struct side {
	struct run run[RUNS_MAX];
	int n;
};

/* `runs` of each layout in turns, at level + of[layout], with noise. */
static struct side side_of(double level, const double of[LAYOUTS], int runs, double sigma)
{
	struct side s = {.n = 0};

	for (int k = 0; k < runs * LAYOUTS; k++)
		s.run[s.n++] = (struct run){.y = level + of[k % LAYOUTS] + sigma * random_normal(),
					    .order = k, .at = k, .layout = (unsigned char)(k % LAYOUTS)};
	return s;
}

static enum layouts_state look(const struct side *a, const struct side *b, double sigma)
{
	return layouts_look(a->run, a->n, b->run, b->n, sigma, NAN, 0);
}

static void test_clear(void)
{
	static const double none[LAYOUTS] = {0}, first[LAYOUTS] = {0.03, 0, 0, 0};
	struct side a = side_of(0, none, 8, 0.003), b = side_of(0.03, none, 8, 0.003), c = side_of(0, first, 8, 0.003);

	is_int(look(&a, &b, 0.003), LAYOUTS_STAYS, "3 percent in all layouts stay");
	is_int(look(&b, &a, 0.003), LAYOUTS_GOES, "for the better is not for the worse");
	is_int(look(&a, &c, 0.003), LAYOUTS_GOES, "3 percent in the first layout only go");
	a.n = b.n = 1;
	is_int(look(&a, &b, 0.003), LAYOUTS_MORE, "one layout says nothing");
	a.n = b.n = 0;
	is_int(look(&a, &b, 0.003), LAYOUTS_MORE, "nor does none");
}

/* Layouts differ by `jitter`; in how many of 400 does a step of `step` stay? */
static int stays(double step, double jitter, double spread2)
{
	int n = 0;

	for (int trial = 0; trial < 400; trial++) {
		double of_a[LAYOUTS], of_b[LAYOUTS];

		for (int i = 0; i < LAYOUTS; i++) {
			of_a[i] = jitter * random_normal();
			of_b[i] = jitter * random_normal();
		}
		struct side a = side_of(0, of_a, 8, 0.01), b = side_of(step, of_b, 8, 0.01);

		n += layouts_look(a.run, a.n, b.run, b.n, 0.01, spread2, 0.7 * fmax(step, 0.02)) == LAYOUTS_STAYS;
	}
	return n;
}

/* Bounds: a t test at 5 % one-sided gives 20 of 400; four standard deviations of that count are 17. */
static void test_by_chance(void)
{
	int known, own = stays(0, 0.02, NAN);

	ok(own <= 37, "nothing but layouts: %d of 400 stay by their own spread", own);
	own = stays(0.04, 0.005, NAN);
	ok(own >= 360, "a real step under small jitter: %d of 400 stay", own);
	known = stays(0, 0.02, 0.02 * 0.02);
	ok(known <= 24, "nothing but layouts of known spread: %d of 400 stay", known);
	known = stays(0.04, 0.005, 0.005 * 0.005);
	ok(known >= 380, "a real step, known spread: %d of 400 stay", known);
}

int main(int argc, char **argv)
{
	(void)seed_of(argc, argv);
	test_clear();
	test_by_chance();
	return done_testing();
}
