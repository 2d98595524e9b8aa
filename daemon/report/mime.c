// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/report/mime.h"

#define WORD_START "=?UTF-8?Q?"
#define WORD_END "?="
#define WORD_MAX 75 /* RFC 2047, section 2 */
#define QP_MAX 76

bool mime_is_plain(const char *text)
{
	for (const char *p = text; *p; p++)
		if (*p < ' ' || *p > '~')
			return false;
	return !strstr(text, "=?");
}

static void fold(struct str *out, size_t *column)
{
	(void)str_add(out, "\r\n ");
	*column = 1;
}

/* The characters that stand for themselves wherever an encoded word may be (RFC 2047, section 5 (3)). */
static bool is_word_char(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("!*+-/", c));
}

static void encode_char(const char *s, size_t n, char out[16])
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == ' ')
			out[at++] = '_';
		else if (is_word_char(c))
			out[at++] = (char)c;
		else
			at += (size_t)snprintf(out + at, 16 - at, "=%02X", c);
	}
	out[at] = '\0';
}

void mime_add_encoded(struct str *out, const char *text, size_t *column)
{
	size_t len = strlen(text), word = 0, n;

	for (size_t i = 0; i < len; i += n) {
		char code[16];

		n = utf8_sequence((const unsigned char *)text + i, len - i);
		n = n ? n : 1;
		encode_char(text + i, n, code);
		if (word && (word + strlen(code) + strlen(WORD_END) > WORD_MAX ||
			     *column + strlen(code) + strlen(WORD_END) > MIME_FOLD - 2)) {
			(void)str_add(out, WORD_END);
			fold(out, column);
			word = 0;
		}
		if (!word) {
			if (*column + strlen(WORD_START) + strlen(code) + strlen(WORD_END) > MIME_FOLD - 2)
				fold(out, column);
			(void)str_add(out, WORD_START);
			word = strlen(WORD_START);
			*column += word;
		}
		(void)str_add(out, code);
		word += strlen(code);
		*column += strlen(code);
	}
	if (word) {
		(void)str_add(out, WORD_END);
		*column += strlen(WORD_END);
	}
}

/* Blanks are kept as they are: a fold goes before one. A run of blanks alone on a line would be no header line. */
static bool can_fold(const char *text, size_t column)
{
	if (*text == ' ' || strstr(text, "  ") || (*text && text[strlen(text) - 1] == ' '))
		return column + strlen(text) <= MIME_FOLD;
	for (const char *p = text; *p;) {
		size_t len = strcspn(p, " ");

		if (column + len > MIME_FOLD && 1 + len > MIME_FOLD)
			return false;
		column = 1;
		p += len;
		p += *p == ' ';
	}
	return true;
}

static void add_folded(struct str *out, const char *text, size_t column)
{
	for (const char *p = text; *p;) {
		size_t len = strcspn(p, " ");

		if (p > text && column + 1 + len > MIME_FOLD) {
			fold(out, &column);
		} else if (p > text) {
			(void)str_add(out, " ");
			column++;
		}
		(void)str_add_mem(out, p, len);
		column += len;
		p += len;
		p += *p == ' ';
	}
}

void mime_add_text_header(struct str *out, const char *name, const char *text)
{
	size_t column = strlen(name) + 2;

	(void)str_addf(out, "%s: ", name);
	if (mime_is_plain(text) && can_fold(text, column))
		add_folded(out, text, column);
	else
		mime_add_encoded(out, text, &column);
	(void)str_add(out, "\r\n");
}

/* Columns to the first fold inside of an item, or to its end. */
static size_t first_line(const struct str *item)
{
	return strcspn(item->data, "\r");
}

static size_t last_line(const struct str *item)
{
	const char *last = strrchr(item->data, '\n');

	return last ? strlen(last + 1) : 0;
}

void mime_add_list_header(struct str *out, const char *name, const struct str *items, size_t n,
			  const char *separator)
{
	size_t column = strlen(name) + 2;

	(void)str_addf(out, "%s: ", name);
	for (size_t i = 0; i < n; i++) {
		size_t len = first_line(&items[i]), sep = i + 1 < n ? strlen(separator) : 0;

		if (i && column + 1 + len + sep > MIME_FOLD) {
			fold(out, &column);
		} else if (i) {
			(void)str_add(out, " ");
			column++;
		}
		(void)str_add(out, items[i].data);
		column = last_line(&items[i]) ? last_line(&items[i]) : column + len;
		if (sep)
			(void)str_add(out, separator);
		column += sep;
	}
	(void)str_add(out, "\r\n");
}

bool mime_is_7bit(const char *body)
{
	size_t line = 0;

	for (const char *p = body; *p; p++) {
		if (*p == '\n') {
			line = 0;
			continue;
		}
		if ((*p < ' ' && *p != '\t') || *p > '~' || ++line > MIME_LINE_MAX)
			return false;
	}
	return true;
}

void mime_add_7bit(struct str *out, const char *body)
{
	while (*body) {
		size_t len = strcspn(body, "\n");

		(void)str_add_mem(out, body, len);
		(void)str_add(out, "\r\n");
		body += len;
		body += *body == '\n';
	}
}

/* A blank at the end of a line, "=" and all that is not printable ASCII are written as =XX. */
static bool stands_for_itself(const char *p)
{
	if (*p == ' ' || *p == '\t')
		return p[1] && p[1] != '\n';
	return *p > ' ' && *p <= '~' && *p != '=';
}

void mime_add_quoted_printable(struct str *out, const char *body)
{
	size_t column = 0;

	for (const char *p = body; *p; p++) {
		bool last = !p[1] || p[1] == '\n';
		char code[8];

		if (*p == '\n') {
			(void)str_add(out, "\r\n");
			column = 0;
			continue;
		}
		if (stands_for_itself(p))
			(void)snprintf(code, sizeof(code), "%c", *p);
		else
			(void)snprintf(code, sizeof(code), "=%02X", (unsigned char)*p);
		if (column + strlen(code) > QP_MAX - (last ? 0 : 1)) {
			(void)str_add(out, "=\r\n");
			column = 0;
		}
		(void)str_add(out, code);
		column += strlen(code);
	}
	if (column)
		(void)str_add(out, "\r\n");
}
