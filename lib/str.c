// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/str.h"

#include <math.h>

char str_empty[] = "";

void str_done(struct str *s)
{
	if (s->data != str_empty)
		free(s->data);
	*s = STR_INIT;
}

void str_clear(struct str *s)
{
	s->len = 0;
	s->failed = false;
	if (s->data != str_empty)
		s->data[0] = '\0';
}

static int str_reserve(struct str *s, size_t more)
{
	size_t need, capacity;
	char *data;

	if (s->failed)
		return -ENOMEM;
	if (__builtin_add_overflow(s->len, more, &need) || __builtin_add_overflow(need, 1, &need)) {
		s->failed = true;
		return -ENOMEM;
	}
	if (need <= s->capacity)
		return 0;
	capacity = MAX(need, MAX(s->capacity * 2, (size_t)64));
	data = realloc(s->data == str_empty ? NULL : s->data, capacity);
	if (!data) {
		s->failed = true;
		return -ENOMEM;
	}
	s->data = data;
	s->capacity = capacity;
	s->data[s->len] = '\0';
	return 0;
}

int str_add_mem(struct str *s, const void *data, size_t len)
{
	int r = str_reserve(s, len);

	if (r < 0)
		return r;
	if (len)
		memcpy(s->data + s->len, data, len);
	s->len += len;
	s->data[s->len] = '\0';
	return 0;
}

int str_add(struct str *s, const char *text)
{
	return str_add_mem(s, text, strlen(text));
}

int str_vaddf(struct str *s, const char *format, va_list ap)
{
	va_list again;
	int n, r;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (n < 0)
		return -EINVAL;
	r = str_reserve(s, (size_t)n);
	if (r < 0)
		return r;
	(void)vsnprintf(s->data + s->len, (size_t)n + 1, format, ap);
	s->len += (size_t)n;
	return 0;
}

int str_addf(struct str *s, const char *format, ...)
{
	va_list ap;
	int r;

	va_start(ap, format);
	r = str_vaddf(s, format, ap);
	va_end(ap);
	return r;
}

char *str_take(struct str *s)
{
	char *data = NULL;

	if (!s->failed)
		data = s->data == str_empty ? strdup("") : TAKE_PTR(s->data);
	if (!s->data)
		s->data = str_empty;
	str_done(s);
	return data;
}

char *str_format(const char *format, ...)
{
	_cleanup_str_ struct str s = STR_INIT;
	va_list ap;
	int r;

	va_start(ap, format);
	r = str_vaddf(&s, format, ap);
	va_end(ap);
	return r < 0 ? NULL : str_take(&s);
}

int str_set(char **p, const char *text)
{
	char *copy = NULL;

	if (text) {
		copy = strdup(text);
		if (!copy)
			return -ENOMEM;
	}
	free(*p);
	*p = copy;
	return 0;
}

bool str_eq(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return strcmp(a, b) == 0;
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && strcmp(s + n - m, suffix) == 0;
}

int str_to_u64(const char *s, uint64_t *ret)
{
	char *end;
	unsigned long long v;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno)
		return -errno;
	if (*end)
		return -EINVAL;
	*ret = v;
	return 0;
}

int str_to_double(const char *s, double *ret)
{
	char *end;
	double v;

	/* strtod() takes more than decimals: leading white space, hexadecimal, words. */
	if (!*s || s[strspn(s, "+-.0123456789eE")])
		return -EINVAL;
	errno = 0;
	v = strtod(s, &end);
	if (errno)
		return -errno;
	if (*end || end == s || !isfinite(v))
		return -EINVAL;
	*ret = v;
	return 0;
}

bool str_is_oid(const char *s)
{
	size_t n = strspn(s, "0123456789abcdef");

	return s[n] == '\0' && (n == 40 || n == 64);
}

size_t utf8_sequence(const unsigned char *s, size_t len)
{
	static const struct {
		unsigned char first_mask, first, n, second_low, second_high;
	} forms[] = {
		{ 0x80, 0x00, 1, 0, 0 },
		{ 0xe0, 0xc0, 2, 0x80, 0xbf },
		{ 0xf0, 0xe0, 3, 0x80, 0xbf },
		{ 0xf8, 0xf0, 4, 0x80, 0xbf },
	};

	for (size_t f = 0; len && f < ARRAY_SIZE(forms); f++) {
		uint32_t point = s[0] & (uint32_t)(unsigned char)~forms[f].first_mask;

		if ((s[0] & forms[f].first_mask) != forms[f].first)
			continue;
		if (forms[f].n > len)
			return 0;
		for (size_t i = 1; i < forms[f].n; i++) {
			if ((s[i] & 0xc0) != 0x80)
				return 0;
			point = point << 6 | (s[i] & 0x3f);
		}
		if ((forms[f].n == 2 && point < 0x80) || (forms[f].n == 3 && point < 0x800) ||
		    (forms[f].n == 4 && (point < 0x10000 || point > 0x10ffff)) ||
		    (point >= 0xd800 && point <= 0xdfff))
			return 0;
		return forms[f].n;
	}
	return 0;
}

static char *sanitize(const char *bytes, size_t len, bool one_line)
{
	_cleanup_str_ struct str s = STR_INIT;

	for (size_t i = 0; i < len;) {
		unsigned char c = (unsigned char)bytes[i];
		size_t n = utf8_sequence((const unsigned char *)bytes + i, len - i);

		if (!n) {
			(void)str_add(&s, "\xef\xbf\xbd");
			i++;
			continue;
		}
		if (c == '\n' || c == '\t')
			(void)str_add_mem(&s, one_line ? " " : bytes + i, 1);
		else if (c >= 0x20 && c != 0x7f && !(n == 2 && c == 0xc2 && (unsigned char)bytes[i + 1] < 0xa0))
			(void)str_add_mem(&s, bytes + i, n);
		i += n;
	}
	return str_take(&s);
}

char *str_sanitize(const char *bytes, size_t len)
{
	return sanitize(bytes, len, false);
}

char *str_sanitize_line(const char *bytes, size_t len)
{
	return sanitize(bytes, len, true);
}

const char *str_duration(double seconds, char out[32])
{
	unsigned long whole;

	if (!isfinite(seconds) || seconds < 0)
		seconds = 0;
	seconds = MIN(seconds, 1e15); /* what an unsigned long holds */
	whole = (unsigned long)(seconds + 0.5);
	if (seconds < 9.95)
		(void)snprintf(out, 32, "%.1f s", seconds);
	else if (whole < 60)
		(void)snprintf(out, 32, "%lu s", whole);
	else if (whole < 3600)
		(void)snprintf(out, 32, "%lu min %02lu s", whole / 60, whole % 60);
	else
		(void)snprintf(out, 32, "%lu h %02lu min", whole / 3600, whole % 3600 / 60);
	return out;
}
