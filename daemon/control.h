/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_CONTROL_H
#define MMB_CONTROL_H

/*
 * The daemon's control socket, a unix stream socket beside the database that only its owner may use (mode 0600).
 *
 * One JSON object in one line goes in, {"verb": ...} with what the verb needs; one line comes back, then the connection is
 * closed: {"status":"ok", ...}, or {"status":"error","error":"why","exit":2 or 3} (the exit status of a command that had asked
 * for it). Lines of more than CONTROL_LINE_MAX bytes, several lines, silence of CONTROL_SECONDS and more than CONTROL_PEERS_MAX
 * peers at a time are refused. No verb may block.
 */
#include "lib/error.h"
#include "lib/json.h"

#include <systemd/sd-event.h>

#define CONTROL_LINE_MAX 65536
#define CONTROL_PEERS_MAX 16
#define CONTROL_SECONDS 5

/* who: the peer's user name or "uid N". *ret_reply: members to be added to {"status":"ok"}, may stay NULL. */
typedef int (*control_fn)(void *userdata, const char *verb, const json_t *request, const char *who, struct error *err,
			  json_t **ret_reply);
struct control_verb {
	const char *name; /* NULL: end of a table */
	control_fn fn;
};

/* Listens; a socket that a killed daemon left is replaced. The caller holds the lock of the database. verbs, userdata: borrowed. */
struct control;
int control_open(sd_event *loop, const char *path, const struct control_verb *verbs, void *userdata, struct error *err,
		 struct control **ret);
struct control *control_close(struct control *control);

/* The other end: asks and waits. -ENOTCONN: no daemon listens there; an error of the daemon is -EINVAL (exit 2) or -EIO. */
int control_call(const char *path, const json_t *request, struct error *err, json_t **ret_reply);

#endif
