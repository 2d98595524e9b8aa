// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mmbisectd: watches trees, measures tips, searches, proves, mails. One process, one event loop; the only writer of its
 * database. `--list-refs URL` is the child that watch.c starts for each look at a server.
 */
#include "daemon/control.h"
#include "daemon/loop.h"
#include "daemon/progress.h"
#include "daemon/service.h"
#include "db/search.h"
#include "lib/log.h"
#include "lib/str.h"

#include <getopt.h>
#include <systemd/sd-daemon.h>

enum { EXIT_USAGE = 2, EXIT_INFRA = 3 };

static int print_ref(const char *ref, const char *oid, void *userdata)
{
	_cleanup_json_ json_t *line = json_pack("{s:s, s:s}", "ref", ref, "oid", oid);

	(void)userdata;
	/* A name that is not UTF-8 cannot be a JSON string: such a branch is not watched. */
	return line ? json_write_line(STDOUT_FILENO, line) : 0;
}

static int list_refs(const char *url)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	int r = repo_list_remote(url, print_ref, NULL, &err);

	if (r < 0)
		(void)fprintf(stderr, "%s\n", error_text(&err));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int on_step(struct engine *engine, void *userdata)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	struct service *s = userdata;
	int r = detect_step(s, &err);

	(void)engine;
	if (r >= 0)
		r = findings_step(s, &err);
	if (r >= 0)
		r = outbox_step(s, &err);
	if (r < 0)
		log_error("%s", error_text(&err));
	return r;
}

/* The search that the progress line is about: the oldest open one. */
static int64_t open_search(struct service *s)
{
	_cleanup_(search_list_done) struct search_list open = { 0 };

	if (db_search_list(s->engine->db, true, &open) < 0 || open.n == 0)
		return 0;
	return open.items[0].id;
}

static void on_progress(struct engine *engine, void *userdata)
{
	if (engine->running)
		progress_show(engine, open_search(userdata));
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	(void)userdata;
	log_info("%s: stopping; what is under way is queued again", strsignal((int)info->ssi_signo));
	return sd_event_exit(sd_event_source_get_event(source), 0);
}

static int check_definitions(const struct service *s, const struct paths *paths, struct error *err)
{
	int r = 0;

	for (size_t t = 0; t < s->n_trees && r >= 0; t++) {
		for (size_t i = 0; s->trees[t].workloads[i] && r >= 0; i++) {
			_cleanup_(workload_done) struct workload w = { 0 };

			r = workload_load(paths, s->trees[t].workloads[i], err, &w);
		}
		for (size_t i = 0; s->trees[t].arches[i] && r >= 0; i++) {
			_cleanup_(machine_done) struct machine exact = { 0 }, time = { 0 };

			r = machine_load(paths, "exact", s->trees[t].arches[i], err, &exact);
			if (r >= 0 && s->trees[t].time)
				r = machine_load(paths, "time", s->trees[t].arches[i], err, &time);
		}
		if (r < 0)
			(void)error_prefix(err, "[tree %s]", s->trees[t].name);
	}
	return r;
}

static const struct control_verb control_verbs[] = {
	{ "accept", words_control },
	{ "known", words_control },
	{ "wrong", words_control },
	{ 0 },
};

static int set_up(struct service *s, struct error *err)
{
	_cleanup_(paths_done) struct paths paths = PATHS_INIT;
	struct engine_settings settings = ENGINE_SETTINGS_INIT;
	int r = paths_init(s->state, s->configs, err, &paths);

	settings.verify_runs = s->verify_runs;
	settings.limits.time_hosts = s->executors;
	if (r >= 0)
		r = check_definitions(s, &paths, err);
	if (r >= 0)
		r = loop_new(on_signal, s, err, &s->loop);
	if (r >= 0)
		(void)sd_event_set_watchdog(s->loop, true);
	if (r >= 0)
		r = engine_new(s->loop, &paths, &settings, err, &s->engine);
	if (r < 0)
		return r;
	s->engine->on_step = on_step;
	s->engine->on_progress = on_progress;
	s->engine->userdata = s;
	engine_wake(s->engine);
	r = control_open(s->loop, s->engine->paths.socket, control_verbs, s, err, &s->control);
	return r < 0 ? r : watch_start(s, err);
}

static int serve(const char *config)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	struct service s = { 0 };
	int r = service_load(config, &err, &s);

	if (r >= 0)
		r = set_up(&s, &err);
	if (r < 0) {
		log_error("%s", error_text(&err));
	} else {
		(void)sd_notify(0, "READY=1\nSTATUS=watching");
		r = sd_event_loop(s.loop);
		log_progress_end();
	}
	s.control = control_close(s.control);
	watch_stop(&s);
	outbox_stop(&s);
	(void)engine_free(s.engine);
	(void)sd_event_unref(s.loop);
	s.engine = NULL;
	service_done(&s);
	if (r < 0 && err.code < 0)
		return EXIT_USAGE;
	return r < 0 ? EXIT_INFRA : EXIT_SUCCESS;
}

static void usage(void)
{
	(void)printf("mmbisectd --config FILE [--verbose]\n"
		     "watches kernel trees, measures, bisects and mails (configs/mmbisect.conf explains the file)\n"
		     "\nExit status: 0 stopped by a signal, 2 usage or configuration, 3 infrastructure.\n");
}

int main(int argc, char **argv)
{
	static const struct option longs[] = { { "config", required_argument, NULL, 'c' },
					       { "list-refs", required_argument, NULL, 'l' },
					       { "verbose", no_argument, NULL, 'v' },
					       { "help", no_argument, NULL, 'h' },
					       { 0 } };
	const char *config = NULL;
	bool verbose = false;
	int c;

	while ((c = getopt_long(argc, argv, "hc:v", longs, NULL)) != -1) {
		if (c == 'h') {
			usage();
			return EXIT_SUCCESS;
		}
		if (c == 'l')
			return list_refs(optarg);
		if (c == 'c')
			config = optarg;
		else if (c == 'v')
			verbose = true;
		else
			return EXIT_USAGE;
	}
	if (!config || optind != argc) {
		if (config)
			(void)fprintf(stderr, "mmbisectd: what is '%s'? (mmbisectd --help)\n", argv[optind]);
		else
			(void)fprintf(stderr, "mmbisectd: --config FILE is needed (mmbisectd --help)\n");
		return EXIT_USAGE;
	}
	log_init("mmbisectd", verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO);
	return serve(config);
}
