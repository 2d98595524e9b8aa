/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Histories with and without steps: a real one, made-up ones by hand, and many by chance (the seed
 * is printed; argv[1] or $SEED; 150 of each kind, or $TRIALS). Rates are printed, bounds leave room
 * for chance.
 */
#include <errno.h>
#include <math.h>

#include "daemon/judge/partition.h"
#include "daemon/judge/series.h"
#include "daemon/judge/student.h"
#include "tap.h"
#include "world.h"

#define LEN(a) (sizeof(a) / sizeof(*(a)))
#define POINTS_MAX 512
#define BOOTS_MAX 8

static const struct judge_series_options time_up = {
	.cls = JUDGE_TIME, .better = JUDGE_HIGHER, .floor = 0.02};
static const struct judge_series_options time_down = {
	.cls = JUDGE_TIME, .better = JUDGE_LOWER, .floor = 0.0};

struct row {
	struct judge_point points[POINTS_MAX];
	double values[POINTS_MAX][BOOTS_MAX];
	size_t n;
};

static void add(struct row *row, double value)
{
	row->values[row->n][0] = value;
	row->points[row->n] = (struct judge_point){row->values[row->n], 1};
	row->n++;
}

static struct row row_of(const double *values, size_t n)
{
	struct row row = {.n = 0};

	for (size_t i = 0; i < n; i++)
		add(&row, values[i]);
	return row;
}

/* The caller's from here on: judge_series_done(). */
static struct judge_series look(const struct row *row, const struct judge_series_options *opt)
{
	struct judge_series s = {0};
	struct row copy = {.n = row->n};

	for (size_t i = 0; i < row->n; i++) { /* rows are copied about: their pointers are not */
		memcpy(copy.values[i], row->values[i], sizeof(copy.values[i]));
		copy.points[i] = (struct judge_point){copy.values[i], row->points[i].n};
	}
	int r = judge_series(copy.points, copy.n, opt, &s);
	if (r < 0)
		ok(false, "judge_series: %d", r);
	return s;
}

static void show(const struct judge_series *s)
{
	for (size_t i = 0; i < s->n_segments; i++) {
		printf("#   %zu..%zu level %g [%g %g]", s->segments[i].first, s->segments[i].last,
		       s->segments[i].level, s->segments[i].low, s->segments[i].high);
		if (i + 1 < s->n_segments)
			printf(" then x %.4f [%.4f %.4f] p %.2g relation %d creep %d",
			       s->steps[i].ratio, s->steps[i].low, s->steps[i].high, s->steps[i].p,
			       (int)s->steps[i].relation, s->steps[i].creep);
		printf("\n");
	}
}

/* will-it-scale mmap1, threads, v6.0 to v6.1: operations a thread, several boots each (case B-02).
 */
static const struct {
	size_t n;
	double values[BOOTS_MAX];
} real[] = {
	{5, {4385, 4205, 4348, 4228, 4504}},
	{3, {4625, 4509, 4548}},
	{3, {4638, 4628, 4502}},
	{3, {2747, 2744, 2747}},
	{5, {2725, 2717, 2690, 2691, 2710}},
	{5, {2670, 2656, 2720, 2691, 2667}},
	{6, {2756, 2711, 2689, 2696, 2660, 2665}},
	{6, {2124, 2286, 2086, 2114, 2065, 2081}},
	{6, {2093, 2082, 2094, 2073, 2304, 2088}},
	{3, {2085, 2355, 2088}},
};

static void test_real(void)
{
	struct judge_point points[LEN(real)];
	struct judge_series s = {0};

	for (size_t i = 0; i < LEN(real); i++)
		points[i] = (struct judge_point){real[i].values, real[i].n};
	is_int(judge_series(points, LEN(points), &time_up, &s), 0, "a real series");
	show(&s);
	is_int(s.n_segments, 3, "has two steps");
	if (s.n_segments == 3) {
		is_int(s.steps[0].before, 2, "the first before the rb tree went");
		is_int(s.steps[0].after, 3, "and after");
		is_near(s.steps[0].ratio, 0.59, 0.015, "by 41 %%");
		is_int(s.steps[1].before, 6, "the second before the revert");
		is_int(s.steps[1].after, 7, "at the revert");
		is_near(s.steps[1].ratio, 0.79, 0.02, "by 21 %% (means; by medians 22.5)");
		ok(s.steps[0].relation == JUDGE_WORSE && s.steps[1].relation == JUDGE_WORSE,
		   "both for the worse");
		ok(s.steps[0].p < 1e-4 && s.steps[1].p < 1e-4, "surely");
		ok(s.steps[0].low < s.steps[0].ratio && s.steps[0].ratio < s.steps[0].high &&
			   s.steps[1].high < 0.85,
		   "within their intervals");
		is_int(s.steps[0].recovered, -1, "and open");
	}
	judge_series_done(&s);
}

struct rates {
	unsigned n, any, exact, wrong; /* histories; with any step; with just the right ones; with
					  steps that are none */
};

struct plan {
	size_t n, boots;
	double noise, outliers, between; /* of a boot, relative; share; of a build, in boots' */
	double quantum;			 /* rounded to, in noise; 0: not */
	size_t at[4];
	double to[4]; /* level from there on, 1 at first */
	size_t n_steps;
};

static struct row random_row(const struct plan *p)
{
	struct row row = {.n = p->n};

	for (size_t i = 0; i < p->n; i++) {
		double level = 100 * (1 + p->noise * p->between * random_normal());

		for (size_t k = 0; k < p->n_steps; k++)
			if (i >= p->at[k])
				level *= p->to[k] / (k ? p->to[k - 1] : 1);
		for (size_t b = 0; b < p->boots; b++) {
			double e = random_unit() < p->outliers ? 3 + 7 * random_unit()
							       : random_normal();

			row.values[i][b] = level * (1 + p->noise * e);
			if (p->quantum > 0) {
				double q = p->quantum * p->noise * 100;

				row.values[i][b] = q * round(row.values[i][b] / q);
			}
		}
		row.points[i].n = p->boots;
	}
	return row;
}

/* Right: the steps of the plan, each at most `slack` points off. */
static struct rates simulate(const struct plan *p, const struct judge_series_options *opt,
			     unsigned trials, size_t slack)
{
	struct rates rates = {.n = trials};

	for (unsigned t = 0; t < trials; t++) {
		struct row row = random_row(p);
		struct judge_series s = look(&row, opt);
		size_t found = 0, steps = s.n_segments - 1;

		for (size_t k = 0; k < p->n_steps; k++)
			for (size_t i = 0; i < steps; i++)
				if (s.steps[i].after + slack >= p->at[k] &&
				    s.steps[i].after <= p->at[k] + slack) {
					found++;
					break;
				}
		rates.any += steps > 0;
		rates.exact += found == p->n_steps && steps == p->n_steps;
		rates.wrong += steps > found;
		judge_series_done(&s);
	}
	return rates;
}

static void print_rates(const char *what, const struct rates *r)
{
	printf("# %-44s any %.4f right %.4f wrong %.4f\n", what, (double)r->any / r->n,
	       (double)r->exact / r->n, (double)r->wrong / r->n);
}

static unsigned trials(void)
{
	const char *text = getenv("TRIALS");

	return text ? (unsigned)strtoul(text, NULL, 0) : 150;
}

static void test_no_change(void)
{
	static const struct {
		const char *what;
		struct plan plan;
		double most;
	} cases[] = {
		{"no change, 6 points", {.n = 6, .boots = 1, .noise = 0.01}, 0.03},
		{"no change, 12 points", {.n = 12, .boots = 1, .noise = 0.01}, 0.03},
		{"no change, 60 points", {.n = 60, .boots = 1, .noise = 0.01}, 0.03},
		{"no change, 200 points", {.n = 200, .boots = 1, .noise = 0.01}, 0.03},
		{"no change, 60 points of 5", {.n = 60, .boots = 5, .noise = 0.01}, 0.03},
		{"no change, 60 of 5, builds differ as much",
		 {.n = 60, .boots = 5, .noise = 0.01, .between = 1},
		 0.03},
		{"no change, 60 points, 3 % outliers",
		 {.n = 60, .boots = 1, .noise = 0.01, .outliers = 0.03},
		 0.05},
		{"no change, 60 points, 10 % outliers",
		 {.n = 60, .boots = 1, .noise = 0.01, .outliers = 0.10},
		 0.12},
		{"no change, 60 points, coarse by 1 sigma",
		 {.n = 60, .boots = 1, .noise = 0.01, .quantum = 1},
		 0.03},
		{"no change, 60 points, coarse by 3 sigma",
		 {.n = 60, .boots = 1, .noise = 0.01, .quantum = 3},
		 0.03},
		{"no change, 60 points, coarse by 4 sigma",
		 {.n = 60, .boots = 1, .noise = 0.01, .quantum = 4},
		 0.04},
		{"no change, 20 points, coarse by 2 sigma",
		 {.n = 20, .boots = 1, .noise = 0.01, .quantum = 2},
		 0.03},
		{"no change, 60 of 5, 10 % outliers",
		 {.n = 60, .boots = 5, .noise = 0.01, .outliers = 0.10},
		 0.03},
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		struct rates r = simulate(&cases[i].plan, &time_down, trials(), 0);

		print_rates(cases[i].what, &r);
		ok(r.any <= cases[i].most * r.n + 3, "%s", cases[i].what);
	}
}

static void test_power(void)
{
	static const struct {
		const char *what;
		struct plan plan;
		double least, wrong;
		size_t slack;
	} cases[] = {
#define STEP(n_, boots_, d, out)                                                                   \
	{.n = n_,                                                                                  \
	 .boots = boots_,                                                                          \
	 .noise = 0.01,                                                                            \
	 .outliers = out,                                                                          \
	 .at = {(n_) / 2},                                                                         \
	 .to = {1 + (d)*0.01},                                                                     \
	 .n_steps = 1}
		{"1 sigma, 60 points", STEP(60, 1, 1, 0), 0.3, 0.05, 10},
		{"1 sigma, 200 points", STEP(200, 1, 1, 0), 0.9, 0.05, 20},
		{"1 sigma, 60 points of 5", STEP(60, 5, 1, 0), 0.9, 0.05, 5},
		{"2 sigma, 60 points", STEP(60, 1, 2, 0), 0.95, 0.05, 5},
		{"2 sigma, 60 points, 10 % outliers", STEP(60, 1, 2, 0.1), 0.75, 0.18, 5},
		{"2 sigma, 20 points", STEP(20, 1, 2, 0), 0.3, 0.05, 3},
		{"5 sigma, 20 points", STEP(20, 1, 5, 0), 0.95, 0.05, 1},
		{"5 sigma, 60 points", STEP(60, 1, 5, 0), 0.95, 0.05, 1},
		{"5 sigma, 10 points of 5", STEP(10, 5, 5, 0), 0.95, 0.05, 1},
		{"5 sigma, 60 points, at the last two",
		 {.n = 60, .boots = 1, .noise = 0.01, .at = {58}, .to = {1.05}, .n_steps = 1},
		 0.5,
		 0.05,
		 1},
		{"10 sigma, 60 points, at the last two",
		 {.n = 60, .boots = 1, .noise = 0.01, .at = {58}, .to = {1.1}, .n_steps = 1},
		 0.9,
		 0.05,
		 1},
		{"four steps of 5 sigma, up and down",
		 {.n = 80,
		  .boots = 1,
		  .noise = 0.01,
		  .at = {15, 30, 50, 65},
		  .to = {1.05, 1.1, 1.05, 0.95},
		  .n_steps = 4},
		 0.9,
		 0.05,
		 1},
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		struct rates r = simulate(&cases[i].plan, &time_down, trials(), cases[i].slack);

		print_rates(cases[i].what, &r);
		ok(r.exact >= cases[i].least * r.n, "%s: found", cases[i].what);
		ok(r.wrong <= cases[i].wrong * r.n + 3, "%s: nothing else", cases[i].what);
	}
}

static void test_long(void)
{
	struct plan p = {.n = POINTS_MAX,
			 .boots = 1,
			 .noise = 0.01,
			 .outliers = 0.03,
			 .n_steps = 4,
			 .at = {100, 200, 300, 400},
			 .to = {1.02, 1.04, 1.0, 0.98}};
	struct rates r = simulate(&p, &time_down, 20, 10);

	ok(r.exact >= 0.8 * r.n, "four steps of 2 sigma among 512 points: %u of %u", r.exact, r.n);
}

static struct judge_series look_at(const double *values, size_t n,
				   const struct judge_series_options *opt)
{
	struct row row = row_of(values, n);
	struct judge_series s = look(&row, opt);

	show(&s);
	return s;
}

static void test_spikes(void)
{
	const double noisy[] = {100,   101, 99.5, 100.2, 100.9, 100.1, 163,  99.4,
				100.4, 101, 99.9, 100,	 100.6, 40,    99.7, 100.2};
	const double clean[] = {5, 5, 5, 5, 9, 5, 5, 5, 5, 5};
	const double last[] = {100, 101, 99.5, 100.2, 100.9, 100.1, 99.4, 100.4, 101, 163};
	const double stays[] = {100, 101, 99.5, 100.2, 100.9, 100.1, 99.4, 100.4, 101, 163, 162};
	struct judge_series s = look_at(noisy, LEN(noisy), &time_down);

	is_int(s.n_segments, 1, "single spikes, up and down, are no steps");
	ok(s.spike[6] && s.spike[13] && !s.spike[5] && !s.spike[7], "but are named");
	judge_series_done(&s);
	s = look_at(clean, LEN(clean), &time_down);
	is_int(s.n_segments, 1, "nor is one among equal values");
	ok(s.spike[4], "a spike too");
	judge_series_done(&s);
	s = look_at(last, LEN(last), &time_down);
	is_int(s.n_segments, 1, "nor, of a noisy metric, the last point alone");
	judge_series_done(&s);
	s = look_at(stays, LEN(stays), &time_down);
	is_int(s.n_segments, 2, "but two of them are a step");
	is_int(s.n_segments == 2 ? s.steps[0].after : 0, 9, "at the first");
	judge_series_done(&s);
}

static void test_several(void)
{
	const double stairs[] = {100, 100, 130, 130, 150, 150, 150}; /* case D-23 */
	const double back[] = {100, 101,   100.5, 99.8,	 116,	115.5, 117,  116.2,
			       105, 104.7, 105.3, 104.9, 100.2, 100.9, 99.9, 100.4};
	struct judge_series s = look_at(stairs, LEN(stairs), &time_down);

	is_int(s.n_segments, 3, "two steps, without noise");
	ok(s.n_segments == 3 && s.steps[0].after == 2 && s.steps[1].after == 4, "where they are");
	judge_series_done(&s);

	s = look_at(back, LEN(back), &time_down); /* case D-22, and then all of it */
	is_int(s.n_segments, 4, "a step that is taken back in two parts");
	if (s.n_segments == 4) {
		ok(s.steps[0].relation == JUDGE_WORSE && s.steps[1].relation == JUDGE_IMPROVED &&
			   s.steps[2].relation == JUDGE_IMPROVED,
		   "improvements are reported too");
		is_int(s.steps[0].recovered, 3, "it is recovered at the end");
		is_near(s.steps[0].left, 0, 0.05, "nothing is left of it");
		is_int(s.segments[3].back_at, 0, "which is back at the first level");
		is_int(s.segments[2].back_at, -1, "half way is no level that was there before");
	}
	judge_series_done(&s);
	s = look_at(back, 12, &time_down);
	ok(s.n_segments == 3 && s.steps[0].recovered == -1 && fabs(s.steps[0].left - 0.3) < 0.05,
	   "before that it was open, with a third left");
	judge_series_done(&s);
}

/* Slow: 0.3 % a point with 0.2 % noise; no two neighbours differ surely, nor by the floor. */
static void test_creep(void)
{
	struct judge_series_options opt = {.cls = JUDGE_TIME, .better = JUDGE_LOWER, .floor = 0.05};
	struct row row = {.n = 0};
	bool creep = false;
	size_t worse = 0;

	for (int i = 0; i < 60; i++)
		add(&row, 100 * pow(1.003, i < 10 ? 0 : i - 10) * (1 + 0.002 * random_normal()));
	struct judge_series s = look(&row, &opt);
	show(&s);
	for (size_t k = 0; k + 1 < s.n_segments; k++) {
		worse += s.steps[k].relation == JUDGE_WORSE;
		creep |= s.steps[k].creep;
	}
	ok(creep, "what creeps is seen");
	ok(worse >= 2 && worse <= 4, "each time it has crept by the floor: %zu", worse);
	judge_series_done(&s);

	opt.floor = 0.3;
	s = look(&row, &opt);
	for (size_t k = 0, n = 0; k + 1 < s.n_segments; k++)
		if (s.steps[k].relation != JUDGE_SAME && n++ == 0)
			ok(false, "16 %% are below a floor of 30 %%");
	judge_series_done(&s);
}

static void test_exact(void)
{
	const struct judge_series_options opt = {
		.cls = JUDGE_EXACT, .better = JUDGE_LOWER, .floor = 0.005};
	struct judge_series_options based = opt;
	const double demo[] = {5709, 5709, 5710, 5709, 166997, 166997, 152563, 5709};
	const double creep[] = {1000, 1003, 1000, 1004, 1006, 1006, 1003, 990, 990};
	const double best[] = {1000, 997, 997, 1002.5};
	const double equal[] = {7, 7, 7, 7};
	const double zero[] = {0, 0, 3, 0};
	struct judge_series s = look_at(demo, LEN(demo), &opt);

	is_int(s.n_segments, 4, "exact: one value is enough");
	if (s.n_segments == 4) {
		is_int(s.steps[0].after, 4, "the step");
		is_near(s.steps[0].ratio, 166997.0 / 5709, 1e-9, "its ratio");
		ok(s.steps[0].p <= 0 && s.steps[0].relation == JUDGE_WORSE && !s.steps[0].creep,
		   "is sure");
		is_int(s.steps[0].recovered, 3, "recovered by the last value");
		is_int(s.segments[3].back_at, 0, "back at the first level");
	}
	judge_series_done(&s);
	s = look_at(creep, LEN(creep), &opt);
	is_int(s.n_segments, 3, "small steps add up");
	if (s.n_segments == 3) {
		ok(s.steps[0].after == 4 && s.steps[0].creep && s.steps[0].relation == JUDGE_WORSE,
		   "0.6 %%, by 0.2 at last");
		ok(s.steps[1].after == 7 && s.steps[1].relation == JUDGE_IMPROVED,
		   "an improvement");
	}
	judge_series_done(&s);
	s = look_at(best, LEN(best), &opt);
	ok(s.n_segments == 2 && s.steps[0].after == 3, "against the best, not the first");
	judge_series_done(&s);
	based.base = 3;
	s = look_at(best, LEN(best), &based);
	is_int(s.n_segments, 1, "unless that was accepted");
	judge_series_done(&s);
	s = look_at(equal, LEN(equal), &opt);
	is_int(s.n_segments, 1, "all equal");
	judge_series_done(&s);
	s = look_at(zero, LEN(zero), &opt);
	is_int(s.n_segments, 3, "from zero any change counts");
	judge_series_done(&s);
}

static void test_odd(void)
{
	const double equal[] = {7, 7, 7, 7, 7, 7, 7};
	const double one[] = {7};
	const double two[] = {7, 9};
	const double coarse[] = {5, 6, 5, 5, 5, 6, 5, 5, 5, 5, 6, 6, 5, 5, 5, 5, 5, 6, 5, 5};
	const double negative[] = {-5, -5.1, -4.9, -5, -5.05, 3, 3.1, 2.9, 3.05, 3};
	const double bad[] = {1, NAN};
	struct judge_series s = look_at(equal, LEN(equal), &time_down);
	struct judge_series_options wrong = time_down;
	struct row row = row_of(bad, 2);

	is_int(s.n_segments, 1, "all equal");
	judge_series_done(&s);
	s = look_at(one, 1, &time_down);
	ok(s.n_segments == 1 && isnan(s.segments[0].low), "one point");
	judge_series_done(&s);
	s = look_at(two, 2, &time_down);
	is_int(s.n_segments, 1, "two points tell nothing");
	judge_series_done(&s);
	s = look_at(coarse, LEN(coarse), &time_down);
	is_int(s.n_segments, 1, "a coarse metric");
	judge_series_done(&s);
	s = look_at(negative, LEN(negative), &time_down);
	ok(s.n_segments == 2 && s.steps[0].relation == JUDGE_WORSE, "values of both signs");
	judge_series_done(&s);

	for (size_t i = 0; i < row.n; i++)
		row.points[i].values = row.values[i];
	is_int(judge_series(row.points, 2, &time_down, &s), -EDOM, "NAN is refused");
	is_int(judge_series(row.points, 0, &time_down, &s), -EINVAL, "nothing is refused");
	row.points[0].n = row.points[1].n = 0;
	is_int(judge_series(row.points, 2, &time_down, &s), -EINVAL, "no value at all too");
	wrong.floor = NAN;
	row.points[0].n = 1;
	is_int(judge_series(row.points, 1, &wrong, &s), -EINVAL, "and a floor that is none");
	is_int(judge_series(row.points, JUDGE_SERIES_MAX + 1, &time_down, &s), -E2BIG,
	       "and too many");
}

/* Commits that were not measured lie between: the step is a range. */
static void test_gap(void)
{
	const double values[] = {100, 101, 100.5, 0, 0, 131, 130.5, 130};
	struct row row = row_of(values, LEN(values));

	row.points[3].n = row.points[4].n = 0;
	struct judge_series s = look(&row, &time_down);
	ok(s.n_segments == 2 && s.steps[0].before == 2 && s.steps[0].after == 5,
	   "a range, not one commit");
	is_int(s.segments[0].n_values, 3, "of three values");
	judge_series_done(&s);
}

/* Closed forms of df 1, 2, 3, and the tables that everybody has. */
static void test_student(void)
{
	static const struct {
		double t, df, p;
	} table[] = {{2.228138852, 10, 0.05}, {4.032142984, 5, 0.01}, {2.042272456, 30, 0.05}};
	static const double at[] = {0.01, 0.5, 1, 3, 30, 3000};

	for (size_t i = 0; i < LEN(at); i++) {
		double t = at[i], u = t / sqrt(3);

		is_near(judge_student_p(t, 1), 1 - 2 / M_PI * atan(t), 1e-12, "df 1, t %g", t);
		is_near(judge_student_p(t, 2), 1 - t / sqrt(2 + t * t), 1e-12, "df 2");
		is_near(judge_student_p(-t, 3), 1 - 2 / M_PI * (atan(u) + u / (1 + u * u)), 1e-12,
			"df 3");
		is_near(judge_student_p(t, 1e8), erfc(t / sqrt(2)), 1e-6, "df endless");
	}
	for (size_t i = 0; i < LEN(table); i++) {
		is_near(judge_student_p(table[i].t, table[i].df), table[i].p, 1e-9,
			"p of t %g, df %g", table[i].t, table[i].df);
		is_near(judge_student_quantile(table[i].p, table[i].df), table[i].t, 1e-6,
			"and back");
	}
	ok(judge_student_p(INFINITY, 3) <= 0 && judge_student_p(0, 3) >= 1 &&
		   isnan(judge_student_p(NAN, 3)),
	   "the ends");
	ok(judge_student_p(40, 200) > 0 && judge_student_p(40, 200) < 1e-90,
	   "far out it is small, not 0");
}

int main(int argc, char **argv)
{
	(void)seed_of(argc, argv);
	test_student();
	test_real();
	test_spikes();
	test_several();
	test_creep();
	test_exact();
	test_odd();
	test_gap();
	test_no_change();
	test_power();
	test_long();
	return done_testing();
}
