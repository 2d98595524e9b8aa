// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/failure.h"

#include "lib/fs.h"
#include "lib/str.h"

#include <ctype.h>

#define TITLE_MAX 200
#define LINE_MAX_SHOWN 160
#define LINES_BEFORE 2
#define FILE_MAX (24u << 20)
#define START_LEAST 8 /* a shorter start of a title is in many lines */

/* ":12:3:", ":12:" or ":12" at the end of what is in brackets: how long it is, 0: none. */
static size_t place_length(const char *p)
{
	size_t n = 0, digits;

	while (p[n] == ':' && (digits = strspn(p + n + 1, "0123456789")))
		n += 1 + digits;
	return n && (p[n] == ':' || p[n] == ')') ? n : 0;
}

/* "make[2]: " is as deep as the folder happens to be; "__compiletime_assert_12" counts what stands before it. */
static size_t counter_length(const char *start, const char *p)
{
	static const char counted[] = "__compiletime_assert_";
	size_t n = sizeof(counted) - 1;

	if (*p == '[' && p - start >= 4 && memcmp(p - 4, "make", 4) == 0) {
		n = strspn(p + 1, "0123456789");
		return n && p[n + 1] == ']' ? n + 2 : 0;
	}
	return (size_t)(p - start) >= n && memcmp(p - n, counted, n) == 0 ? strspn(p, "0123456789") : 0;
}

/* "../", "./", "/a/b/linux/": the way to the tree is none of the failure. */
static size_t way_length(const char *start, const char *p)
{
	size_t n = 0;

	if (p > start && p[-1] != ' ' && p[-1] != '[' && p[-1] != '"' && p[-1] != '\'')
		return 0;
	while (str_starts(p + n, "./") || str_starts(p + n, "../"))
		n += p[n + 1] == '/' ? 2 : 3;
	return n;
}

static char *build_title(const char *text)
{
	_cleanup_str_ struct str s = STR_INIT;

	for (const char *p = text; *p && s.len < TITLE_MAX;) {
		size_t skip = place_length(p);

		skip = skip ? skip : counter_length(text, p);
		skip = skip ? skip : way_length(text, p);
		p += skip;
		if (!skip)
			(void)str_add_mem(&s, p++, 1);
	}
	while (s.len && (s.data[s.len - 1] & 0x80) && s.len >= TITLE_MAX)
		s.data[--s.len] = '\0'; /* not through a character */
	return str_take(&s);
}

char *failure_title(const char *status, const char *text)
{
	_cleanup_free_ char *clean = text ? str_sanitize_line(text, strlen(text)) : strdup("");

	return clean && str_eq(status, "build-failed") ? build_title(clean) : TAKE_PTR(clean);
}

/* The start of a title up to where something was put in for what differs from run to run. */
static size_t start_length(const char *title)
{
	static const char *const put_in[] = { "ADDR", "NUM", " in " };
	size_t n = strlen(title);

	for (size_t i = 0; i < ARRAY_SIZE(put_in); i++) {
		const char *at = strstr(title, put_in[i]);

		if (at && (size_t)(at - title) < n)
			n = (size_t)(at - title);
	}
	return n;
}

/* Where the first line begins that has the start of the title; NULL: none has. */
static const char *find_line(const char *text, const char *title)
{
	const char *error = strstr(title, "error: "); /* its place was taken out before it */
	const char *from = error ? error : title;
	_cleanup_free_ char *start = strndup(from, start_length(from));
	const char *at = start && strlen(start) >= START_LEAST ? strstr(text, start) : NULL;

	while (at && at > text && at[-1] != '\n')
		at--;
	return at;
}

static const char *lines_before(const char *text, const char *at, size_t lines)
{
	for (; at > text && lines; lines--)
		for (at--; at > text && at[-1] != '\n'; at--)
			;
	return at;
}

static void add_lines(const char *at, struct str *out)
{
	for (size_t i = 0; *at && i < FAILURE_EXCERPT_LINES; i++) {
		size_t len = strcspn(at, "\n");
		_cleanup_free_ char *clean = str_sanitize_line(at, MIN(len, (size_t)LINE_MAX_SHOWN));

		if (!clean) {
			out->failed = true;
			return;
		}
		(void)str_addf(out, "%s\n", clean);
		at += len;
		at += *at == '\n';
	}
}

char *failure_excerpt(const char *path, const char *title)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_str_ struct str out = STR_INIT;
	const char *at;
	size_t len;

	if (fs_read(path, FILE_MAX, &text, &len) < 0)
		return NULL;
	for (size_t i = 0; i < len; i++) /* what comes behind a NUL counts, too */
		if (text[i] == '\0')
			text[i] = ' ';
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	at = find_line(text, title);
	at = at ? lines_before(text, at, LINES_BEFORE) : lines_before(text, text + len, FAILURE_EXCERPT_LINES / 2);
	add_lines(at, &out);
	return out.len ? str_take(&out) : NULL;
}
