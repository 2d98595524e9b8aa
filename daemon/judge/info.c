/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/info.h"

#include <math.h>

#define SIGNAL_LOW 0.02
#define SIGNAL_HIGH 12.0
#define QUADRATURE 60
#define REACH 6.0

double judge_entropy(double p)
{
	return p > 0 && p < 1 ? -p * log2(p) - (1 - p) * log2(1 - p) : 0;
}

/* Entropy left when an observation moved the log odds by `llr`. */
static double left(double p, double llr)
{
	double odds = log(p / (1 - p)) + llr;

	return judge_entropy(1 / (1 + exp(-odds)));
}

/* The log likelihood ratio is normal: mean +-signal^2/2, sd signal. Midpoint rule over +-6 sd. */
static double integrate(double p, double signal)
{
	double mean = signal * signal / 2, expected = 0, weight = 0;

	if (p <= 0)
		return 0;
	for (int i = 0; i < QUADRATURE; i++) {
		double z = REACH * (2 * (i + 0.5) / QUADRATURE - 1), w = exp(-z * z / 2);

		expected += w * (p * left(p, mean + signal * z) + (1 - p) * left(p, -mean + signal * z));
		weight += w;
	}
	return fmax(0, judge_entropy(p) - expected / weight);
}

static double signal_at(int s)
{
	return SIGNAL_LOW * pow(SIGNAL_HIGH / SIGNAL_LOW, (double)s / INFO_SIGNAL_STEPS);
}

/* Signals evenly spaced in the logarithm; p = (j / steps)^2 / 2, dense near 0. */
void info_table_make(struct info_table *ret)
{
	for (int s = 0; s <= INFO_SIGNAL_STEPS; s++)
		for (int j = 0; j <= INFO_P_STEPS; j++) {
			double x = (double)j / INFO_P_STEPS;

			ret->bits[s][j] = integrate(x * x / 2, signal_at(s));
		}
}

double judge_information(const struct info_table *table, double p, double signal)
{
	double scale = 1, s, j;
	int si, ji;

	if (!(signal > 0))
		return 0;
	if (signal < SIGNAL_LOW) { /* there it is proportional to the square */
		scale = signal * signal / (SIGNAL_LOW * SIGNAL_LOW);
		signal = SIGNAL_LOW;
	}
	s = log(fmin(signal, SIGNAL_HIGH) / SIGNAL_LOW) / log(SIGNAL_HIGH / SIGNAL_LOW) * INFO_SIGNAL_STEPS;
	j = sqrt(2 * fmax(0, fmin(p, 1 - p))) * INFO_P_STEPS;
	si = (int)fmin(s, INFO_SIGNAL_STEPS - 1);
	ji = (int)fmin(j, INFO_P_STEPS - 1);
	s -= si;
	j -= ji;
	return scale * ((1 - s) * ((1 - j) * table->bits[si][ji] + j * table->bits[si][ji + 1]) +
			s * ((1 - j) * table->bits[si + 1][ji] + j * table->bits[si + 1][ji + 1]));
}
