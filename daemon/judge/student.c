/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/judge/student.h"

#include <math.h>

#define ROUNDS 10000
#define TINY 1e-300

static double not_zero(double x)
{
	return fabs(x) < TINY ? TINY : x;
}

/* DLMF 8.17.22 for x < (a + 1) / (a + b + 2): 1 / (1 + d1 / (1 + d2 / ...)). */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), f = d;

	for (int m = 1; m < ROUNDS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		f *= c * d;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		step = c * d;
		f *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return f;
}

/* lgamma() writes a global (signgam). */
static double ln_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* I_x(a, b); y is 1 - x, told apart because one of them may be tiny. */
static double incomplete_beta(double x, double y, double a, double b)
{
	double front;

	if (x <= 0 || y <= 0)
		return x <= 0 ? 0 : 1;
	front = exp(a * log(x) + b * log(y) + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(y, b, a) / b;
}

double judge_student_p(double t, double df)
{
	double t2 = t * t;

	if (isnan(t) || isnan(df))
		return NAN;
	if (!isfinite(t2))
		return 0;
	return fmin(1, incomplete_beta(df / (df + t2), t2 / (df + t2), df / 2, 0.5));
}

double judge_student_quantile(double p, double df)
{
	double low = 0, high = 1;

	if (isnan(p) || isnan(df))
		return NAN;
	while (judge_student_p(high, df) > p && high < 1e150)
		high *= 2;
	for (int i = 0; i < 100; i++) {
		double t = (low + high) / 2;

		if (judge_student_p(t, df) > p)
			low = t;
		else
			high = t;
	}
	return high;
}
