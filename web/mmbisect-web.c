// SPDX-License-Identifier: GPL-2.0-or-later
/* mmbisect-web: shows what the database holds, as pages and as JSON. Reads only. */
#include "lib/fs.h"
#include "lib/log.h"
#include "lib/str.h"
#include "web/listen.h"
#include "web/server.h"

#include <getopt.h>
#include <signal.h>
#include <systemd/sd-daemon.h>

#define DEFAULT_LISTEN "127.0.0.1:8470"

enum { EXIT_USAGE = 2, EXIT_INFRA = 3 };

static const char usage[] =
	"Usage: mmbisect-web --db PATH [OPTION]...\n"
	"Serves the findings and searches of an mmbisect database, read-only.\n"
	"\n"
	"  --db PATH           the database; it may come later\n"
	"  --listen ADDRESS    127.0.0.1:PORT, [::1]:PORT (port 0: any free one) or unix:PATH;\n"
	"                      default " DEFAULT_LISTEN ", or the socket that systemd passes\n"
	"  --port-file FILE    write the port there once it is open\n"
	"  --static DIR        take the pages from DIR (web/static) instead of the program\n"
	"  --help              this text\n"
	"\n"
	"There is no log-in and no TLS: to show it to others, put a web server in front.\n"
	"Exit status: 0 ended by SIGTERM or SIGINT, 2 usage, 3 cannot serve.\n";

struct options {
	const char *database, *listen, *port_file, *static_dir;
	bool help;
};

/* 0 or -EINVAL with a message. */
static int parse_options(int argc, char **argv, struct error *err, struct options *ret)
{
	static const struct option table[] = {
		{"db", required_argument, NULL, 'd'},
		{"listen", required_argument, NULL, 'l'},
		{"port-file", required_argument, NULL, 'p'},
		{"static", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct options o = {0};
	const char **const values[] = {['d'] = &o.database,
				       ['l'] = &o.listen,
				       ['p'] = &o.port_file,
				       ['s'] = &o.static_dir};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", table, NULL)) >= 0) {
		if (c == 'h')
			o.help = true;
		else if (c == ':')
			return error_set(err, -EINVAL, "%s needs a value", argv[optind - 1]);
		else if (c == '?')
			return error_set(err, -EINVAL, "unknown option %s", argv[optind - 1]);
		else
			*values[c] = optarg;
	}
	if (!o.help && optind < argc)
		return error_set(err, -EINVAL, "unexpected argument %s", argv[optind]);
	if (!o.help && (!o.database || !*o.database))
		return error_set(err, -EINVAL, "--db PATH is missing");
	if (o.static_dir && !fs_exists(o.static_dir))
		return error_set(err, -EINVAL, "--static %s: no such folder", o.static_dir);
	*ret = o;
	return 0;
}

static int open_listener(const struct options *options, struct error *err, struct listener *ret)
{
	struct address address;
	int r = listener_inherit(err, ret);

	if (r < 0)
		return r;
	if (r > 0 && options->listen)
		return error_set(err, -EINVAL, "--listen, but systemd passed a socket");
	if (r > 0)
		return 0;
	r = address_parse(options->listen ? options->listen : DEFAULT_LISTEN, err, &address);
	if (r >= 0)
		r = listener_open(&address, err, ret);
	if (r < 0)
		(void)error_prefix(err, "--listen %s",
				   options->listen ? options->listen : DEFAULT_LISTEN);
	return r;
}

static int announce(const struct options *options, const struct listener *listener,
		    struct error *err)
{
	_cleanup_free_ char *port = str_format("%u\n", listener->port);
	int r;

	if (!port)
		return error_errno(err, -ENOMEM, "port");
	if (options->port_file && !listener->port)
		return error_set(err, -EINVAL, "--port-file: %s has no port", listener->where);
	r = options->port_file ? fs_write_atomic(options->port_file, port, strlen(port)) : 0;
	if (r < 0)
		return error_errno(err, r, "--port-file %s", options->port_file);
	if (!listener->loopback)
		log_warning("%s can be reached from other machines; there is no log-in",
			    listener->where);
	(void)printf("listening on %s\n", listener->where);
	(void)fflush(stdout);
	return 0;
}

/* SIGTERM and SIGINT end the loop with 0; writing to a visitor who has gone is no reason to die. */
static int catch_signals(sd_event *event)
{
	sigset_t mask;
	int r;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGTERM);
	(void)sigaddset(&mask, SIGINT);
	if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
		return -errno;
	r = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
	return r < 0 ? r : sd_event_add_signal(event, NULL, SIGINT, NULL, NULL);
}

static int serve(const struct options *options, struct error *err)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(listener_done) struct listener listener = LISTENER_INIT;
	_cleanup_(server_freep) struct server *server = NULL;
	struct server_options server_options = {.database = options->database,
						.static_dir = options->static_dir};
	int r = sd_event_new(&event);

	if (r >= 0)
		r = catch_signals(event);
	if (r < 0)
		return error_errno(err, r, "event loop");
	r = open_listener(options, err, &listener);
	if (r < 0)
		return r;
	server_options.listen_fd = listener.fd;
	r = server_new(event, &server_options, err, &server);
	if (r >= 0)
		r = announce(options, &listener, err);
	if (r < 0)
		return r;
	(void)sd_notify(0, "READY=1");
	r = sd_event_loop(event);
	return r < 0 ? error_errno(err, r, "event loop") : 0;
}

int main(int argc, char **argv)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	struct options options = {0};
	int r;

	log_init("mmbisect-web", LOG_LEVEL_INFO);
	r = parse_options(argc, argv, &err, &options);
	if (r >= 0 && options.help) {
		(void)fputs(usage, stdout);
		return EXIT_SUCCESS;
	}
	if (r >= 0)
		r = serve(&options, &err);
	if (r >= 0)
		return EXIT_SUCCESS;
	log_error("%s", error_text(&err));
	if (r == -EINVAL)
		log_error("see mmbisect-web --help");
	return r == -EINVAL ? EXIT_USAGE : EXIT_INFRA;
}
