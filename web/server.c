// SPDX-License-Identifier: GPL-2.0-or-later
#include "web/server.h"

#include "db/view.h"
#include "lib/hash.h"
#include "lib/log.h"
#include "web/asset.h"
#include "web/route.h"
#include "web/store.h"

#include <fcntl.h>
#include <microhttpd.h>

#define CONNECTIONS_MAX 200U
#define HEADERS_MAX ((size_t)16 << 10)
#define IDLE_SECONDS 30U
#define ETAG_DIGITS 32
#define TIMER_ACCURACY_USEC 1 /* 0 would be 250 ms, also where libmicrohttpd says "at once" */

struct server {
	struct MHD_Daemon *daemon;
	sd_event_source *io, *timer;
	struct server_options options;
	struct store store;
	int store_code; /* of the last look: a change is worth a line in the log */
};

static const char *const fixed_headers[][2] = {
	{"Content-Security-Policy", "default-src 'self'; object-src 'none'; base-uri 'none'; "
				    "form-action 'none'; frame-ancestors 'none'"},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Cache-Control", "no-cache"},
};

/* Tells the operator, once, when the database comes or goes. */
static void note_store(struct server *server, int code, const struct error *err)
{
	if (code == server->store_code)
		return;
	server->store_code = code;
	if (code < 0)
		log_warning("database %s: %s", server->options.database, error_text(err));
	else
		log_info("database %s: reading", server->options.database);
}

static int answer_route(struct server *server, const struct route *route, struct request *request,
			struct reply *reply)
{
	int r = db_view_begin(request->db);

	if (r >= 0) {
		r = route->fn(request, reply);
		db_view_end(request->db);
	}
	if (r < 0 && r != -ENOENT) {
		log_warning("%s: %s: %s", route->pattern, strerror(-r), db_error_text(request->db));
		store_done(&server->store); /* a fresh start next time */
	}
	return r;
}

static int answer_path(struct server *server, const char *path, struct reply *reply)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	struct request request = {.static_dir = server->options.static_dir};
	const struct route *route = route_find(path, &request.id);
	bool api = route_is_api(path);
	int r;

	if (route) {
		r = store_get(&server->store, &err, &request.db);
		note_store(server, r, &err);
		if (r < 0)
			return reply_error(reply, api, MHD_HTTP_SERVICE_UNAVAILABLE,
					   error_text(&err));
		r = answer_route(server, route, &request, reply);
	} else {
		r = path[0] == '/' ? asset_get(server->options.static_dir, path + 1, reply)
				   : -ENOENT;
	}
	if (r == -ENOENT)
		return reply_error(reply, api, MHD_HTTP_NOT_FOUND,
				   route ? "There is no such thing." : "There is no such page.");
	if (r < 0)
		return reply_error(reply, api, MHD_HTTP_INTERNAL_SERVER_ERROR,
				   "The answer could not be made; the server's log says why.");
	return 0;
}

static const char *request_header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool has_body(struct MHD_Connection *connection)
{
	const char *length = request_header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return (length && !str_eq(length, "0")) ||
	       request_header(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

/* What is refused before the path is looked at: 1 refused, 0 not. */
static int refuse(struct MHD_Connection *connection, const char *path, const char *method,
		  struct reply *reply)
{
	unsigned status = 0;
	int r;

	if (!str_eq(method, MHD_HTTP_METHOD_GET) && !str_eq(method, MHD_HTTP_METHOD_HEAD))
		status = MHD_HTTP_METHOD_NOT_ALLOWED;
	else if (has_body(connection))
		status = MHD_HTTP_CONTENT_TOO_LARGE;
	if (!status)
		return 0;
	r = reply_error(reply, route_is_api(path), status,
			status == MHD_HTTP_METHOD_NOT_ALLOWED
				? "This server only shows: GET and HEAD."
				: "This server takes no request bodies.");
	reply->close = true;
	return r < 0 ? r : 1;
}

static struct MHD_Response *make_body(struct reply *reply, bool empty)
{
	/* libmicrohttpd takes void * also for memory that it never writes */
	void *fixed = (void *)(uintptr_t)(reply->fixed ? reply->fixed : "");

	if (empty || !reply->owned)
		return MHD_create_response_from_buffer(empty ? 0 : reply->len, fixed,
						       MHD_RESPMEM_PERSISTENT);
	return MHD_create_response_from_buffer(reply->len, TAKE_PTR(reply->owned),
					       MHD_RESPMEM_MUST_FREE);
}

static void add_headers(struct MHD_Response *response, const struct reply *reply, const char *etag)
{
	char retry[16];

	for (size_t i = 0; i < ARRAY_SIZE(fixed_headers); i++)
		(void)MHD_add_response_header(response, fixed_headers[i][0], fixed_headers[i][1]);
	if (reply->type)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
	if (etag[0])
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, etag);
	if (reply->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (reply->close)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (reply->retry_seconds) {
		(void)snprintf(retry, sizeof(retry), "%u", reply->retry_seconds);
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, retry);
	}
}

/* "<32 hex digits>" of the body; empty when the answer is no 200. */
static void make_etag(const struct reply *reply, char ret[ETAG_DIGITS + 3])
{
	char hex[HASH_HEX_LEN + 1];

	ret[0] = '\0';
	if (reply->status == MHD_HTTP_OK &&
	    hash_mem(reply->owned ? reply->owned : reply->fixed, reply->len, hex) >= 0)
		(void)snprintf(ret, ETAG_DIGITS + 3, "\"%.*s\"", ETAG_DIGITS, hex);
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, struct reply *reply)
{
	const char *known = request_header(connection, MHD_HTTP_HEADER_IF_NONE_MATCH);
	char etag[ETAG_DIGITS + 3];
	struct MHD_Response *response;
	enum MHD_Result sent;
	bool unchanged;

	make_etag(reply, etag);
	unchanged = etag[0] && known && (strstr(known, etag) || str_eq(known, "*"));
	if (unchanged)
		reply->status = MHD_HTTP_NOT_MODIFIED;
	response = make_body(reply, unchanged);
	if (!response)
		return MHD_NO;
	add_headers(response, reply, etag);
	sent = MHD_queue_response(connection, reply->status, response);
	MHD_destroy_response(response);
	return sent;
}

static enum MHD_Result on_request(void *userdata, struct MHD_Connection *connection,
				  const char *path, const char *method, const char *version,
				  const char *upload, size_t *upload_size, void **seen)
{
	_cleanup_reply_ struct reply reply = REPLY_INIT;
	struct server *server = userdata;
	int r;

	(void)version;
	(void)upload;
	*upload_size = 0;
	if (!*seen) { /* only the headers so far: refusals go out at once, the rest when the request
			 is complete */
		*seen = server;
		r = refuse(connection, path, method, &reply);
		if (r == 0)
			return MHD_YES;
	} else {
		r = answer_path(server, path, &reply);
	}
	return r < 0 ? MHD_NO : send_reply(connection, &reply);
}

/* Lets libmicrohttpd work and asks when it wants to be called again without any input. */
static int turn(struct server *server)
{
	MHD_UNSIGNED_LONG_LONG ms;
	int r;

	if (MHD_run(server->daemon) != MHD_YES)
		return -EIO;
	if (MHD_get_timeout(server->daemon, &ms) != MHD_YES)
		return sd_event_source_set_enabled(server->timer, SD_EVENT_OFF);
	r = sd_event_source_set_time_relative(server->timer, (uint64_t)ms * 1000);
	return r < 0 ? r : sd_event_source_set_enabled(server->timer, SD_EVENT_ONESHOT);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	(void)source;
	(void)fd;
	(void)events;
	return turn(userdata);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	return turn(userdata);
}

/* No path of ours needs an escape, so none is undone: "%2e%2e" and "%00" stay what they are, names
 * of nothing. */
static size_t keep_escapes(void *userdata, struct MHD_Connection *connection, char *text)
{
	(void)userdata;
	(void)connection;
	return strlen(text);
}

static int start_daemon(struct server *server, struct error *err)
{
	int flags = fcntl(server->options.listen_fd, F_GETFL);

	if (flags < 0 || fcntl(server->options.listen_fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return error_errno(err, -errno, "listening socket");
	server->daemon = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, on_request, server, MHD_OPTION_LISTEN_SOCKET,
		(MHD_socket)server->options.listen_fd, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEADERS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
		IDLE_SECONDS, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK,
		keep_escapes, NULL, MHD_OPTION_END);
	return server->daemon ? 0 : error_set(err, -EIO, "the HTTP server did not start");
}

static int add_sources(struct server *server, sd_event *event)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	int r;

	if (!info)
		return -EIO;
	r = sd_event_add_io(event, &server->io, info->epoll_fd, EPOLLIN, on_io, server);
	if (r >= 0)
		r = sd_event_add_time_relative(event, &server->timer, CLOCK_MONOTONIC, 0,
					       TIMER_ACCURACY_USEC, on_timer, server);
	return r;
}

int server_new(sd_event *event, const struct server_options *options, struct error *err,
	       struct server **ret)
{
	_cleanup_(server_freep) struct server *server = calloc(1, sizeof(*server));
	int r;

	if (!server)
		return error_errno(err, -ENOMEM, "server");
	server->options = *options;
	server->store = STORE_INIT(options->database);
	server->store_code = 1; /* neither: the first look is news */
	r = start_daemon(server, err);
	if (r < 0)
		return r;
	r = add_sources(server, event);
	if (r < 0)
		return error_errno(err, r, "event loop");
	*ret = TAKE_PTR(server);
	return 0;
}

struct server *server_free(struct server *server)
{
	if (!server)
		return NULL;
	(void)sd_event_source_disable_unref(server->io);
	(void)sd_event_source_disable_unref(server->timer);
	if (server->daemon) {
		/* the listening socket is the caller's */
		(void)MHD_quiesce_daemon(server->daemon);
		MHD_stop_daemon(server->daemon);
	}
	store_done(&server->store);
	free(server);
	return NULL;
}
