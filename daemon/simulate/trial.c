/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/simulate/trial.h"

#include <string.h>

#include "daemon/simulate/rival.h"

const char *const outcome_names[OUTCOME_N] = {
	[OUTCOME_RIGHT] = "right",
	[OUTCOME_WRONG] = "wrong",
	[OUTCOME_WIDE] = "set",
	[OUTCOME_GAVE_UP] = "gave-up",
	[OUTCOME_NOT_REPRODUCED] = "not-reproduced",
	[OUTCOME_OPPOSITE] = "opposite",
	[OUTCOME_BROKEN] = "broken",
};

const struct method methods[] = {
	{"judge", "the search of this program", method_judge, 0},
	{"bis1", "git bisect, one run a step", rival_repeat, 1},
	{"bis3", "three runs, their median", rival_repeat, 3},
	{"bis5", "five runs", rival_repeat, 5},
	{"bis10", "ten runs", rival_repeat, 10},
	{"bis20", "twenty runs", rival_repeat, 20},
	{"bis40", "forty runs", rival_repeat, 40},
	{"bis80", "eighty runs", rival_repeat, 80},
	{"pinpoint", "neighbours compared by ranks", rival_pinpoint, 0},
	{"sprt", "git bisect, a sequential test a step", rival_sprt, 0},
	{"pba1", "posterior, one bit a run", rival_onebit, 0},
};
const size_t n_methods = sizeof(methods) / sizeof(methods[0]);

const struct method *method_find(const char *name)
{
	for (size_t i = 0; i < n_methods; i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

int trial_run(const struct world_options *world, const struct method *method,
	      const struct trial_options *options, uint64_t seed, const char *name, unsigned number,
	      struct trial *ret)
{
	struct world w;
	struct trial t = {.number = number};
	int r = world_init(&w, world, seed, name, number);

	if (r < 0)
		return r;
	r = method->run(&w, options, method->parameter, &t);
	t.seconds = w.seconds;
	t.builds = w.builds;
	t.runs = w.runs;
	if (t.answer_seconds <= 0)
		t.answer_seconds = t.seconds;
	if (t.wall <= 0)
		t.wall = t.seconds;
	world_done(&w);
	if (r < 0)
		return r;
	*ret = t;
	return 0;
}
