// SPDX-License-Identifier: GPL-2.0-or-later
#include "result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#define LINE_SIZE 512

struct result *result_new(int fd, const char *nonce)
{
	struct result *r;

	r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r == MAP_FAILED)
		return NULL;
	r->fd = fd;
	snprintf(r->nonce, sizeof(r->nonce), "%s", nonce);
	return r;
}

static void write_all(struct result *r, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(r->fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (!r->failed)
				r->failed = n < 0 ? -errno : -EIO;
			return;
		}
		data += n;
		len -= (size_t)n;
	}
}

/* Writes a record whose own members are `fmt`; a whole line at once. */
__attribute__((format(printf, 2, 3))) static void record(struct result *r, const char *fmt, ...)
{
	char line[LINE_SIZE];
	va_list ap;
	int len, more;

	len = snprintf(line, sizeof(line), "{\"n\":%" PRIu64 ",\"nonce\":\"%s\",", r->records,
		       r->nonce);
	va_start(ap, fmt);
	more = vsnprintf(line + len, sizeof(line) - (size_t)len, fmt, ap);
	va_end(ap);
	len += more;
	if (more < 0 || len + 2 >= (int)sizeof(line)) {
		r->failed = r->failed ? r->failed : -EMSGSIZE;
		return;
	}
	memcpy(line + len, "}\n", 2);
	write_all(r, line, (size_t)len + 2);
	r->records++;
}

void result_hello(struct result *r)
{
	record(r, "\"hello\":true");
}

void result_measure(struct result *r)
{
	record(r, "\"measure\":true");
	/* Or the port's interrupts would fall into the measured part. */
	tcdrain(r->fd);
}

void result_sample(struct result *r, const char *metric, double value, const char *unit)
{
	record(r, "\"metric\":\"%s\",\"value\":%.15g,\"unit\":\"%s\",\"better\":\"lower\"", metric,
	       value, unit);
}

/* What would end or spoil a JSON string becomes '?': errors quote orders. */
static void make_plain(char *s)
{
	for (; *s; s++)
		if (*s < ' ' || *s > '~' || *s == '"' || *s == '\\')
			*s = '?';
}

void result_error(struct result *r, const char *fmt, ...)
{
	char text[LINE_SIZE / 2];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	make_plain(text);
	record(r, "\"error\":\"%s\"", text);
}

void result_end(struct result *r, int exit_status)
{
	if (exit_status == 0 && r->failed)
		exit_status = 1;
	record(r, "\"end\":true,\"records\":%" PRIu64 ",\"exit\":%d", r->records, exit_status);
	tcdrain(r->fd);
}
