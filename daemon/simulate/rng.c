/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/simulate/rng.h"

#include <math.h>

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void rng_seed(struct rng *rng, uint64_t seed, const char *name, uint64_t number)
{
	uint64_t state = seed;

	/* Each part goes through the mixer: neighbouring seeds and numbers share nothing. */
	for (const char *c = name; *c; c++) {
		state ^= (unsigned char)*c;
		state = splitmix(&state);
	}
	state ^= number;
	state = splitmix(&state);
	for (int i = 0; i < 4; i++)
		rng->s[i] = splitmix(&state);
}

static uint64_t rotate(uint64_t x, int bits)
{
	return (x << bits) | (x >> (64 - bits));
}

/* Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018. */
uint64_t rng_u64(struct rng *rng)
{
	uint64_t *s = rng->s, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

int rng_below(struct rng *rng, int n)
{
	return (int)(rng_u64(rng) % (uint64_t)n);
}

double rng_unit(struct rng *rng)
{
	return ((double)(rng_u64(rng) >> 11) + 0.5) / 9007199254740992.0;
}

double rng_normal(struct rng *rng)
{
	double radius = sqrt(-2 * log(rng_unit(rng)));

	return radius * cos(6.283185307179586 * rng_unit(rng));
}

double rng_between(struct rng *rng, double low, double high)
{
	return low + (high - low) * rng_unit(rng);
}
