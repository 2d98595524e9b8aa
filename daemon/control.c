// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/control.h"

#include "daemon/control-internal.h"
#include "lib/clock.h"
#include "lib/str.h"

#include <pwd.h>
#include <sys/stat.h>

struct peer {
	struct control *control;
	int fd;
	char *who;
	struct json_lines lines;
	sd_event_source *in, *timer;
	struct peer *next;
};

struct control {
	sd_event *loop;
	const struct control_verb *verbs;
	void *userdata;
	char *path;
	int fd;
	sd_event_source *source;
	struct peer *peers;
	size_t n_peers;
};

static void peer_free(struct peer *p)
{
	(void)sd_event_source_disable_unref(p->in);
	(void)sd_event_source_disable_unref(p->timer);
	json_lines_done(&p->lines);
	(void)close_fd(p->fd);
	free(p->who);
	free(p);
}

static void peer_end(struct peer *p)
{
	struct peer **at = &p->control->peers;

	while (*at && *at != p)
		at = &(*at)->next;
	if (*at)
		*at = p->next;
	p->control->n_peers--;
	peer_free(p);
}

/* A reply is small beside a socket's buffer: what does not fit is the peer's trouble, we never wait for it. */
static void send_line(int fd, json_t *reply)
{
	_cleanup_free_ char *text = reply ? json_dumps(reply, JSON_COMPACT) : NULL;
	_cleanup_free_ char *line = text ? str_format("%s\n", text) : NULL;

	if (line)
		(void)send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool is_usage(int code)
{
	static const int codes[] = { -EINVAL, -ENOENT, -EDOM, -E2BIG };

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i] == code)
			return true;
	return false;
}

static json_t *error_reply(const struct error *err)
{
	return json_pack("{s:s, s:o, s:i}", "status", "error", "error", json_bytes(error_text(err)), "exit",
			 is_usage(err->code) ? 2 : 3);
}

static json_t *answer(struct control *c, const json_t *request, const char *who)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	const char *verb = json_get_string(request, "verb");
	json_t *reply = NULL;
	int r = -EINVAL;

	for (const struct control_verb *v = c->verbs; v->name && verb; v++)
		if (str_eq(v->name, verb)) {
			r = v->fn(c->userdata, verb, request, who, &err, &reply);
			break;
		}
	if (r < 0) {
		json_decref(reply);
		if (err.code == 0)
			(void)error_set(&err, r, "%s '%s'", verb ? "unknown verb" : "no verb:", verb ? verb : "a string is needed");
		return error_reply(&err);
	}
	if (!reply)
		reply = json_object();
	if (reply)
		(void)json_object_set_new(reply, "status", json_string("ok"));
	return reply;
}

static void refuse(int fd, const char *why)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_json_ json_t *reply = NULL;

	(void)error_set(&err, -EINVAL, "%s", why);
	reply = error_reply(&err);
	send_line(fd, reply);
}

static int on_input(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct peer *p = userdata;
	_cleanup_json_ json_t *request = NULL, *reply = NULL;
	char block[4096];
	ssize_t n = read(fd, block, sizeof(block));

	(void)source;
	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	/* the end of the stream ends the line, too */
	if (n < 0 || json_lines_feed(&p->lines, n ? block : "\n", n ? (size_t)n : 1) < 0) {
		peer_end(p);
		return 0;
	}
	if (json_lines_next(&p->lines, &request) > 0) {
		reply = answer(p->control, request, p->who);
		send_line(fd, reply);
	} else if (p->lines.bad || p->lines.skipping) {
		refuse(fd, "one JSON object in one line of at most 65536 bytes is expected");
	} else if (n > 0) {
		return 0;
	}
	peer_end(p);
	return 0;
}

static int on_timeout(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct peer *p = userdata;

	(void)source;
	(void)usec;
	refuse(p->fd, "nothing was asked for 5 seconds");
	peer_end(p);
	return 0;
}

static char *name_of_peer(int fd)
{
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);
	const struct passwd *user;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return strdup("somebody");
	user = getpwuid(cred.uid);
	return user ? strdup(user->pw_name) : str_format("uid %u", (unsigned)cred.uid);
}

static int add_peer(struct control *c, int fd /* taken */)
{
	struct peer *p = calloc(1, sizeof(*p));
	int r;

	if (!p) {
		(void)close_fd(fd);
		return -ENOMEM;
	}
	*p = (struct peer){ .control = c, .fd = fd, .who = name_of_peer(fd), .lines = JSON_LINES_INIT(CONTROL_LINE_MAX) };
	r = p->who ? sd_event_add_io(c->loop, &p->in, fd, EPOLLIN, on_input, p) : -ENOMEM;
	if (r >= 0)
		r = sd_event_add_time_relative(c->loop, &p->timer, CLOCK_MONOTONIC, CONTROL_SECONDS * NSEC_PER_SEC / 1000, 0,
					       on_timeout, p);
	if (r < 0) {
		peer_free(p);
		return r;
	}
	p->next = c->peers;
	c->peers = p;
	c->n_peers++;
	return 0;
}

static int on_connection(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct control *c = userdata;
	int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)source;
	(void)events;
	if (peer < 0)
		return 0;
	if (c->n_peers < CONTROL_PEERS_MAX) {
		(void)add_peer(c, peer);
		return 0;
	}
	refuse(peer, "too many at a time: try again");
	(void)close_fd(peer);
	return 0;
}

static int listen_on(struct control *c)
{
	_cleanup_close_ int dir = -1;
	struct sockaddr_un address;
	mode_t mask;
	int r = control_address(c->path, &dir, &address);

	if (r < 0)
		return r;
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		return -errno;
	if (unlink(c->path) < 0 && errno != ENOENT)
		return -errno;
	mask = umask(0177);
	r = bind(c->fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	(void)umask(mask);
	if (r >= 0 && listen(c->fd, CONTROL_PEERS_MAX) < 0)
		r = -errno;
	return r;
}

int control_open(sd_event *loop, const char *path, const struct control_verb *verbs, void *userdata, struct error *err,
		 struct control **ret)
{
	struct control *c = calloc(1, sizeof(*c));
	int r = 0;

	if (!c)
		return error_errno(err, -ENOMEM, "%s", path);
	*c = (struct control){ .loop = loop, .verbs = verbs, .userdata = userdata, .path = strdup(path), .fd = -1 };
	r = c->path ? listen_on(c) : -ENOMEM;
	if (r >= 0)
		r = sd_event_add_io(loop, &c->source, c->fd, EPOLLIN, on_connection, c);
	if (r < 0) {
		(void)control_close(c);
		return error_errno(err, r, "control socket %s", path);
	}
	*ret = c;
	return 0;
}

struct control *control_close(struct control *c)
{
	if (!c)
		return NULL;
	while (c->peers)
		peer_end(c->peers);
	(void)sd_event_source_disable_unref(c->source);
	if (c->fd >= 0 && c->path)
		(void)unlink(c->path);
	(void)close_fd(c->fd);
	free(c->path);
	free(c);
	return NULL;
}
