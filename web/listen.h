/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_WEB_LISTEN_H
#define MMB_WEB_LISTEN_H

/*
 * The listening socket: an address of ours, a unix socket, or one that systemd hands over.
 *
 * Addresses are numeric: 127.0.0.1:8470, [::1]:8470 (port 0: the kernel chooses),
 * unix:/run/mmbisect/web.sock. A unix socket that nobody listens on any more is replaced; one in
 * use is not.
 */
#include "lib/error.h"

#include <netinet/in.h>
#include <sys/socket.h>

struct listener {
	int fd;
	char *unix_path; /* ours, removed at the end; else NULL */
	char *where;	 /* for a person: a URL, or unix:PATH */
	uint16_t port;	 /* 0: none */
	bool loopback;	 /* nobody but this machine */
};
#define LISTENER_INIT ((struct listener){.fd = -1})
void listener_done(struct listener *listener);

struct address {
	struct sockaddr_storage sa;
	socklen_t len;
};
/* -EINVAL with a message when the text is no address. */
int address_parse(const char *text, struct error *err, struct address *ret);

int listener_open(const struct address *address, struct error *err, struct listener *ret);
/* 1: the socket that systemd passed, 0: it passed none. */
int listener_inherit(struct error *err, struct listener *ret);

#endif
