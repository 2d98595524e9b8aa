/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Real runs in place of made-up noise: what `mmbisect compare --json` or `run --json` measured.
 *
 * A world with a pool draws each run from the samples of its side, with replacement: the real shape of the noise, its outliers and
 * its two kinds of boots, without what only the order of real runs would show (drift). The first row is the good side, the last
 * one the bad side; with one row only there is nothing to find. Values of which more is better are taken as their reciprocals, for
 * a world knows only costs. A pool owns its values.
 */
#ifndef MMB_SIMULATE_POOL_H
#define MMB_SIMULATE_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "lib/error.h"

struct world_pool {
	double *good, *bad; /* bad NULL: one row only */
	size_t n_good, n_bad;
	double change; /* relative, of the medians: 0.2 is 20 % worse */
	double spread; /* relative standard deviation of the good side, outliers aside */
	double effect; /* change in spreads */
};

/* metric NULL: the one that the document names. -EINVAL and a text: not such a document, too few values (POOL_LEAST a side), a
 * value that is not positive. */
#define POOL_LEAST 5
int world_pool_read(const json_t *document, const char *metric, struct error *err, struct world_pool *ret);
void world_pool_done(struct world_pool *pool);

#endif
