/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_WEB_SERVER_H
#define MMB_WEB_SERVER_H

/*
 * HTTP: libmicrohttpd without a thread of its own, as a source of an sd-event loop.
 *
 * Only GET and HEAD, no request bodies, bounded headers, connections and idle time. Every answer
 * has the security headers and an ETag; `If-None-Match` is honoured. What is answered is decided by
 * web/route.h and web/asset.h.
 */
#include "lib/error.h"

#include <systemd/sd-event.h>

struct server_options {
	const char *database;
	const char *static_dir; /* NULL: the files inside the program */
	int listen_fd;		/* stays the caller's; must outlive the server */
};

struct server;
/* Serves as soon as the loop runs. The strings of the options are borrowed. */
int server_new(sd_event *event, const struct server_options *options, struct error *err,
	       struct server **ret);
struct server *server_free(struct server *server);
DEFINE_CLEANUP(struct server *, server_free);

#endif
