// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Good is no ancestor of bad. Before what bad has and good has not is searched, each merge base is held against both: where one
 * behaves like bad, it is good that has changed. That is a search as well, of a graph of the ends and the bases, by the same
 * judge; what it found is kept with the search (search.base), as the runs that follow may not change it.
 */
#include "daemon/session-internal.h"

#include "lib/str.h"

/* A base that can be measured is a better start than one that cannot; where there is none, good itself has to do. */
static int start_of(const struct session *s, const struct session_obs *o)
{
	for (int i = 1; i <= s->graph.n_bases; i++)
		if (o->obs[i].state == JUDGE_TESTED)
			return i;
	return 0;
}

static void say_good_side(struct session *s, int base, struct judge_decision *d)
{
	judge_decision_done(d);
	d->verdict = JUDGE_NOT_REPRODUCED;
	d->culprit = -1;
	d->partial = false;
	s->bad_base = base;
	(void)snprintf(d->reason, sizeof(d->reason),
		       "changed on the good side: the merge base %.12s is as bad as bad; a commit between it and good made that better",
		       s->graph.oids[base]);
}

void session_weigh_bases(struct session *s, const struct session_obs *o, struct judge_decision *d)
{
	const int bad = o->n - 1;

	s->bad_base = 0;
	s->next_start = -1;
	if (!s->graph.n_bases)
		return;
	if (d->action == JUDGE_MEASURE) {
		if (d->phase == JUDGE_SEARCH && !session_is_noisy(s))
			(void)snprintf(d->reason, sizeof(d->reason), "good is no ancestor of bad: is their merge base like good?");
		return;
	}
	if (d->verdict == JUDGE_CULPRIT && d->culprit != bad)
		say_good_side(s, d->culprit, d);
	else if (d->verdict == JUDGE_CULPRIT || d->verdict == JUDGE_SET)
		s->next_start = start_of(s, o);
	if (s->next_start < 0)
		return;
	(void)snprintf(d->reason, sizeof(d->reason), "%s%.12s: what bad has and good has not is searched from %s",
		       d->verdict == JUDGE_SET ? "a merge base cannot be tested; taken for good: " : "the merge base is like good: ",
		       s->graph.oids[MAX(s->next_start, 1)], s->next_start ? "there" : "good");
	d->reason[sizeof(d->reason) - 1] = '\0';
}
