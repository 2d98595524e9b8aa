/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/family.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define DEFAULT_RATE 0.05

struct entry {
	double p;
	size_t member;
};

static int by_p(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->p < y->p || x->p > y->p)
		return x->p > y->p ? 1 : -1;
	return (x->member > y->member) - (x->member < y->member);
}

static int check(const struct judge_member *members, size_t n, double rate)
{
	if (!(rate >= 0 && rate < 1))
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (!(members[i].minimum >= 0) || isnan(members[i].worse) || members[i].p < 0 ||
		    members[i].p > 1)
			return -EINVAL;
	return 0;
}

static bool above_minimum(const struct judge_member *m)
{
	return fabs(m->worse) > m->minimum;
}

/* The noisy members, least p first. */
static size_t collect(const struct judge_member *members, size_t n, struct entry *entries)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (members[i].cls != JUDGE_EXACT)
			entries[k++] = (struct entry){
				above_minimum(&members[i]) && !isnan(members[i].p) ? members[i].p
										   : 1,
				i};
	qsort(entries, k, sizeof(*entries), by_p);
	return k;
}

/* q of rank k is the least of p m / rank over this and all larger ranks. */
static void adjust(const struct entry *entries, size_t m, enum judge_dependence dependence,
		   double rate, struct judge_member_result *results)
{
	double least = 1, factor = 0;

	for (size_t k = 1; k <= m; k++)
		factor += 1 / (double)k;
	if (dependence == JUDGE_ANY_E)
		factor = 1;
	for (size_t k = m; k > 0; k--) {
		least = fmin(least, entries[k - 1].p * factor * (double)m / (double)k);
		results[entries[k - 1].member] =
			(struct judge_member_result){.counts = least <= rate, .q = least};
	}
}

/* 2 P(at most `few` of n coins), summed in logarithms. */
static double sign_test(size_t up, size_t down)
{
	size_t n = up + down, few = up < down ? up : down;
	double ln = -(double)n * log(2), sum = 0;

	for (size_t k = 0; k <= few; k++) {
		sum += exp(ln);
		ln += log((double)(n - k) / (double)(k + 1));
	}
	return fmin(1, 2 * sum);
}

static void sum_up(const struct judge_member *members, size_t n,
		   const struct judge_member_result *results, struct judge_family *f)
{
	size_t up = 0, down = 0;

	for (size_t i = 0; i < n; i++) {
		const struct judge_member *m = &members[i];

		up += m->cls != JUDGE_EXACT && m->worse > 0;
		down += m->cls != JUDGE_EXACT && m->worse < 0;
		if (!results[i].counts)
			continue;
		f->n_worse += m->worse > 0;
		f->n_improved += m->worse < 0;
	}
	f->one_sided = sign_test(up, down);
}

int judge_family(const struct judge_member *members, size_t n, enum judge_dependence dependence,
		 double rate, struct judge_member_result *ret_members, struct judge_family *ret)
{
	struct judge_family f = {0};
	int r = check(members, n, rate);

	if (r < 0)
		return r;
	struct entry *entries = calloc(n + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		bool counts = above_minimum(&members[i]);

		ret_members[i] =
			(struct judge_member_result){.counts = counts, .q = counts ? 0 : 1};
	}
	adjust(entries, collect(members, n, entries), dependence, rate > 0 ? rate : DEFAULT_RATE,
	       ret_members);
	free(entries);
	sum_up(members, n, ret_members, &f);
	*ret = f;
	return 0;
}
