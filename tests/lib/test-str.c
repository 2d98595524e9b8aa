// SPDX-License-Identifier: GPL-2.0-or-later
/* Strings, numbers, UTF-8 of strangers, durations, and growing arrays. */
#include "lib/str.h"

#include "tap.h"

static void test_buffer(void)
{
	_cleanup_str_ struct str s = STR_INIT;
	char *taken;

	is_str(s.data, "", "an empty str is a C string");
	is_int(str_add(&s, "abc"), 0, "add");
	is_int(str_add_mem(&s, "\0d", 2), 0, "add bytes with a NUL");
	is_int(s.len, 5, "length counts the NUL");
	ok(memcmp(s.data, "abc\0d", 6) == 0, "the bytes are kept and terminated");
	str_clear(&s);
	is_str(s.data, "", "clear");
	for (int i = 0; i < 1000; i++)
		(void)str_addf(&s, "%03d,", i);
	is_int(s.len, 4000, "many small appends");
	ok(memcmp(s.data + 3996, "999,", 4) == 0, "the last of them");
	is_int(str_add_mem(&s, "x", SIZE_MAX), -ENOMEM, "an append that cannot be held is -ENOMEM");
	is_int(s.len, 4000, "and leaves the str as it was");
	ok(s.failed, "and is remembered");
	is_int(str_add(&s, "more"), -ENOMEM, "nothing goes behind a failed append");
	taken = str_take(&s);
	ok(!taken, "take after a failure is NULL");
	free(taken);
	is_int(s.len, 0, "and the str is usable again");
	taken = str_take(&s);
	is_str(taken, "", "take of an empty str is an own string");
	free(taken);
	is_int(str_add_mem(&s, NULL, 0), 0, "nothing may be appended from nowhere");
}

static void test_helpers(void)
{
	_cleanup_free_ char *text = str_format("%s-%d", "a", 5), *p = NULL;
	int *numbers = NULL;
	size_t capacity = 0;

	is_str(text, "a-5", "format");
	is_int(str_set(&p, "one"), 0, "set");
	is_int(str_set(&p, p), 0, "set to itself");
	is_str(p, "one", "keeps the text");
	is_int(str_set(&p, NULL), 0, "set to NULL");
	ok(!p, "is NULL");
	ok(str_eq(NULL, NULL) && !str_eq(NULL, "") && !str_eq("", NULL) && str_eq("a", "a"), "eq with NULLs");
	ok(str_starts("abc", "ab") && str_starts("abc", "") && !str_starts("a", "ab"), "starts");
	ok(str_ends("abc", "bc") && str_ends("abc", "") && !str_ends("c", "bc"), "ends");
	for (size_t i = 0; i < 100; i++)
		if (grow_array(&numbers, &capacity, i, sizeof(*numbers)) == 0)
			numbers[i] = (int)i;
	is_int(numbers[99], 99, "grow_array keeps what is there");
	free(numbers);
}

static void test_numbers(void)
{
	static const char *const bad[] = { "", " 1", "1 ", "+1", "-1", "0x10", "1.0", "1e3", "one", "\n1" };
	static const char *const bad_double[] = { "", " 1", "\n1", "\t1", "1 ", "inf", "nan", "-inf", "1,5", "0x10", "1e", "." };
	uint64_t u = 7;
	double d = 7;

	is_int(str_to_u64("18446744073709551615", &u), 0, "the largest number");
	ok(u == UINT64_MAX, "is read");
	is_int(str_to_u64("18446744073709551616", &u), -ERANGE, "one more is out of range");
	ok(u == UINT64_MAX, "and leaves the output alone");
	is_int(str_to_u64("007", &u), 0, "leading zeros are decimal");
	is_int(u, 7, "not octal");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		is_int(str_to_u64(bad[i], &u), -EINVAL, "bad number %zu", i);
	is_int(str_to_double("-2.5e-3", &d), 0, "a double");
	is_near(d, -0.0025, 1e-12, "its value");
	for (size_t i = 0; i < ARRAY_SIZE(bad_double); i++)
		is_int(str_to_double(bad_double[i], &d), -EINVAL, "bad double %zu", i);
	is_int(str_to_double("1e999", &d), -ERANGE, "a double out of range");
	is_near(d, -0.0025, 1e-12, "outputs are untouched on failure");
	ok(str_is_oid("0123456789abcdef0123456789abcdef01234567"), "40 digits");
	ok(str_is_oid("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"), "64 digits");
	ok(!str_is_oid("0123456789abcdef0123456789abcdef0123456") &&
		   !str_is_oid("0123456789ABCDEF0123456789abcdef01234567") &&
		   !str_is_oid("0123456789abcdef0123456789abcdef01234567\n") && !str_is_oid(""),
	   "no object ids");
}

static void test_utf8(void)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *what;
	} cases[] = {
		{ "a", 1, "ASCII" },
		{ "\xc3\xa9", 2, "two bytes" },
		{ "\xe2\x82\xac", 3, "three bytes" },
		{ "\xf0\x9f\x98\x80", 4, "four bytes" },
		{ "\xf4\x8f\xbf\xbf", 4, "the last code point" },
		{ "\xf4\x90\x80\x80", 0, "one behind it" },
		{ "\xc0\x80", 0, "overlong NUL" },
		{ "\xc1\xbf", 0, "overlong two" },
		{ "\xe0\x9f\xbf", 0, "overlong three" },
		{ "\xf0\x8f\xbf\xbf", 0, "overlong four" },
		{ "\xed\xa0\x80", 0, "surrogate" },
		{ "\xed\x9f\xbf", 3, "before the surrogates" },
		{ "\xee\x80\x80", 3, "behind the surrogates" },
		{ "\x80", 0, "lone continuation" },
		{ "\xc3", 0, "cut off" },
		{ "\xe2\x82", 0, "cut off after two" },
		{ "\xf8\x88\x80\x80\x80", 0, "five bytes" },
		{ "\xff", 0, "no first byte" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		/* An own copy without a NUL, so that reading behind it is seen. */
		size_t len = strlen(cases[i].bytes);
		unsigned char *copy = malloc(len);

		if (copy) {
			memcpy(copy, cases[i].bytes, len);
			is_int(utf8_sequence(copy, len), cases[i].n, "utf8: %s", cases[i].what);
		}
		free(copy);
	}
	is_int(utf8_sequence((const unsigned char *)"x", 0), 0, "utf8: nothing");
}

static void test_sanitize(void)
{
	const char bytes[] = "Jos\xe9 \x1b[31mred\x1b[0m\0nul\r\n\ttab\x7f \xc2\x9b" "c1 \xff";
	_cleanup_free_ char *text = str_sanitize(bytes, sizeof(bytes) - 1), *line = str_sanitize_line(bytes, sizeof(bytes) - 1);
	_cleanup_free_ char *none = str_sanitize("", 0), *all = NULL;
	char every[256];
	size_t at = 0, len;

	is_str(text, "Jos\xef\xbf\xbd [31mred[0mnul\n\ttab c1 \xef\xbf\xbd", "sanitize: bytes replaced, controls dropped");
	is_str(line, "Jos\xef\xbf\xbd [31mred[0mnul  tab c1 \xef\xbf\xbd", "on one line");
	is_str(none, "", "nothing of nothing");
	for (int i = 0; i < 256; i++)
		every[i] = (char)(255 - i); /* downwards: no sequence by chance */
	all = str_sanitize(every, sizeof(every));
	len = strlen(all);
	while (at < len) {
		size_t n = utf8_sequence((const unsigned char *)all + at, len - at);

		if (!n)
			break;
		at += n;
	}
	is_int(at, len, "sanitised bytes are UTF-8, whatever they were");
}

static void test_duration(void)
{
	static const struct {
		double seconds;
		const char *text;
	} cases[] = { { 0, "0.0 s" }, { 4.06, "4.1 s" }, { 9.94, "9.9 s" }, { 9.96, "10 s" }, { 59.4, "59 s" },
		      { 59.6, "1 min 00 s" }, { 125, "2 min 05 s" }, { 3599.6, "1 h 00 min" }, { 4320, "1 h 12 min" },
		      { -1, "0.0 s" }, { (double)NAN, "0.0 s" }, { (double)INFINITY, "0.0 s" } };
	char out[32];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		is_str(str_duration(cases[i].seconds, out), cases[i].text, "duration of %g", cases[i].seconds);
	ok(strlen(str_duration(1e300, out)) < sizeof(out), "an absurd duration fits");
}

int main(void)
{
	test_buffer();
	test_helpers();
	test_numbers();
	test_utf8();
	test_sanitize();
	test_duration();
	return done_testing();
}
