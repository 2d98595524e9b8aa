// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/report/lines.h"

#define CHAR_OCTETS_MAX 4 /* of UTF-8; marks without a width must not make a line longer than that */

struct range {
	uint32_t first, last;
};

/* Never shown: they move or hide what stands around them. */
static const struct range hidden[] = {
	{ 0x061c, 0x061c }, { 0x200b, 0x200f }, { 0x2028, 0x202e },
	{ 0x2060, 0x206f }, { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb },
};
static const struct range combining[] = {
	{ 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd }, { 0x064b, 0x065f },
	{ 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f },
	{ 0xfe20, 0xfe2f },
};
static const struct range wide[] = {
	{ 0x1100, 0x115f }, { 0x2e80, 0x303e },	  { 0x3041, 0xa4cf },	{ 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff }, { 0xfe30, 0xfe6f },	  { 0xff00, 0xff60 },	{ 0xffe0, 0xffe6 },
	{ 0x1f300, 0x1f64f }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
};

static bool is_in(uint32_t point, const struct range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (point >= ranges[i].first && point <= ranges[i].last)
			return true;
	return false;
}

/* The character at s; bytes that are no UTF-8 count as one character each. *ret_point is 0 then. */
static size_t next_char(const char *s, size_t len, uint32_t *ret_point)
{
	static const unsigned char first_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	size_t n = utf8_sequence((const unsigned char *)s, len);
	uint32_t point = 0;

	if (n) {
		point = (unsigned char)s[0] & first_bits[n];
		for (size_t i = 1; i < n; i++)
			point = point << 6 | ((unsigned char)s[i] & 0x3f);
	}
	*ret_point = point;
	return n ? n : 1;
}

static size_t columns_of(uint32_t point)
{
	if (is_in(point, combining, ARRAY_SIZE(combining)))
		return 0;
	return is_in(point, wide, ARRAY_SIZE(wide)) ? 2 : 1;
}

char *report_line(const char *text)
{
	_cleanup_free_ char *clean = text ? str_sanitize_line(text, strlen(text)) : strdup("");
	_cleanup_str_ struct str s = STR_INIT;
	size_t len, n;

	if (!clean)
		return NULL;
	len = strlen(clean);
	for (size_t i = 0; i < len; i += n) {
		uint32_t point;

		n = next_char(clean + i, len - i, &point);
		if (s.len + n > REPORT_LINE_OCTETS - 3) {
			(void)str_add(&s, "...");
			break;
		}
		if (!is_in(point, hidden, ARRAY_SIZE(hidden)))
			(void)str_add_mem(&s, clean + i, n);
	}
	return str_take(&s);
}

/* Columns of the first `len` bytes. */
static size_t width_of(const char *text, size_t len)
{
	size_t columns = 0, n;

	for (size_t i = 0; i < len; i += n) {
		uint32_t point;

		n = next_char(text + i, len - i, &point);
		columns += columns_of(point);
	}
	return columns;
}

size_t report_width(const char *text)
{
	return width_of(text, strlen(text));
}

void report_add_clipped(struct str *out, const char *text, size_t columns)
{
	size_t len = strlen(text), used = 0, at = 0, n;
	size_t octets = MIN(columns, (size_t)REPORT_LINE_OCTETS / CHAR_OCTETS_MAX) * CHAR_OCTETS_MAX;
	const char *dots = columns < 3 ? "" : "...";

	if (width_of(text, len) <= columns && len <= octets) {
		(void)str_add(out, text);
		return;
	}
	for (; at < len; at += n) {
		uint32_t point;

		n = next_char(text + at, len - at, &point);
		if (used + columns_of(point) + strlen(dots) > columns || at + n + strlen(dots) > octets)
			break;
		used += columns_of(point);
	}
	(void)str_add_mem(out, text, at);
	(void)str_add(out, dots);
}

void report_add_line(struct str *out, const char *text, size_t columns)
{
	_cleanup_free_ char *clean = report_line(text);

	if (clean)
		report_add_clipped(out, clean, columns);
	else
		out->failed = true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Whether the blank at p may become a line's end. */
static bool may_break(const char *text, const char *p)
{
	if (p[1] == '%' || (p - text > 3 && is_digit(p[1]) && !memcmp(p - 4, " and", 4)))
		return false;
	return !(p > text && is_digit(p[-1]) && is_digit(p[1]) && is_digit(p[2]) && is_digit(p[3]) &&
		 !is_digit(p[4]));
}

/* Length of the next piece of text that is not divided. */
static size_t piece(const char *text)
{
	const char *p = text;

	while (*p && !(*p == ' ' && may_break(text, p)))
		p++;
	return (size_t)(p - text);
}

void report_add_wrapped(struct str *out, const char *first_indent, const char *indent, const char *text)
{
	size_t column = report_width(first_indent), start = column, octets = column;

	(void)str_add(out, first_indent);
	while (*text) {
		size_t len = piece(text), width = width_of(text, len);
		bool full = column + 1 + width > REPORT_PROSE_COLUMNS || octets + 1 + len > REPORT_LINE_OCTETS;

		if (octets > start && full) {
			(void)str_addf(out, "\n%s", indent);
			column = start = octets = report_width(indent);
		} else if (octets > start) {
			(void)str_add(out, " ");
			column++;
			octets++;
		}
		(void)str_add_mem(out, text, len);
		column += width;
		octets += len;
		text += len;
		text += strspn(text, " ");
	}
	(void)str_add(out, "\n");
}
