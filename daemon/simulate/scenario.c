/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/simulate/scenario.h"

#include <string.h>

/* The usual world: a strand, three runs in a hundred are outliers. */
#define USUAL(n, d) .commits = (n), .steps = {d}, .outliers = 0.03

const struct scenario scenarios[] = {
	{"B1", "1 sigma, 1000 commits", .world = {USUAL(1000, 1)},
	 .bar = {.right = 99,
		 .wrong = 0.5,
		 .cost = 2300,
		 .cost_all = 2750,
		 .builds = 14,
		 .claim_wrong = 1.5,
		 .flagged_most = 1}},
	{"B2", "2 sigma, 1000 commits", .world = {USUAL(1000, 2)},
	 .bar = {.right = 99.5,
		 .cost = 1150,
		 .cost_all = 1380,
		 .builds = 14,
		 .claim_wrong = 1.5,
		 .flagged_most = 1}},
	{"B3", "5 sigma, 1000 commits", .world = {USUAL(1000, 5)},
	 .bar = {.right = 99.5, .cost = 850, .cost_all = 1020, .builds = 14, .claim_wrong = 1.5}},
	{"B4", "half a sigma, 1000 commits", .world = {USUAL(1000, 0.5)},
	 .bar = {.right = 97, .wrong = 1, .cost = 7200, .cost_all = 8640}},
	{"B5", "1 sigma, 15000 commits", .world = {USUAL(15000, 1)},
	 .bar = {.right = 98, .cost = 3000, .cost_all = 3600, .builds = 17.9, .cpu_ms = 50}},
	{"B6-64", "no noise, 64 commits", .world = {.commits = 64, .steps = {1}, .quiet = true},
	 .bar = {.right = 100, .builds = 9, .runs_over_builds = 10}},
	{"B6-1000", "no noise, 1000 commits",
	 .world = {.commits = 1000, .steps = {1}, .quiet = true},
	 .bar = {.right = 100, .builds = 13, .runs_over_builds = 10}},
	{"B6-15000", "no noise, 15000 commits",
	 .world = {.commits = 15000, .steps = {1}, .quiet = true},
	 .bar = {.right = 100, .builds = 17, .runs_over_builds = 10}},
	{"B7-1", "nothing changed, 1 sigma claimed",
	 .world = {.commits = 1000, .claim = 1, .outliers = 0.03},
	 .bar = {.not_reproduced = 95, .wrong = 0.5}},
	{"B7-2", "nothing changed, 2 sigma claimed",
	 .world = {.commits = 1000, .claim = 2, .outliers = 0.03},
	 .bar = {.not_reproduced = 95, .wrong = 0.5}},
	{"B9-1", "1 sigma, one run in ten is an outlier",
	 .world = {.commits = 1000, .steps = {1}, .outliers = 0.1},
	 .bar = {.right = 99, .cost_of = "clean-1", .cost_ratio = 1.25}},
	{"B9-2", "2 sigma, one run in ten is an outlier",
	 .world = {.commits = 1000, .steps = {2}, .outliers = 0.1},
	 .bar = {.right = 99, .cost_of = "clean-2", .cost_ratio = 1.25}},
	{"B10", "1 sigma, values drift by 0.05 sigma a run",
	 .world = {USUAL(1000, 1), .drift = 0.05},
	 .bar = {.right = 98, .wrong = BAR_NONE, .cost_of = "B1", .cost_ratio = 2}},
	{"B11-1", "1 sigma, one commit in five does not build",
	 .world = {USUAL(1000, 1), .unbuildable = 0.2},
	 .bar = {.right = 99, .cost_of = "B1", .cost_ratio = 1.1}},
	{"B11-2", "2 sigma, one commit in five does not build",
	 .world = {USUAL(1000, 2), .unbuildable = 0.2},
	 .bar = {.right = 99, .cost_of = "B2", .cost_ratio = 1.1}},
	{"B11-5", "5 sigma, one commit in five does not build",
	 .world = {USUAL(1000, 5), .unbuildable = 0.2},
	 .bar = {.right = 99, .cost_of = "B3", .cost_ratio = 1.1}},
	{"B12-0.2", "2 sigma, builds differ by 0.2",
	 .world = {USUAL(1000, 2), .jitter = 0.2, .layouts = 4},
	 .bar = {.wrong = 1, .answered = 80}},
	{"B12-0.4", "2 sigma, builds differ by 0.4",
	 .world = {USUAL(1000, 2), .jitter = 0.4, .layouts = 4},
	 .bar = {.wrong = 3, .answered = 80}},
	{"B12-none", "nothing changed, builds differ by 1, 1 sigma claimed",
	 .world = {.commits = 1000, .claim = 1, .outliers = 0.03, .jitter = 1, .layouts = 4},
	 .bar = {.wrong = 0.5}},
	{"B13-1", "1 sigma, 400 commits with merges", .world = {USUAL(400, 1), .merges = true},
	 .bar = {.right = 99}},
	{"B13-2", "2 sigma, 400 commits with merges", .world = {USUAL(400, 2), .merges = true},
	 .bar = {.right = 99}},
	{"B14-2", "two steps of 2 sigma",
	 .world = {.commits = 1000, .steps = {2, 2}, .outliers = 0.03},
	 .bar = {.right = 100, .flagged_least = 90}},
	{"B14-3", "two steps of 3 sigma",
	 .world = {.commits = 1000, .steps = {3, 3}, .outliers = 0.03},
	 .bar = {.right = 100, .flagged_least = 90}},
	{"B15-strand", "killed and restarted at half of the decisions", .world = {USUAL(200, 1)},
	 .bar = {.right = 98, .differs = BAR_NONE}, .options = {.restart = 0.5}},
	{"B15-merges", "the same with merges, holes and drift",
	 .world = {USUAL(200, 2), .merges = true, .unbuildable = 0.1, .drift = 0.05},
	 .bar = {.right = 98, .differs = BAR_NONE}, .options = {.restart = 0.5}},

	/* what others are measured by, and what has no bar */
	{"clean-1", "1 sigma, no outliers", .world = {.commits = 1000, .steps = {1}}},
	{"clean-2", "2 sigma, no outliers", .world = {.commits = 1000, .steps = {2}}},
	{"small", "1 sigma, 64 commits", .world = {USUAL(64, 1)}},
	{"drift-2", "2 sigma, drift 0.05", .world = {USUAL(1000, 2), .drift = 0.05}},
	{"drift-fast", "1 sigma, drift 0.1", .world = {USUAL(1000, 1), .drift = 0.1}},
	{"claim-half", "1 sigma, half of it claimed", .world = {USUAL(1000, 1), .claim = 0.5}},
	{"claim-double", "1 sigma, twice that claimed", .world = {USUAL(1000, 1), .claim = 2}},
	{"opposite", "1 sigma better, 1 sigma worse claimed",
	 .world = {.commits = 1000, .steps = {-1}, .claim = 1, .outliers = 0.03}},
	{"two-1", "two steps of 1 sigma",
	 .world = {.commits = 1000, .steps = {1, 1}, .outliers = 0.03}},
	{"two-uneven", "steps of 2 and 1 sigma",
	 .world = {.commits = 1000, .steps = {2, 1}, .outliers = 0.03}},
	{"recovered", "2 sigma worse, 1 sigma better again",
	 .world = {.commits = 1000, .steps = {2, -1}, .outliers = 0.03}},
	{"holes", "1 sigma, one commit in twenty does not build",
	 .world = {USUAL(1000, 1), .unbuildable = 0.05}},
	{"jitter-off", "2 sigma, builds might differ and do not",
	 .world = {USUAL(1000, 2), .layouts = 4}},
	{"jitter-1", "1 sigma, builds differ by 0.2",
	 .world = {USUAL(1000, 1), .jitter = 0.2, .layouts = 4}},
	{"bimodal-10", "2 sigma, one boot in ten is 4 sigma slower",
	 .world = {USUAL(1000, 2), .slow_boots = 0.1, .slow_by = 4}},
	{"bimodal-30", "2 sigma, three boots in ten are 4 sigma slower",
	 .world = {USUAL(1000, 2), .slow_boots = 0.3, .slow_by = 4}},
	{"bimodal-50", "2 sigma, every other boot is 4 sigma slower",
	 .world = {USUAL(1000, 2), .slow_boots = 0.5, .slow_by = 4}},
	{"ramp-8", "2 sigma over 8 commits", .world = {USUAL(1000, 2), .ramp = 8}},
	{"ramp-32", "2 sigma over 32 commits", .world = {USUAL(1000, 2), .ramp = 32}},
	{"noop", "1 sigma, every other commit leaves the image as it was",
	 .world = {USUAL(1000, 1), .noop = 0.5}},
	{"slots-2", "1 sigma, two executors", .world = {USUAL(1000, 1), .slots = 2}},
	{"slots-4", "1 sigma, four executors", .world = {USUAL(1000, 1), .slots = 4}},
	{"eager", "1 sigma, asked after each run", .world = {USUAL(1000, 1)},
	 .options = {.eager = true}},
};
const size_t n_scenarios = sizeof(scenarios) / sizeof(scenarios[0]);

bool scenario_has_bar(const struct scenario *s)
{
	return s->id[0] == 'B';
}

/* Bars without a world of their own: they are asked for where others are. */
static const struct {
	const char *bar, *id;
} shared[] = {
	{"B8", "B1"},  {"B8", "B2"},  {"B8", "B3"},		    /* how good its own 99 % are */
	{"B16", "B1"}, {"B16", "B2"}, {"B16", "B3"}, {"B16", "B5"}, /* how many builds */
};

bool scenario_matches(const struct scenario *s, const char *pattern)
{
	if (!pattern)
		return scenario_has_bar(s);
	size_t n = strlen(pattern);

	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		if (strcmp(pattern, shared[i].bar) == 0 && strcmp(s->id, shared[i].id) == 0)
			return true;
	return strncmp(s->id, pattern, n) == 0 && (s->id[n] == '\0' || s->id[n] == '-');
}

const struct scenario *scenario_find(const char *id)
{
	for (size_t i = 0; i < n_scenarios; i++)
		if (strcmp(scenarios[i].id, id) == 0)
			return &scenarios[i];
	return NULL;
}
