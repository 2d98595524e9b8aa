// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json.h"

void json_lines_done(struct json_lines *lines)
{
	str_done(&lines->pending);
}

int json_lines_feed(struct json_lines *lines, const char *data, size_t len)
{
	return str_add_mem(&lines->pending, data, len);
}

static void drop_front(struct str *s, size_t n)
{
	if (s->data == str_empty)
		return;
	memmove(s->data, s->data + n, s->len - n + 1);
	s->len -= n;
}

/* Cuts what is already known to be part of an overlong line, so that a peer without newlines cannot fill the memory. */
static void drop_overlong(struct json_lines *lines)
{
	if (lines->pending.len <= lines->max_line)
		return;
	if (!lines->skipping)
		lines->bad++;
	lines->skipping = true;
	str_clear(&lines->pending);
}

int json_lines_next(struct json_lines *lines, json_t **ret)
{
	for (;;) {
		struct str *s = &lines->pending;
		char *newline = s->len ? memchr(s->data, '\n', s->len) : NULL;
		bool skip = lines->skipping;
		json_t *object = NULL;
		size_t len;

		if (!newline) {
			drop_overlong(lines);
			return 0;
		}
		len = (size_t)(newline - s->data);
		if (!skip && len <= lines->max_line)
			object = json_loadb(s->data, len, JSON_REJECT_DUPLICATES, NULL);
		drop_front(s, len + 1);
		lines->skipping = false;
		if (json_is_object(object)) {
			*ret = object;
			return 1;
		}
		json_decref(object);
		if (!skip && len)
			lines->bad++;
	}
}

int json_write_line(int fd, const json_t *object)
{
	_cleanup_free_ char *text = json_dumps(object, JSON_COMPACT);
	size_t len, at = 0;

	if (!text)
		return -ENOMEM;
	len = strlen(text);
	text[len++] = '\n'; /* in place of the NUL */
	while (at < len) {
		ssize_t n = write(fd, text + at, len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += (size_t)n;
	}
	return 0;
}

const char *json_get_string(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

int64_t json_get_int(const json_t *object, const char *key, int64_t missing)
{
	const json_t *v = json_object_get(object, key);

	return json_is_integer(v) ? (int64_t)json_integer_value(v) : missing;
}

double json_get_number(const json_t *object, const char *key, double missing)
{
	const json_t *v = json_object_get(object, key);

	return json_is_number(v) ? json_number_value(v) : missing;
}

bool json_get_bool(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

json_t *json_bytes(const char *bytes)
{
	_cleanup_free_ char *text = bytes ? str_sanitize(bytes, strlen(bytes)) : NULL;

	return text ? json_string(text) : json_null();
}
