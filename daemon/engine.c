// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/engine.h"

#include "daemon/dispatch.h"
#include "daemon/session.h"
#include "daemon/target.h"
#include "db/job.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/str.h"

static int on_step_source(sd_event_source *source, void *userdata)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	struct engine *e = userdata;
	int r;

	(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	if (e->failed < 0)
		return 0;
	r = e->on_step ? e->on_step(e, e->userdata) : 0;
	if (r < 0) {
		engine_fail(e, r);
		return 0;
	}
	r = dispatch_start(e, &err);
	if (r < 0) {
		log_error("%s", error_text(&err));
		engine_fail(e, r);
	}
	return 0;
}

void engine_wake(struct engine *e)
{
	if (e->step_source)
		(void)sd_event_source_set_enabled(e->step_source, SD_EVENT_ONESHOT);
}

void engine_fail(struct engine *e, int r)
{
	if (e->failed == 0)
		e->failed = r;
	(void)sd_event_exit(e->loop, r);
}

static int open_state(struct engine *e, struct error *err)
{
	int r = paths_create(&e->paths, err);

	if (r >= 0)
		r = db_open(e->paths.db, err, &e->db);
	if (r >= 0)
		r = repo_open(e->paths.mirror, err, &e->repo);
	if (r >= 0)
		r = toolchain_text(err, &e->toolchain);
	if (r < 0)
		return r;
	r = db_job_release_all(e->db);
	if (r < 0)
		return error_errno(err, r, "database %s", e->paths.db);
	if (r > 0)
		log_info("%d job%s of an earlier process queued again", r, r == 1 ? "" : "s");
	return 0;
}

int engine_new(sd_event *loop, struct paths *paths, const struct engine_settings *settings, struct error *err,
	       struct engine **ret)
{
	_cleanup_(engine_freep) struct engine *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return error_errno(err, -ENOMEM, "engine");
	e->paths = *paths;
	*paths = PATHS_INIT;
	e->settings = *settings;
	e->loop = loop;
	e->started_ns = now_wall_ns();
	r = open_state(e, err);
	if (r < 0)
		return r;
	r = executor_new_local(loop, e->paths.bin, &settings->limits, dispatch_notify, e, &e->executor);
	if (r >= 0)
		r = sd_event_add_defer(loop, &e->step_source, on_step_source, e);
	if (r < 0)
		return error_errno(err, r, "engine");
	*ret = TAKE_PTR(e);
	return 0;
}

struct engine *engine_free(struct engine *e)
{
	if (!e)
		return NULL;
	if (e->executor)
		dispatch_stop(e);
	(void)executor_free(e->executor);
	(void)sd_event_source_disable_unref(e->step_source);
	(void)sd_event_source_disable_unref(e->retry_source);
	session_free_all(e);
	target_free_all(e);
	(void)repo_close(e->repo);
	(void)db_close(e->db);
	paths_done(&e->paths);
	free(e->toolchain);
	free(e);
	return NULL;
}
