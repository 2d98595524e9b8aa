// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/run-qmp.h"

#include <sys/socket.h>

void run_qmp_done(struct run_qmp *qmp)
{
	json_lines_done(&qmp->lines);
	free(qmp->version);
	free(qmp->shutdown);
	*qmp = RUN_QMP_INIT;
}

static int send_text(int fd, const char *text)
{
	size_t len = strlen(text);
	ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

	if (n == (ssize_t)len)
		return 0;
	/* QEMU is ending: its end tells the rest */
	return n < 0 && (errno == EPIPE || errno == ECONNRESET) ? 0 : -EIO;
}

static int take_greeting(struct run_qmp *qmp, int fd, const json_t *greeting)
{
	const json_t *v = json_object_get(json_object_get(greeting, "version"), "qemu");

	free(qmp->version);
	qmp->version = str_format("%lld.%lld.%lld", (long long)json_get_int(v, "major", 0),
				  (long long)json_get_int(v, "minor", 0), (long long)json_get_int(v, "micro", 0));
	if (!qmp->version)
		return -ENOMEM;
	return send_text(fd, "{\"execute\":\"qmp_capabilities\"}\n");
}

static int take_event(struct run_qmp *qmp, const char *event, const json_t *data)
{
	if (str_eq(event, "GUEST_PANICKED"))
		qmp->panicked = true;
	else if (str_eq(event, "SHUTDOWN"))
		return str_set(&qmp->shutdown, json_get_string(data, "reason"));
	return 0;
}

static int take_message(struct run_qmp *qmp, int fd, const json_t *message)
{
	const char *event = json_get_string(message, "event");
	const json_t *greeting = json_object_get(message, "QMP");

	if (greeting)
		return take_greeting(qmp, fd, greeting);
	if (event)
		return take_event(qmp, event, json_object_get(message, "data"));
	if (json_object_get(message, "return"))
		qmp->negotiated = true;
	return 0;
}

int run_qmp_feed(struct run_qmp *qmp, int fd, const char *data, size_t len)
{
	int r = json_lines_feed(&qmp->lines, data, len);

	while (r >= 0) {
		_cleanup_json_ json_t *message = NULL;

		if (json_lines_next(&qmp->lines, &message) == 0)
			return 0;
		r = take_message(qmp, fd, message);
	}
	return r;
}
