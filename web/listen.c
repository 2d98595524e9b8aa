// SPDX-License-Identifier: GPL-2.0-or-later
#include "web/listen.h"

#include "lib/str.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>

#define BACKLOG 128

void listener_done(struct listener *listener)
{
	listener->fd = close_fd(listener->fd);
	if (listener->unix_path)
		(void)unlink(listener->unix_path);
	free(listener->unix_path);
	free(listener->where);
	*listener = LISTENER_INIT;
}

static int parse_unix(const char *path, struct error *err, struct address *ret)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	size_t n = strlen(path);

	if (n == 0)
		return error_set(err, -EINVAL, "unix: needs a path");
	if (n >= sizeof(un.sun_path))
		return error_set(err, -EINVAL, "the path of a unix socket has at most %zu bytes",
				 sizeof(un.sun_path) - 1);
	memcpy(un.sun_path, path, n + 1);
	*ret = (struct address){.len = sizeof(un)};
	memcpy(&ret->sa, &un, sizeof(un));
	return 0;
}

static int parse_inet(const char *text, struct error *err, struct address *ret)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
				       .ai_socktype = SOCK_STREAM};
	const char *colon = strrchr(text, ':');
	_cleanup_free_ char *host = NULL;
	struct addrinfo *info = NULL;
	size_t n = colon ? (size_t)(colon - text) : 0;
	bool brackets = n > 2 && text[0] == '[' && text[n - 1] == ']';
	uint64_t port = UINT64_MAX;

	if (n == 0 || str_to_u64(colon + 1, &port) < 0 || port > UINT16_MAX)
		return error_set(err, -EINVAL,
				 "'%s' is no address: want IP:PORT, [IPv6]:PORT or unix:PATH",
				 text);
	host = brackets ? strndup(text + 1, n - 2) : strndup(text, n);
	if (!host)
		return error_errno(err, -ENOMEM, "address");
	if ((!brackets && strchr(host, ':')) || getaddrinfo(host, colon + 1, &hints, &info) != 0)
		return error_set(
			err, -EINVAL,
			"'%s' is no numeric address: want IP:PORT, [IPv6]:PORT or unix:PATH", text);
	*ret = (struct address){.len = info->ai_addrlen};
	memcpy(&ret->sa, info->ai_addr, info->ai_addrlen);
	freeaddrinfo(info);
	return 0;
}

int address_parse(const char *text, struct error *err, struct address *ret)
{
	return str_starts(text, "unix:") ? parse_unix(text + strlen("unix:"), err, ret)
					 : parse_inet(text, err, ret);
}

/* Fills in what the socket itself knows: port, loopback or not, and the text for a person. */
static int describe(struct listener *listener)
{
	char host[INET6_ADDRSTRLEN] = "";
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
		struct sockaddr_storage any;
	} a = {.any = {0}};
	socklen_t len = sizeof(a);

	if (getsockname(listener->fd, &a.sa, &len) < 0)
		return -errno;
	if (a.sa.sa_family == AF_INET) {
		listener->port = ntohs(a.in.sin_port);
		listener->loopback = ntohl(a.in.sin_addr.s_addr) >> 24 == 127;
		(void)inet_ntop(AF_INET, &a.in.sin_addr, host, sizeof(host));
		listener->where = str_format("http://%s:%u/", host, listener->port);
	} else if (a.sa.sa_family == AF_INET6) {
		listener->port = ntohs(a.in6.sin6_port);
		listener->loopback = IN6_IS_ADDR_LOOPBACK(&a.in6.sin6_addr);
		(void)inet_ntop(AF_INET6, &a.in6.sin6_addr, host, sizeof(host));
		listener->where = str_format("http://[%s]:%u/", host, listener->port);
	} else {
		listener->loopback = true;
		listener->where = str_format("unix:%s", a.un.sun_path);
	}
	return listener->where ? 0 : -ENOMEM;
}

/* A socket file without a listener is what a killed server left behind. */
static bool is_stale(const struct sockaddr_un *un)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	return fd >= 0 && lstat(un->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
	       connect(fd, (const struct sockaddr *)un, sizeof(*un)) < 0 && errno == ECONNREFUSED;
}

static int bind_socket(int fd, const struct address *address)
{
	const struct sockaddr *sa = (const struct sockaddr *)&address->sa;
	const struct sockaddr_un *un = (const struct sockaddr_un *)&address->sa;
	static const int on = 1;
	int r;

	if (sa->sa_family != AF_UNIX &&
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -errno;
	if (bind(fd, sa, address->len) == 0)
		return 0;
	r = -errno;
	if (r != -EADDRINUSE || sa->sa_family != AF_UNIX || !is_stale(un))
		return r;
	(void)unlink(un->sun_path);
	return bind(fd, sa, address->len) < 0 ? -errno : 0;
}

int listener_open(const struct address *address, struct error *err, struct listener *ret)
{
	_cleanup_(listener_done) struct listener l = LISTENER_INIT;
	int r;

	l.fd = socket(address->sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l.fd < 0)
		return error_errno(err, -errno, "socket");
	r = bind_socket(l.fd, address);
	if (r < 0)
		return error_errno(err, r, "cannot listen there");
	if (address->sa.ss_family == AF_UNIX) {
		l.unix_path = strdup(((const struct sockaddr_un *)&address->sa)->sun_path);
		if (!l.unix_path)
			return error_errno(err, -ENOMEM, "socket");
	}
	r = describe(&l);
	if (r >= 0 && listen(l.fd, BACKLOG) < 0)
		r = -errno;
	if (r < 0)
		return error_errno(err, r, "cannot listen there");
	*ret = l;
	l = LISTENER_INIT;
	return 0;
}

int listener_inherit(struct error *err, struct listener *ret)
{
	struct listener l = {.fd = SD_LISTEN_FDS_START};
	int n = sd_listen_fds(1), r;

	if (n == 0)
		return 0;
	if (n != 1)
		return error_set(err, n < 0 ? n : -EINVAL, "want one socket from systemd, got %d",
				 n);
	if (sd_is_socket(l.fd, AF_UNSPEC, SOCK_STREAM, 1) <= 0)
		return error_set(err, -EINVAL, "what systemd passed is no listening stream socket");
	r = describe(&l);
	if (r < 0)
		return error_errno(err, r, "socket from systemd");
	*ret = l;
	return 1;
}
