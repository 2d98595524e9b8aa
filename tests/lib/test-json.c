// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON lines of a peer that may be a stranger. */
#include "lib/json.h"

#include "tap.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>

/* Feeds text in pieces of `step` bytes, taking objects after each; says the ids that came and how many were bad. */
static char *run(const char *text, size_t len, size_t step, size_t max)
{
	_cleanup_(json_lines_done) struct json_lines lines = JSON_LINES_INIT(max);
	_cleanup_str_ struct str s = STR_INIT;

	for (size_t at = 0; at < len; at += step) {
		json_t *object;

		if (json_lines_feed(&lines, text + at, MIN(step, len - at)) < 0)
			break;
		while (json_lines_next(&lines, &object) > 0) {
			(void)str_addf(&s, "%lld ", (long long)json_get_int(object, "id", -1));
			json_decref(object);
		}
	}
	(void)str_addf(&s, "bad %lu", lines.bad);
	return str_take(&s);
}

static void check(const char *text, size_t len, size_t max, const char *want, const char *what)
{
	static const size_t steps[] = { 1, 2, 3, 7, 4096 };

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		_cleanup_free_ char *got = run(text, len, steps[i], max);

		is_str(got, want, "%s, in pieces of %zu", what, steps[i]);
	}
}
#define CHECK(text, max, want, what) check(text, sizeof(text) - 1, max, want, what)

static void test_lines(void)
{
	CHECK("{\"id\":1}\n{\"id\":2}\n", 100, "1 2 bad 0", "two lines");
	CHECK("{\"id\":1}\r\n\n\n{\"id\":2}", 100, "1 bad 0", "CRLF and empty lines are fine, an open end is no line");
	CHECK("[1]\n7\nnull\n{\"id\":1}\n", 100, "1 bad 3", "JSON that is no object");
	CHECK("hello\n{\"id\":1} x\n{\"id\":1}{\"id\":2}\n{\"id\":3}\n", 100, "3 bad 3", "words and trailing words");
	CHECK("{\"id\":1,\"id\":2}\n{\"id\":3}\n", 100, "3 bad 1", "a doubled key");
	CHECK("{\"id\":1}\0\n\0{\"id\":2}\n{\"id\":3}\n", 100, "3 bad 2", "NUL bytes");
	CHECK("{\"id\":1,\"s\":\"a\\u0000b\"}\n{\"id\":3}\n", 100, "3 bad 1", "an escaped NUL");
	CHECK("{\"id\":1,\"s\":\"\xff\"}\n{\"id\":3}\n", 100, "3 bad 1", "bytes that are no UTF-8");
	CHECK("{\"id\":1,\"s\":1e999}\n{\"id\":99999999999999999999}\n{\"id\":3}\n", 100, "3 bad 2", "numbers out of range");
	CHECK("{\"id\":1}\n", 8, "1 bad 0", "a line as long as may be");
	CHECK("{\"id\":12}\n{\"id\":3}\n", 8, "3 bad 1", "one byte more");
	CHECK("{\"id\":1,\"s\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}\n{\"id\":3}\n{\"id\":4}\n", 8, "3 4 bad 1",
	      "far too long, counted once");
}

static void test_endless(void)
{
	_cleanup_(json_lines_done) struct json_lines lines = JSON_LINES_INIT(1000);
	char block[500];
	json_t *object = NULL;
	size_t most = 0;

	memset(block, '[', sizeof(block));
	for (int i = 0; i < 1000; i++) {
		(void)json_lines_feed(&lines, block, sizeof(block));
		is_int(json_lines_next(&lines, &object), 0, "no line in endless bytes") ;
		most = MAX(most, lines.pending.len);
		if (i == 2)
			i = 996; /* the rest is alike */
	}
	ok(most <= 1500, "a peer without newlines does not fill the memory");
	is_int(lines.bad, 1, "it is one bad line");
	(void)json_lines_feed(&lines, "\n{\"id\":5}\n", 10);
	is_int(json_lines_next(&lines, &object), 1, "and the next line is read again");
	json_decref(object);
}

static void test_deep(void)
{
	_cleanup_str_ struct str s = STR_INIT;
	_cleanup_free_ char *got = NULL;

	(void)str_add(&s, "{\"a\":");
	for (int i = 0; i < 100000; i++)
		(void)str_add(&s, "[");
	(void)str_add(&s, "\n{\"id\":1}\n");
	got = run(s.data, s.len, 65536, 1 << 20);
	is_str(got, "1 bad 1", "nested without end: refused, the stack holds");
}

static void test_get(void)
{
	_cleanup_json_ json_t *o = json_pack("{s:s, s:I, s:f, s:b, s:n}", "s", "text", "i", (json_int_t)INT64_MAX, "f", 2.5, "b",
					     1, "n");

	is_str(json_get_string(o, "s"), "text", "string");
	ok(!json_get_string(o, "i") && !json_get_string(o, "none") && !json_get_string(NULL, "s"), "no string");
	ok(json_get_int(o, "i", 0) == INT64_MAX, "the largest integer");
	is_int(json_get_int(o, "f", -3), -3, "a real is no integer");
	is_int(json_get_int(o, "s", -3), -3, "a string is no integer");
	is_near(json_get_number(o, "f", 0), 2.5, 0, "number");
	is_near(json_get_number(o, "i", 0), 9.2233720368547758e18, 1e4, "an integer is a number");
	is_near(json_get_number(o, "n", 7), 7, 0, "null is no number");
	ok(json_get_bool(o, "b") && !json_get_bool(o, "s") && !json_get_bool(o, "none"), "bool");
}

static void test_write(void)
{
	_cleanup_json_ json_t *o = json_pack("{s:s}", "k", "a\nb");
	_cleanup_json_ json_t *bytes = json_bytes("Jos\xe9"), *nothing = json_bytes(NULL);
	int p[2];
	char got[64] = "";

	is_str(json_string_value(bytes), "Jos\xef\xbf\xbd", "bytes of strangers become a string");
	ok(json_is_null(nothing), "NULL becomes null");
	if (pipe2(p, O_CLOEXEC) < 0)
		return;
	is_int(json_write_line(p[1], o), 0, "write");
	ok(read(p[0], got, sizeof(got) - 1) > 0, "read it back");
	is_str(got, "{\"k\":\"a\\nb\"}\n", "one line, newlines escaped");
	(void)close(p[0]);
	(void)signal(SIGPIPE, SIG_IGN);
	is_int(json_write_line(p[1], o), -EPIPE, "nobody reads: -EPIPE");
	(void)close(p[1]);
	is_int(json_write_line(-1, o), -EBADF, "no descriptor");
}

int main(void)
{
	test_lines();
	test_endless();
	test_deep();
	test_get();
	test_write();
	return done_testing();
}
