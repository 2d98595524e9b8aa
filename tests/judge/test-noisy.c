/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole searches in noisy worlds: bad is 1.5 times good, the spread of a run is given in parts of
 * that step. */
#include "tests/judge/world.h"
#include "tap.h"

static const struct judge_options noisy = {
	.cls = JUDGE_TIME, .better = JUDGE_LOWER, .floor = 0.02, .runs = 5, .alpha = 0.01};

struct tally {
	int right, wrong, not_reproduced, other, broken;
};

static struct tally run(int trials, int candidates, bool graph, double sigmas, bool change)
{
	struct tally t = {0};

	for (int i = 0; i < trials; i++) {
		struct judge_decision d;
		struct world w;
		int culprit = 1 + random_below(candidates);

		if (graph)
			world_random(&w, candidates + 1);
		else
			world_strand(&w, candidates);
		if (change)
			world_set_culprit(&w, culprit);
		w.sigma = 50 / sigmas;
		if (!world_search(&w, &noisy, true, &d)) {
			t.broken++;
		} else {
			bool named = d.verdict == JUDGE_CULPRIT;

			t.right += change && named && d.culprit == culprit;
			t.wrong += named && !(change && d.culprit == culprit);
			t.not_reproduced += d.verdict == JUDGE_NOT_REPRODUCED;
			t.other += d.verdict == JUDGE_SET || d.verdict == JUDGE_GAVE_UP;
			judge_decision_done(&d);
		}
		world_done(&w);
	}
	printf("# %d candidates, step of %g sigma: right %d, wrong %d, not reproduced %d of %d\n",
	       candidates, change ? sigmas : 0, t.right, t.wrong, t.not_reproduced, trials);
	return t;
}

int main(int argc, char **argv)
{
	struct tally t;

	seed_of(argc, argv);
	t = run(200, 100, false, 8, true);
	ok(t.right >= 198 && t.broken + t.other == 0, "8 sigma on a strand: %d of 200 right",
	   t.right);
	t = run(200, 100, true, 8, true);
	ok(t.right >= 198 && t.broken + t.other == 0, "8 sigma on graphs: %d of 200 right",
	   t.right);
	t = run(200, 100, false, 1e9, true);
	ok(t.right == 200, "no noise: all right");
	t = run(400, 100, false, 5, false);
	ok(t.wrong <= 16 && t.broken + t.other == 0, "no change: %d of 400 accuse somebody",
	   t.wrong);
	/* too much noise for this search; it must still end */
	t = run(100, 100, true, 1, true);
	ok(t.broken + t.other == 0, "1 sigma: every search ends");
	return done_testing();
}
