// SPDX-License-Identifier: GPL-2.0-or-later
/* Which side the commits of an answer are on. The graph: 0 - 1 - 2 - 4 - 5 - 6, and 0 - 3 - 5. */
#include "tap.h"

#include "daemon/session-internal.h"
#include "lib/str.h"

static const int start[] = { 0, 0, 1, 2, 3, 4, 6, 7 }, parents[] = { 0, 1, 0, 2, 4, 3, 5 };
static const struct judge_dag dag = { .n = 7, .parent_start = start, .parents = parents };

/* One letter a node. */
static void sides_are(const struct session_obs *o, const struct judge_decision *d, const char *want, const char *what)
{
	static const char letters[] = { [JUDGE_SIDE_UNKNOWN] = '?', [JUDGE_SIDE_GOOD] = 'g', [JUDGE_SIDE_BAD] = 'b',
					[JUDGE_SIDE_SKIP] = 's' };
	enum judge_side *sides = NULL;
	char got[8] = "";

	is_int(document_sides(&dag, o, d, &sides), 0, "%s", what);
	for (int i = 0; sides && i < dag.n; i++)
		got[i] = letters[sides[i]];
	is_str(got, want, "... sides");
	free(sides);
}

int main(void)
{
	double low[] = { 1, 1.1, 0.9 }, high[] = { 2, 2.1, 1.9 };
	struct judge_obs obs[7] = { 0 };
	struct session_obs o = { .n = 7, .obs = obs, .options = { .cls = JUDGE_TIME, .better = JUDGE_LOWER } };
	struct judge_candidate two[] = { { 4, 0.6 }, { 2, 0.4 } };
	struct judge_decision d = { .action = JUDGE_DONE, .verdict = JUDGE_CULPRIT, .culprit = 2, .candidates = two, .n_candidates = 1 };

	for (int i = 0; i < 7; i++)
		obs[i] = (struct judge_obs){ .state = JUDGE_TESTED, .values = i >= 4 ? high : low, .n_values = 3 };
	sides_are(&o, &d, "ggbgbbb", "a culprit counts more than a median");
	obs[4] = (struct judge_obs){ .state = JUDGE_SKIPPED };
	sides_are(&o, &d, "ggbgsbb", "what cannot be tested has no other side");
	d = (struct judge_decision){ .action = JUDGE_DONE, .verdict = JUDGE_GAVE_UP, .candidates = two, .n_candidates = 2,
				     .last_good = 1, .first_bad = 5 };
	sides_are(&o, &d, "gg??sbb", "what is left is on no side");
	d.n_candidates = 0;
	sides_are(&o, &d, "????s??", "nor is anything where the ends do not differ");
	d.action = JUDGE_MEASURE;
	sides_are(&o, &d, "????s??", "or as long as nothing is decided");
	o.options.cls = JUDGE_EXACT;
	sides_are(&o, &d, "ggggsbb", "exact values speak for themselves");
	return done_testing();
}
