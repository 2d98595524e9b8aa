/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random numbers of the simulation: xoshiro256**, seeded by a number, a name and a number, so that
 * any trial of any world can be had again alone. A plain value; nothing fails.
 */
#ifndef MMB_SIMULATE_RNG_H
#define MMB_SIMULATE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *rng, uint64_t seed, const char *name, uint64_t number);
uint64_t rng_u64(struct rng *rng);
int rng_below(struct rng *rng, int n);			      /* 0 to n-1 */
double rng_unit(struct rng *rng);			      /* between 0 and 1, never either */
double rng_normal(struct rng *rng);			      /* mean 0, variance 1 */
double rng_between(struct rng *rng, double low, double high); /* uniform */

#endif
