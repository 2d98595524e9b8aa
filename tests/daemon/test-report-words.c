// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers, widths, and what may be said of two samples. */
#include "tap.h"

#include "daemon/report/lines.h"
#include "daemon/report/number.h"
#include "daemon/report/words.h"

static struct report_metric metric(enum judge_class cls, enum judge_better better, const char *unit, size_t n,
				   const double *values)
{
	struct report_metric m = REPORT_METRIC_INIT;

	m.n = n;
	m.values = (double *)(uintptr_t)values;
	m.cls = cls;
	m.better = better;
	m.unit = unit;
	return m;
}

#define SAMPLE(cls, better, unit, ...)                                                             \
	metric(cls, better, unit, sizeof((double[]){ __VA_ARGS__ }) / sizeof(double),              \
	       (const double[]){ __VA_ARGS__ })

static void said(struct report_metric a, struct report_metric b, const char *want, const char *what)
{
	struct str s = STR_INIT;

	is_int(report_words("m", &a, &b, &s, NULL), 0, "%s", what);
	is_str(s.data, want, "... in words");
	str_done(&s);
}

static void test_exact(void)
{
	said(SAMPLE(JUDGE_EXACT, JUDGE_LOWER, "ns/call", 5709), SAMPLE(JUDGE_EXACT, JUDGE_LOWER, "ns/call", 166997),
	     "m: 5 709 -> 166 997 ns/call: 29.3 times as much, lower is better: worse (exact, n=1 and 1)", "exact, worse");
	said(SAMPLE(JUDGE_EXACT, JUDGE_LOWER, "ns/call", 166997), SAMPLE(JUDGE_EXACT, JUDGE_LOWER, "ns/call", 152563),
	     "m: 166 997 -> 152 563 ns/call: 8.6 % lower, lower is better: better (exact, n=1 and 1)", "exact, better");
	said(SAMPLE(JUDGE_EXACT, JUDGE_LOWER, "ns", 5709), SAMPLE(JUDGE_EXACT, JUDGE_LOWER, "ns", 5711),
	     "m: 5 709 -> 5 711 ns: the same within 0.5 % (exact, n=1 and 1)", "below the floor");
	said(SAMPLE(JUDGE_EXACT, JUDGE_LOWER, "ns", 7), SAMPLE(JUDGE_EXACT, JUDGE_LOWER, "ns", 7),
	     "m: 7 -> 7 ns: the same (exact, n=1 and 1)", "equal");
	said(SAMPLE(JUDGE_EXACT, JUDGE_LOWER, "", 0), SAMPLE(JUDGE_EXACT, JUDGE_LOWER, "", 12),
	     "m: 0 -> 12: up from none, lower is better: worse (exact, n=1 and 1)", "from zero");
	said(SAMPLE(JUDGE_EXACT, JUDGE_HIGHER, "ops/s", 1322908), SAMPLE(JUDGE_EXACT, JUDGE_HIGHER, "ops/s", 1256536),
	     "m: 1 322 908 -> 1 256 536 ops/s: 5.0 % lower, higher is better: worse (exact, n=1 and 1)",
	     "a throughput that falls");
	said(SAMPLE(JUDGE_EXACT, JUDGE_LOWER, "x", 1, 2), SAMPLE(JUDGE_EXACT, JUDGE_LOWER, "x", 2, 3),
	     "m: 1.50 -> 2.50 x: runs of one kernel differ, which exact ones must not: nothing can be said (exact, n=2 and 2)",
	     "exact runs that differ");
}

static void test_noisy(void)
{
	said(SAMPLE(JUDGE_TIME, JUDGE_LOWER, "s", 1.02, 1.05, 1.10, 1.14, 1.20),
	     SAMPLE(JUDGE_TIME, JUDGE_LOWER, "s", 4.30, 4.51, 4.82, 5.02, 5.30),
	     "m: 1.10 -> 4.82 s: 4.38 times as much [3.77 .. 4.92], lower is better: worse (p=0.008, n=5 and 5)",
	     "beyond doubt");
	said(SAMPLE(JUDGE_TIME, JUDGE_LOWER, "s", 4.30, 4.51, 4.82, 5.02, 5.30),
	     SAMPLE(JUDGE_TIME, JUDGE_LOWER, "s", 4.40, 4.45, 4.70, 4.90, 5.00),
	     "m: 4.82 -> 4.70 s: between 12.4 % lower and 10.9 % higher: no difference shown (p=0.69, n=5 and 5)",
	     "no difference");
	said(SAMPLE(JUDGE_TIME, JUDGE_LOWER, "s", 1.0, 1.1), SAMPLE(JUDGE_TIME, JUDGE_LOWER, "s", 2.0, 2.1),
	     "m: 1.05 -> 2.05 s: too few runs: nothing can be said (p=0.33, n=2 and 2)", "two runs each");
	said(SAMPLE(JUDGE_TIME, JUDGE_LOWER, "s", 1.0, 1.01, 1.03, 1.03),
	     SAMPLE(JUDGE_TIME, JUDGE_LOWER, "s", 1.2, 1.21, 1.23, 1.24),
	     "m: 1.02 -> 1.22 s: between 16.5 % higher and 24 % higher: not beyond doubt (p=0.029, n=4 and 4)",
	     "four runs each reach no p of 0.01");
	said(SAMPLE(JUDGE_COUNT, JUDGE_HIGHER, "ops", 100, 101, 102, 103, 104),
	     SAMPLE(JUDGE_COUNT, JUDGE_HIGHER, "ops", 62, 63, 64, 65, 66),
	     "m: 102 -> 64 ops: 37 % lower [39 .. 35 %], higher is better: worse (p=0.008, n=5 and 5)",
	     "a noisy throughput");
}

static void test_not_comparable(void)
{
	struct report_metric a = SAMPLE(JUDGE_EXACT, JUDGE_LOWER, "ns", 1), b = SAMPLE(JUDGE_TIME, JUDGE_LOWER, "ns", 2);
	struct report_metric c = SAMPLE(JUDGE_EXACT, JUDGE_LOWER, "us", 1);
	struct str s = STR_INIT;

	is_int(report_words("m", &a, &b, &s, NULL), -EINVAL, "classes differ");
	is_int(report_words("m", &a, &c, &s, NULL), -EINVAL, "units differ");
	is_int(s.len, 0, "nothing is written");
}

static void number_is(double v, const char *want)
{
	struct str s = STR_INIT;

	report_add_value(&s, v);
	is_str(s.data, want, "%g", v);
	str_done(&s);
}

static void test_numbers(void)
{
	number_is(5709, "5 709");
	number_is(166997, "166 997");
	number_is(1234567890, "1 234 567 890");
	number_is(-1234.6, "-1 235");
	number_is(999.96, "1 000.0");
	number_is(1.1, "1.10");
	number_is(0.0213, "0.0213");
	number_is(0, "0");
	number_is(-0.0, "0");
	number_is(12.5, "12.50");
	number_is(189.3, "189.3");
	number_is(1e300, "1.000e+300");
	number_is(-0.0000001, "0.000000");
}

static void test_widths(void)
{
	struct str s = STR_INIT;
	_cleanup_free_ char *line = report_line("a\r\nb\tc\x1b[1m \xe2\x80\xae x\xc2\x85y\xff");

	is_int(report_width("abc"), 3, "ASCII");
	is_int(report_width("Jos\xc3\xa9"), 4, "a letter of two octets");
	is_int(report_width("Jose\xcc\x81"), 4, "a combining accent");
	is_int(report_width("\xe4\xb8\xad\xe6\x96\x87"), 4, "wide characters");
	report_add_clipped(&s, "\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87", 6);
	is_str(s.data, "\xe4\xb8\xad...", "cut at a character");
	str_clear(&s);
	report_add_clipped(&s, "abcdef", 6);
	is_str(s.data, "abcdef", "fits");
	str_clear(&s);
	is_str(line, "a b c[1m  xy\xef\xbf\xbd", "one line without controls and direction marks");
	report_add_wrapped(&s, "> ", "  ",
			   "words that go on and on until the line is almost full, and then comes a 1 234 567 number, "
			   "n=5 and 5, 95 % of it");
	is_str(s.data,
	       "> words that go on and on until the line is almost full, and then comes a\n"
	       "  1 234 567 number, n=5 and 5, 95 % of it\n",
	       "a number is not divided");
	str_done(&s);
}

int main(void)
{
	test_exact();
	test_noisy();
	test_not_comparable();
	test_numbers();
	test_widths();
	return done_testing();
}
