#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Make tests/judge/rank-vectors.h. Needs python3-scipy (1.10.1 made the file that is here); tests do not.

p: scipy.stats.mannwhitneyu (exact without ties, asymptotic for large samples) or, with ties,
permutation_test over all permutations. low, high: by the definition, from all pairwise differences
and a null distribution of U counted by itertools or by the textbook recurrence.
"""
from functools import lru_cache
from math import comb

import numpy as np
import scipy
from scipy.stats import mannwhitneyu, norm, permutation_test, rankdata

rng = np.random.default_rng(7)


def rank_sum(x, y, axis=-1):
    ranks = rankdata(np.concatenate([x, y], axis=axis), axis=axis)
    return np.take(ranks, range(x.shape[axis]), axis=axis).sum(axis=axis)


@lru_cache(maxsize=None)
def ways(m, n, u):
    """How many orders of m and n values have the statistic U = u."""
    if u < 0:
        return 0
    if m == 0 or n == 0:
        return int(u == 0)
    return ways(m - 1, n, u - n) + ways(m, n - 1, u)


def p_value(a, b):
    n = len(a) + len(b)
    if n > 50:
        return mannwhitneyu(a, b, method="asymptotic").pvalue, "asymptotic"
    if len(set(a) | set(b)) == n:
        return mannwhitneyu(a, b, method="exact").pvalue, "exact"
    return permutation_test((a, b), rank_sum, permutation_type="independent", n_resamples=np.inf,
                            vectorized=True).pvalue, "permutation"


def interval(a, b):
    m, n = len(a), len(b)
    if m + n > 50:
        leave = int(max(0, np.floor(m * n / 2 - norm.ppf(0.975) * np.sqrt(m * n * (m + n + 1) / 12))))
    else:
        leave = tail = 0
        while (tail + ways(m, n, leave)) / comb(m + n, m) <= 0.025:
            tail += ways(m, n, leave)
            leave += 1
    shifts = sorted(y - x for x in a for y in b)
    return (shifts[leave - 1], shifts[-leave]) if leave else ("NAN", "NAN")


def braces(values):
    return "{" + ", ".join("%.10g" % v for v in values) + "}"


def show(a, b):
    a, b = np.array(a, float), np.array(b, float)
    p, how = p_value(a, b)
    low, high = (v if v == "NAN" else "%.10g" % v for v in interval(a, b))
    print("\t/* %s */\n\t{%d, %d, %s,\n\t %s,\n\t %.15g, %s, %s}," %
          (how, len(a), len(b), braces(a), braces(b), p, low, high))


print("/* SPDX-License-Identifier: GPL-2.0-or-later */\n"
      "/* Made by tests/judge/make-vectors.py with scipy %s: n_a, n_b, a, b, p, low, high. */\n"
      "/* clang-format off */" % scipy.__version__)
for sizes in [(1, 1), (1, 5), (3, 3), (4, 4), (5, 5), (5, 5), (7, 4), (10, 12), (20, 20), (25, 25), (3, 40)]:
    show(np.round(rng.normal(100, 5, sizes[0]), 3), np.round(rng.normal(104, 5, sizes[1]), 3))
show([1, 2, 3, 4, 5], [6, 7, 8, 9, 10])
show([6, 7, 8, 9, 10], [1, 2, 3, 4, 5])
show([1, 1, 1, 1, 1], [1, 1, 1, 1, 1])
show([1, 1, 2, 2, 3], [2, 3, 3, 4, 4])
show([0, 0, 0, 1], [0, 1, 1, 1, 2, 2])
show([5, 5, 5], [5, 6, 6, 6, 6, 6, 6, 6])
show([-1, 0, 0, 2, 2, 2], [-1, -1, 3, 3, 0, 2, 9])
show(rng.integers(0, 4, 8), rng.integers(1, 5, 8))
show(rng.integers(0, 5, 30), rng.integers(1, 6, 35))
show(np.round(rng.normal(0, 1, 26), 4), np.round(rng.normal(0.8, 1, 30), 4))
show([3] * 30, [3] * 30)
