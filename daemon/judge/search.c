/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/search.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* What is known of a node, bits. */
enum {
	LIVE = 1,	/* reached from the bad anchor without passing a measured good node */
	BELOW_BAD = 2,	/* bad or descends from a bad node */
	BELOW_LIVE = 4, /* bad and live, or descends from such a node */
	KNOWN_GOOD = 8, /* ancestor-or-self of a good node that is not BELOW_LIVE */
	REGION = 16,	/* reached from first_bad without passing a measured good node */
};

struct walk {
	const struct judge_dag *dag;
	bool first_parent;
	const enum judge_side *sides;
	unsigned char *marks;
};

static enum judge_side side_of(const struct walk *w, int i)
{
	if (i == 0)
		return JUDGE_SIDE_GOOD;
	return i == w->dag->n - 1 ? JUDGE_SIDE_BAD : w->sides[i];
}

static void mark_parents(const struct walk *w, int i, unsigned char mark)
{
	for (int e = w->dag->parent_start[i]; e < judge_dag_parents_end(w->dag, i, w->first_parent);
	     e++)
		if (w->dag->parents[e] >= 0)
			w->marks[w->dag->parents[e]] |= mark;
}

/* Mark from `top` down to its ancestors, stopping at (but including) measured good nodes. */
static void mark_down(const struct walk *w, int top, unsigned char mark)
{
	w->marks[top] |= mark;
	for (int i = top; i > 0; i--)
		if ((w->marks[i] & mark) && side_of(w, i) != JUDGE_SIDE_GOOD)
			mark_parents(w, i, mark);
}

/* Hand BELOW_* from parents to children. True: some good node descends from a bad one. */
static bool mark_below(const struct walk *w)
{
	bool contradictory = false;

	for (int i = 0; i < w->dag->n; i++) {
		int end = judge_dag_parents_end(w->dag, i, w->first_parent);

		for (int e = w->dag->parent_start[i]; e < end; e++)
			if (w->dag->parents[e] >= 0)
				w->marks[i] |=
					w->marks[w->dag->parents[e]] & (BELOW_BAD | BELOW_LIVE);
		if (side_of(w, i) == JUDGE_SIDE_BAD)
			w->marks[i] |= w->marks[i] & LIVE ? BELOW_BAD | BELOW_LIVE : BELOW_BAD;
		if (side_of(w, i) == JUDGE_SIDE_GOOD && (w->marks[i] & BELOW_BAD))
			contradictory = true;
	}
	return contradictory;
}

static void mark_known_good(const struct walk *w)
{
	for (int i = w->dag->n - 1; i >= 0; i--) {
		if (side_of(w, i) == JUDGE_SIDE_GOOD && !(w->marks[i] & BELOW_LIVE))
			w->marks[i] |= KNOWN_GOOD;
		if (w->marks[i] & KNOWN_GOOD)
			mark_parents(w, i, KNOWN_GOOD);
	}
}

/*
 * Which candidates are left. With data of one culprit this is what git does: the ancestors-or-self
 * of the earliest bad node without those of all good nodes. Contradictory data (broken, fixed,
 * broken again) are read from the bad anchor: what lies behind a measured good node does not
 * matter, and a good node that descends from a bad one which does matter vouches for itself only.
 * So first_bad has no live bad ancestor, each test takes candidates away, and the end is a bad
 * commit with good parents. On return marks[i] is 1 for candidates and 0 for others.
 */
static void find_candidates(const struct walk *w, struct judge_search *s)
{
	int n = w->dag->n;

	mark_down(w, n - 1, LIVE);
	s->contradictory = mark_below(w);
	s->first_bad = n - 1;
	for (int i = n - 1; i > 0; i--)
		if ((w->marks[i] & LIVE) && side_of(w, i) == JUDGE_SIDE_BAD)
			s->first_bad = i;

	mark_known_good(w);
	mark_down(w, s->first_bad, REGION);
	s->last_good = 0;
	for (int i = 0; i < n; i++) {
		bool good = side_of(w, i) == JUDGE_SIDE_GOOD;

		if ((w->marks[i] & REGION) && good)
			s->last_good = i;
		w->marks[i] = (w->marks[i] & REGION) && !(w->marks[i] & KNOWN_GOOD) && !good;
	}
}

/* Steps along the ancestry from each candidate to the nearest one that could not be tested; `up` is
 * scratch. */
static void skip_distances(const struct judge_sub *sub, const bool *skipped, int *up,
			   int *ret_distance)
{
	for (int i = 0; i < sub->n; i++) {
		ret_distance[i] = skipped[i] ? 0 : INT_MAX;
		up[i] = ret_distance[i];
		for (int e = sub->parent_start[i]; e < sub->parent_start[i + 1]; e++) {
			int d = ret_distance[sub->parents[e]];

			if (d < INT_MAX && d + 1 < ret_distance[i])
				ret_distance[i] = d + 1;
		}
	}
	for (int i = sub->n - 1; i >= 0; i--) {
		for (int e = sub->parent_start[i]; e < sub->parent_start[i + 1]; e++)
			if (up[i] < INT_MAX && up[i] + 1 < up[sub->parents[e]])
				up[sub->parents[e]] = up[i] + 1;
		if (up[i] < ret_distance[i])
			ret_distance[i] = up[i];
	}
}

/*
 * How likely a commit cannot be tested either (JUDGE.md, C.7): what breaks the build breaks it for
 * a stretch of commits. The stretch is taken for longer the more skips were met.
 */
static double skip_risk(int distance, int n_skipped)
{
	if (n_skipped == 0 || distance / n_skipped > 12)
		return 0.02;
	return fmax(0.02, 0.75 * pow(0.8, (distance - 1) / (double)n_skipped));
}

/* Bits that a test of a node with this weight tells when all candidates are equally likely. */
static double information(int weight, int n)
{
	/* the smaller side, so that both halves of a pair give the very same number */
	double p = (double)(weight < n - weight ? weight : n - weight) / n;

	return p > 0 ? -p * log2(p) - (1 - p) * log2(1 - p) : 0;
}

/*
 * The untested candidate that is expected to tell most. Without skips that is the largest
 * min(weight, n - weight), as in git; equals go to the oldest. `work` has 3 n entries.
 */
static int pick_next(const struct judge_sub *sub, const bool *skipped, int *work,
		     struct judge_search *s)
{
	int *weight = work, *distance = work + sub->n, *up = work + 2 * (size_t)sub->n;
	double best = -1;

	int r = judge_sub_weights(sub, weight);
	if (r < 0)
		return r;
	skip_distances(sub, skipped, up, distance);

	for (int i = 0; i < sub->n - 1; i++) {
		double score =
			information(weight[i], sub->n) * (1 - skip_risk(distance[i], s->n_skipped));

		if (skipped[i] || score <= best)
			continue;
		best = score;
		s->pick = sub->node[i];
		s->pick_weight = weight[i];
	}
	return 0;
}

static int search_sub(const struct walk *w, const struct judge_sub *sub, struct judge_search *s)
{
	bool *skipped = calloc((size_t)sub->n, sizeof(*skipped));
	int *work = calloc(3 * (size_t)sub->n, sizeof(*work));
	int r = skipped && work ? 0 : -ENOMEM;

	for (int i = 0; r == 0 && i < sub->n - 1; i++) {
		skipped[i] = side_of(w, sub->node[i]) == JUDGE_SIDE_SKIP;
		s->n_skipped += skipped[i];
	}
	s->n_untested = sub->n - 1 - s->n_skipped;
	if (r == 0 && s->n_untested > 0)
		r = pick_next(sub, skipped, work, s);
	free(skipped);
	free(work);
	return r;
}

static int search_marked(const struct walk *w, struct judge_search *ret)
{
	struct judge_search s = {.pick = -1};
	struct judge_sub sub;

	find_candidates(w, &s);
	int r = judge_sub_init(w->dag, w->first_parent, w->marks, &sub);
	if (r < 0)
		return r;
	r = search_sub(w, &sub, &s);
	if (r == 0) {
		s.candidates = sub.node;
		s.n_candidates = sub.n;
		sub.node = NULL;
		*ret = s;
	}
	judge_sub_done(&sub);
	return r;
}

int judge_search_run(const struct judge_dag *dag, bool first_parent, const enum judge_side *sides,
		     struct judge_search *ret)
{
	struct walk w = {dag, first_parent, sides, calloc((size_t)dag->n, 1)};
	if (!w.marks)
		return -ENOMEM;

	int r = search_marked(&w, ret);
	free(w.marks);
	return r;
}

void judge_search_done(struct judge_search *s)
{
	free(s->candidates);
	*s = (struct judge_search){.pick = -1};
}
