// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Watching trees. Each look at a server is a child process (libgit2 lists the refs, git fetches), under a time limit, so that
 * a server that hangs holds nothing but its own tree. Tips are recorded from the mirror after the fetch: what is in the
 * database is here. A server's trouble is told once, waits longer each time, and never removes anything.
 */
#include "daemon/service.h"

#include "db/tip.h"
#include "lib/clock.h"
#include "lib/conf.h"
#include "lib/log.h"
#include "lib/str.h"

#define LIST_LIMIT_NS (60 * NSEC_PER_SEC)
#define FETCH_LIMIT_NS (3600 * NSEC_PER_SEC)
#define BACKOFF_MAX 16

enum watch_work { WATCH_IDLE, WATCH_LIST, WATCH_FETCH };

struct watch {
	struct service *service;
	struct tree *tree;
	sd_event_source *timer;
	struct task *task;
	enum watch_work work;
	bool changed;	  /* the listing has news */
	size_t listed;	  /* its branches */
	unsigned failures; /* in a row */
	char *last_error;
};

static bool is_watched(const struct tree *tree, const char *ref)
{
	for (size_t i = 0; tree->branches[i]; i++)
		if (str_eq(tree->branches[i], ref))
			return true;
	return false;
}

/* Next look: the tree's pause, longer after failures, a tenth more or less so that many trees do not march in step. */
static void schedule(struct watch *w, bool at_once)
{
	uint64_t usec = (uint64_t)w->tree->poll_seconds * 1000000;

	for (unsigned i = 0, factor = 1; i < w->failures && factor < BACKOFF_MAX; i++, factor *= 2)
		usec *= 2;
	usec += usec / 10 * (now_mono_ns() / 1000 % 3) - usec / 10;
	(void)sd_event_source_set_time_relative(w->timer, at_once ? 0 : usec);
	(void)sd_event_source_set_enabled(w->timer, SD_EVENT_ONESHOT);
	w->work = WATCH_IDLE;
}

static void failed(struct watch *w, const char *what, const char *why)
{
	_cleanup_free_ char *text = str_format("%s: %s", what, why);
	_cleanup_free_ char *line = text ? str_sanitize_line(text, strlen(text)) : NULL;

	w->failures++;
	if (line && !str_eq(line, w->last_error)) {
		log_warning("tree %s: %s; looking again later", w->tree->name, line);
		(void)str_set(&w->last_error, line);
	}
	schedule(w, false);
}

static void succeeded(struct watch *w)
{
	if (w->failures)
		log_info("tree %s: back after %u failures", w->tree->name, w->failures);
	w->failures = 0;
	free(TAKE_PTR(w->last_error));
	schedule(w, false);
	/* Also without news: what waits for infrastructure is tried again some time. */
	engine_wake(w->service->engine);
}

struct record {
	struct watch *watch;
	char **live; /* refs that were there before and have not been met this time */
	size_t n_live;
	uint64_t now_ns;
	struct error *err;
};

static int record_ref(const char *ref, const char *oid, void *userdata)
{
	struct record *rec = userdata;
	const struct tree *tree = rec->watch->tree;
	_cleanup_free_ char *prefix = str_format("refs/remotes/%s/", tree->name);
	_cleanup_free_ char *theirs = NULL;
	_cleanup_json_ json_t *name = NULL;
	int r;

	if (!prefix || !str_starts(ref, prefix))
		return prefix ? 0 : -ENOMEM;
	theirs = str_format("refs/heads/%s", ref + strlen(prefix));
	if (!theirs)
		return -ENOMEM;
	name = json_string(theirs);
	if (!name)
		return 0; /* no UTF-8: the listing leaves it out, too */
	for (size_t i = 0; i < rec->n_live; i++)
		if (str_eq(rec->live[i], theirs)) {
			free(rec->live[i]);
			rec->live[i] = rec->live[--rec->n_live];
			rec->live[rec->n_live] = NULL;
		}
	r = db_ref_seen(rec->watch->service->engine->db, tree->name, theirs, oid, is_watched(tree, theirs), rec->now_ns);
	if (r > 0)
		log_info("tree %s: %s is at %.12s", tree->name, theirs, oid);
	return MIN(r, 0);
}

static void on_fetched(struct watch *w)
{
	struct record rec = { .watch = w, .now_ns = now_wall_ns() };
	int r = db_ref_live(w->service->engine->db, w->tree->name, &rec.live, &rec.n_live);

	if (r >= 0)
		r = repo_each_ref(w->service->engine->repo, record_ref, &rec);
	for (size_t i = 0; i < rec.n_live && r >= 0; i++) {
		r = db_ref_seen(w->service->engine->db, w->tree->name, rec.live[i], NULL, is_watched(w->tree, rec.live[i]),
				rec.now_ns);
		log_info("tree %s: %s is gone", w->tree->name, rec.live[i]);
	}
	strv_free(rec.live);
	if (r < 0) {
		failed(w, "recording refs", strerror(-r));
		return;
	}
	succeeded(w);
}

static void start_fetch(struct watch *w);

static void on_line(struct task *task, json_t *line, void *userdata)
{
	struct watch *w = userdata;
	const char *ref = json_get_string(line, "ref"), *oid = json_get_string(line, "oid");
	int r;

	(void)task;
	if (w->work != WATCH_LIST || !ref || !oid || !str_starts(ref, "refs/heads/"))
		return;
	w->listed++;
	r = db_ref_known(w->service->engine->db, w->tree->name, ref, oid);
	if (r > 0 && is_watched(w->tree, ref)) /* known, but watched only from now on? */
		r = db_tip_any(w->service->engine->db, w->tree->name, ref);
	if (r == 0)
		w->changed = true;
}

/* A branch that is gone is not in the listing. */
static bool lost_branch(const struct watch *w)
{
	char **live = NULL;
	size_t n = 0;

	if (db_ref_live(w->service->engine->db, w->tree->name, &live, &n) < 0)
		return false;
	strv_free(live);
	return n > w->listed;
}

static bool others_fetch(const struct watch *w)
{
	for (size_t i = 0; i < w->service->n_trees; i++) {
		const struct watch *other = w->service->trees[i].watch;

		if (other && other != w && other->work == WATCH_FETCH)
			return true;
	}
	return false;
}

static void on_end(struct task *task, const struct task_end *end, void *userdata)
{
	static const char *const what[] = { [WATCH_LIST] = "listing refs", [WATCH_FETCH] = "fetching" };
	struct watch *w = userdata;
	_cleanup_free_ char *why = NULL;

	if (end->timed_out)
		why = strdup("no end within the time limit");
	else if (end->status != 0)
		why = strdup(*end->stderr_tail ? end->stderr_tail : "failed");
	w->task = task_free(task);
	if (why && w->work == WATCH_FETCH && !others_fetch(w))
		repo_remove_locks(w->service->engine->paths.mirror);
	if (why)
		failed(w, what[w->work], why);
	else if (w->work == WATCH_FETCH)
		on_fetched(w);
	else if (w->changed || lost_branch(w))
		start_fetch(w);
	else
		succeeded(w);
}

static int start_task(struct watch *w, enum watch_work work, const char *const argv[], uint64_t limit_ns)
{
	static const char *const env[] = { "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "LC_ALL=C", NULL };
	const struct task_callbacks callbacks = { .on_line = on_line, .on_end = on_end, .userdata = w };
	_cleanup_error_ struct error err = ERROR_INIT;
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	int r;

	o.argv = argv;
	o.extra_env = env;
	r = task_start(w->service->loop, &o, NULL, limit_ns, &callbacks, &err, &w->task);
	if (r < 0) {
		failed(w, argv[0], error_text(&err));
		return r;
	}
	w->work = work;
	return 0;
}

static void start_fetch(struct watch *w)
{
	_cleanup_free_ char *spec = str_format("+refs/heads/*:refs/remotes/%s/*", w->tree->name);
	const char *const argv[] = { "git",
				     "--git-dir",
				     w->service->engine->paths.mirror,
				     "-c",
				     "gc.auto=0",
				     "-c",
				     "safe.directory=*",
				     "-c",
				     "http.lowSpeedLimit=1000",
				     "-c",
				     "http.lowSpeedTime=120",
				     "fetch",
				     "--quiet",
				     "--no-tags",
				     "--prune",
				     "--force",
				     "--no-write-fetch-head",
				     "--",
				     w->tree->url,
				     spec,
				     NULL };

	if (!spec) {
		failed(w, "fetching", "out of memory");
		return;
	}
	log_info("tree %s: fetching %s", w->tree->name, w->tree->url);
	(void)start_task(w, WATCH_FETCH, argv, FETCH_LIMIT_NS);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct watch *w = userdata;
	_cleanup_free_ char *self = str_format("%s/mmbisectd", w->service->engine->paths.bin);
	const char *const argv[] = { self, "--list-refs", w->tree->url, NULL };

	(void)source;
	(void)usec;
	if (w->task || !self)
		return 0;
	w->changed = false;
	w->listed = 0;
	(void)start_task(w, WATCH_LIST, argv, LIST_LIMIT_NS);
	return 0;
}

int watch_start(struct service *s, struct error *err)
{
	for (size_t i = 0; i < s->n_trees; i++) {
		struct watch *w = calloc(1, sizeof(*w));
		int r;

		if (!w)
			return error_errno(err, -ENOMEM, "watch");
		w->service = s;
		w->tree = &s->trees[i];
		s->trees[i].watch = w;
		r = sd_event_add_time_relative(s->loop, &w->timer, CLOCK_MONOTONIC, 0, 0, on_timer, w);
		if (r < 0)
			return error_errno(err, r, "watch");
		log_info("watching tree %s at %s every %u s", w->tree->name, w->tree->url, w->tree->poll_seconds);
	}
	return 0;
}

void watch_stop(struct service *s)
{
	for (size_t i = 0; i < s->n_trees; i++) {
		struct watch *w = s->trees[i].watch;

		if (!w)
			continue;
		(void)task_free(w->task);
		(void)sd_event_source_disable_unref(w->timer);
		free(w->last_error);
		free(w);
		s->trees[i].watch = NULL;
	}
}
