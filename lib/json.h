/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_JSON_H
#define MMB_JSON_H

/*
 * JSON lines over file descriptors, on top of jansson.
 *
 * `struct json_lines` gathers bytes from a peer (worker, guest, QMP) into lines of at most `max_line` bytes; longer
 * ones and lines that are no JSON object are counted in `bad` and dropped, never an error: the peer may be a stranger.
 */
#include "lib/cleanup.h"
#include "lib/str.h"

#include <jansson.h>

static inline void cleanup_json(json_t **j)
{
	json_decref(*j);
}
#define _cleanup_json_ _cleanup_(cleanup_json)

struct json_lines {
	struct str pending;
	size_t max_line;
	bool skipping; /* inside a line that is too long */
	unsigned long bad;
};
#define JSON_LINES_INIT(max) ((struct json_lines){ .pending = STR_INIT, .max_line = (max) })
void json_lines_done(struct json_lines *lines);

/* Adds bytes. 0 or -ENOMEM. */
int json_lines_feed(struct json_lines *lines, const char *data, size_t len);
/* Takes the next complete object: 1 and *ret (caller owns) or 0 when there is none yet. */
int json_lines_next(struct json_lines *lines, json_t **ret);

/* Writes one object and a newline, all of it. 0 or negative errno. */
int json_write_line(int fd, const json_t *object);

/* Typed members of an object that may be missing: NULL or the default then. */
const char *json_get_string(const json_t *object, const char *key);
int64_t json_get_int(const json_t *object, const char *key, int64_t missing);
double json_get_number(const json_t *object, const char *key, double missing);
bool json_get_bool(const json_t *object, const char *key);

/* A JSON string of bytes of unknown encoding: sanitised to UTF-8. NULL bytes give JSON null. */
json_t *json_bytes(const char *bytes);

#endif
