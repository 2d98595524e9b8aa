// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/tap.h"
#include "workers/run-results.h"

#define NONCE "9f3c52a70b1d4e68"
#define REC(n, rest) "{\"n\":" #n ",\"nonce\":\"" NONCE "\"," rest "}\n"
#define METRIC(n, name) REC(n, "\"metric\":\"" name "\",\"value\":5709,\"unit\":\"ns/call\",\"better\":\"lower\"")
#define END(n) REC(n, "\"end\":true,\"records\":" #n ",\"exit\":0")

static void test_good(void)
{
	static const char text[] = REC(0, "\"hello\":true") "\n" REC(1, "\"measure\":true") METRIC(2, "madvise_call")
		METRIC(3, "vmstat.pgfault") END(4) "what comes behind the end is not looked at\n";
	_cleanup_run_results_ struct run_results r;
	const json_t *sample;

	(void)run_results_init(&r, NONCE);
	for (const char *p = text; *p; p++) {
		if (run_results_feed(&r, p, 1) < 0)
			break;
		if (p - text == 60)
			ok(r.hello && !r.measuring && !run_results_good(&r), "hello is seen at once");
	}
	ok(run_results_good(&r) && !r.bad, "a complete channel, byte by byte: %s", r.bad ? r.bad : "good");
	is_int(json_array_size(r.samples), 2, "two samples");
	sample = json_array_get(r.samples, 0);
	is_str(json_get_string(sample, "metric"), "madvise_call", "name");
	is_near(json_get_number(sample, "value", 0), 5709, 0, "value");
}

/* Each must be refused, with a text that holds `why`. */
static const struct {
	const char *name, *text, *why;
} bad[] = {
	{ "no JSON", "hello\n", "no JSON" },
	{ "an array", "[1]\n", "no JSON" },
	{ "other nonce", "{\"n\":0,\"nonce\":\"9f3c52a70b1d4e69\",\"hello\":true}\n", "wrong nonce" },
	{ "no nonce", "{\"n\":0,\"hello\":true}\n", "wrong nonce" },
	{ "nonce is a number", "{\"n\":0,\"nonce\":1,\"hello\":true}\n", "wrong nonce" },
	{ "nonce is longer", "{\"n\":0,\"nonce\":\"" NONCE "0\",\"hello\":true}\n", "wrong nonce" },
	{ "starts at 1", REC(1, "\"hello\":true"), "out of order" },
	{ "a gap", REC(0, "\"hello\":true") METRIC(2, "a"), "out of order" },
	{ "n as text", REC("0", "\"hello\":true"), "out of order" },
	{ "two kinds", REC(0, "\"hello\":true,\"end\":true"), "two kinds" },
	{ "no kind", REC(0, "\"x\":1"), "no known kind" },
	{ "doubled key", "{\"n\":0,\"n\":0,\"nonce\":\"" NONCE "\",\"hello\":true}\n", "no JSON" },
	{ "capital metric", METRIC(0, "Madvise"), "metric's name" },
	{ "empty metric", METRIC(0, ""), "metric's name" },
	{ "long metric", METRIC(0, "a2345678901234567890123456789012345678901234567890123456789012345"), "metric's name" },
	{ "metric is no text", REC(0, "\"metric\":7,\"value\":1,\"unit\":\"s\",\"better\":\"lower\""), "metric's name" },
	{ "no value", REC(0, "\"metric\":\"a\",\"unit\":\"s\",\"better\":\"lower\""), "finite" },
	{ "value as text", REC(0, "\"metric\":\"a\",\"value\":\"1\",\"unit\":\"s\",\"better\":\"lower\""), "finite" },
	{ "value nan", REC(0, "\"metric\":\"a\",\"value\":nan,\"unit\":\"s\",\"better\":\"lower\""), "no JSON" },
	{ "value 1e999", REC(0, "\"metric\":\"a\",\"value\":1e999,\"unit\":\"s\",\"better\":\"lower\""), "no JSON" },
	{ "long unit", REC(0, "\"metric\":\"a\",\"value\":1,\"unit\":\"12345678901234567\",\"better\":\"lower\""), "unit" },
	{ "unit with a newline", REC(0, "\"metric\":\"a\",\"value\":1,\"unit\":\"s\\n\",\"better\":\"lower\""), "unit" },
	{ "unit not ASCII", REC(0, "\"metric\":\"a\",\"value\":1,\"unit\":\"\\u00b5s\",\"better\":\"lower\""), "unit" },
	{ "better unknown", REC(0, "\"metric\":\"a\",\"value\":1,\"unit\":\"s\",\"better\":\"more\""), "better" },
	{ "metric twice", METRIC(0, "a") METRIC(1, "a"), "twice" },
	{ "end counts too few", REC(0, "\"hello\":true") REC(1, "\"end\":true,\"records\":0,\"exit\":0"), "counts 0" },
	{ "end false", REC(0, "\"end\":false,\"records\":0,\"exit\":0"), "malformed end" },
	{ "end without exit", REC(0, "\"end\":true,\"records\":0"), "malformed end" },
	{ "error is no text", REC(0, "\"error\":7"), "not a text" },
};

static void test_bad(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_run_results_ struct run_results r;

		(void)run_results_init(&r, NONCE);
		(void)run_results_feed(&r, bad[i].text, strlen(bad[i].text));
		(void)run_results_feed(&r, END(1), strlen(END(1)));
		ok(!run_results_good(&r) && r.bad && strstr(r.bad, bad[i].why), "%s: %s", bad[i].name,
		   r.bad ? r.bad : "(taken)");
	}
}

static void test_incomplete(void)
{
	static const char fails[] = REC(0, "\"end\":true,\"records\":0,\"exit\":3");
	static const char error[] = REC(0, "\"error\":\"no such \\u001b[31mworkload\\n\"") END(1);
	static const char cut[] = METRIC(0, "a") "{\"n\":1,\"nonce\":\"" NONCE "\",\"end\":true,\"records\":1,\"exit\":0}";
	_cleanup_run_results_ struct run_results a, b, c;

	(void)run_results_init(&a, NONCE);
	(void)run_results_feed(&a, fails, strlen(fails));
	ok(a.ended && !run_results_good(&a) && a.exit_status == 3, "exit 3 is not good");
	(void)run_results_init(&b, NONCE);
	(void)run_results_feed(&b, error, strlen(error));
	ok(b.ended && !run_results_good(&b), "an error record is not good, even with exit 0");
	ok(b.workload_error && !strchr(b.workload_error, '\x1b') && !strchr(b.workload_error, '\n'),
	   "the error's text is harmless: %s", b.workload_error);
	(void)run_results_init(&c, NONCE);
	(void)run_results_feed(&c, cut, strlen(cut));
	ok(!c.ended && !c.bad, "an end record without its newline has not come");
}

static void test_limits(void)
{
	_cleanup_run_results_ struct run_results many, wide;
	char block[RUN_RESULT_LINE_MAX];

	(void)run_results_init(&many, NONCE);
	for (int i = 0; i < RUN_RECORDS_MAX + 5; i++) {
		_cleanup_free_ char *line = str_format("{\"n\":%d,\"nonce\":\"" NONCE "\",\"measure\":true}\n", i);

		(void)run_results_feed(&many, line, strlen(line));
	}
	ok(many.bad && strstr(many.bad, "more than"), "too many records: %s", many.bad ? many.bad : "");
	(void)run_results_init(&wide, NONCE);
	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 1000; i++)
		(void)run_results_feed(&wide, block, sizeof(block));
	ok(wide.bad && wide.lines.pending.capacity < 8 * sizeof(block), "a line without an end takes no memory");
}

/* Bytes of all kinds, from a fixed seed: nothing may be believed, nothing may go wrong (ASan, UBSan). */
static void test_noise(void)
{
	static const char good[] = REC(0, "\"hello\":true") METRIC(1, "a") METRIC(2, "b") END(3);
	uint64_t x = 88172645463325252;
	unsigned believed = 0;

	for (int round = 0; round < 20000; round++) {
		_cleanup_run_results_ struct run_results r;
		char text[sizeof(good)];
		size_t n = sizeof(good) - 1;

		memcpy(text, good, sizeof(good));
		for (int k = 0; k <= round % 4; k++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			if (round % 3 == 0)
				n = 1 + x % n;
			else
				text[x % n] = (char)(x >> 32);
		}
		(void)run_results_init(&r, NONCE);
		(void)run_results_feed(&r, text, n / 2);
		(void)run_results_feed(&r, text + n / 2, n - n / 2);
		believed += run_results_good(&r) && json_array_size(r.samples) != 2;
	}
	is_int(believed, 0, "20000 damaged channels: none was believed with samples missing");
}

static void test_units(void)
{
	ok(run_unit_is_time("ns") && run_unit_is_time("s") && run_unit_is_time("ns/call") && run_unit_is_time("MB/s"),
	   "units of time");
	ok(!run_unit_is_time("events") && !run_unit_is_time("") && !run_unit_is_time("pages/call") &&
		   !run_unit_is_time("sn"),
	   "units of counts");
}

int main(void)
{
	test_good();
	test_bad();
	test_incomplete();
	test_limits();
	test_noise();
	test_units();
	return done_testing();
}
