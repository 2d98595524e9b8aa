// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/oneshot.h"

#include "daemon/loop.h"
#include "daemon/progress.h"
#include "daemon/target.h"
#include "lib/fs.h"
#include "lib/log.h"
#include "lib/str.h"


/* A kernel tree with its objects, twice, and some room. */
#define DISK_NEEDED (UINT64_C(3) << 30)
#define PATCH_MAX (64 << 20)

/* The free space where path is or will be. */
static int disk_check(const char *path, struct error *err)
{
	_cleanup_free_ char *at = strdup(path);
	uint64_t free_bytes;
	int r = at ? 0 : -ENOMEM;

	if (r >= 0) {
		fs_existing_parent(at);
		r = fs_free_bytes(at, &free_bytes);
	}
	if (r < 0)
		return error_errno(err, r, "%s", path);
	if (access(at, W_OK) < 0 || !fs_is_storage(at))
		return error_set(err, -EINVAL, "--state %s: nothing can be kept there", path);
	if (free_bytes < DISK_NEEDED)
		return error_set(err, -EINVAL, "the disk of %s is full: %llu MiB free, %llu MiB needed", path,
				 (unsigned long long)(free_bytes >> 20), (unsigned long long)(DISK_NEEDED >> 20));
	return 0;
}

static int check_definitions(const struct cli *cli, const struct paths *paths, const char *const classes[], struct error *err)
{
	_cleanup_(workload_done) struct workload workload = { 0 };
	int r = workload_load(paths, cli->workload, err, &workload);

	for (size_t i = 0; r >= 0 && classes[i]; i++) {
		_cleanup_(machine_done) struct machine machine = { 0 };

		r = machine_load(paths, classes[i], cli->arch, err, &machine);
		if (r >= 0) {
			_cleanup_free_ char *qemu = NULL;

			r = fs_find_program(machine.qemu, &qemu);
			if (r < 0)
				r = error_set(err, -EINVAL, "%s: program not found (mmbisect doctor)", machine.qemu);
		}
	}
	return r;
}

/* Before all of it is checked out to find no kernel in it. */
static int check_kernels(struct repo *repo, char *const oids[], size_t n, const struct cli *cli, struct error *err)
{
	int r = 1;

	for (size_t i = 0; r > 0 && i < n; i++) {
		r = repo_is_kernel(repo, oids[i], err);
		if (r == 0)
			return error_set(err, -EINVAL, "%.12s of %s is no kernel: it has no Makefile and Kconfig", oids[i],
					 cli->repo);
	}
	return r;
}

static int check_patches(const struct cli *cli, struct error *err)
{
	for (size_t i = 0; i < cli->n_patches; i++) {
		_cleanup_free_ char *text = NULL;
		int r = fs_read(cli->patches[i], PATCH_MAX, &text, NULL);

		if (r < 0)
			return error_errno(err, r, "patch %s", cli->patches[i]);
	}
	return 0;
}

int oneshot_check(const struct cli *cli, const char *const revs[], size_t n_revs, const char *const classes[],
		  struct error *err, char **ret_oids)
{
	_cleanup_(paths_done) struct paths paths = PATHS_INIT;
	_cleanup_(repo_closep) struct repo *repo = NULL;
	_cleanup_free_ char *toolchain = NULL;
	int r = paths_init(cli->state, cli->configs, err, &paths);

	if (r >= 0)
		r = check_definitions(cli, &paths, classes, err);
	if (r >= 0)
		r = repo_open_read_only(cli->repo, err, &repo);
	for (size_t i = 0; r >= 0 && i < n_revs; i++)
		r = repo_resolve(repo, revs[i], err, &ret_oids[i]);
	if (r >= 0)
		r = check_kernels(repo, ret_oids, n_revs, cli, err);
	if (r >= 0)
		r = check_patches(cli, err);
	if (r >= 0)
		r = toolchain_text(err, &toolchain);
	if (r >= 0)
		r = disk_check(paths.state, err);
	return r;
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	struct oneshot *shot = userdata;

	(void)info;
	shot->interrupted = true;
	return sd_event_exit(sd_event_source_get_event(source), 0);
}

static int on_step(struct engine *engine, void *userdata)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	struct oneshot *shot = userdata;
	int r = shot->step(shot, &err);

	(void)engine;
	if (r < 0)
		log_error("%s", error_text(&err));
	else if (shot->finished)
		(void)sd_event_exit(shot->loop, 0);
	return r;
}

static void on_progress(struct engine *engine, void *userdata)
{
	const struct oneshot *shot = userdata;

	if (!shot->cli->quiet)
		progress_show(engine, shot->search_id);
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct oneshot *shot = userdata;

	on_progress(shot->engine, shot);
	(void)sd_event_source_set_time(source, usec + 1000000);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int set_up_loop(struct oneshot *shot, struct error *err)
{
	uint64_t now = 0;
	int r = loop_new(on_signal, shot, err, &shot->loop);

	if (r < 0)
		return r;
	r = sd_event_now(shot->loop, CLOCK_MONOTONIC, &now);
	if (r >= 0)
		r = sd_event_add_time(shot->loop, NULL, CLOCK_MONOTONIC, now + 1000000, 0, on_tick, shot);
	return r < 0 ? error_errno(err, r, "event loop") : 0;
}

int oneshot_run(struct oneshot *shot, struct error *err)
{
	const struct cli *cli = shot->cli;
	struct engine_settings settings = ENGINE_SETTINGS_INIT;
	_cleanup_(paths_done) struct paths paths = PATHS_INIT;
	int r = paths_init(cli->state, cli->configs, err, &paths);

	if (r >= 0)
		r = set_up_loop(shot, err);
	if (r < 0)
		return r;
	if (cli->times_given)
		settings.verify_runs = cli->times;
	if (cli->no_verify)
		settings.verify_runs = 0;
	settings.no_proof = cli->no_verify;
	r = engine_new(shot->loop, &paths, &settings, err, &shot->engine);
	if (r >= 0)
		r = repo_attach(shot->engine->repo, cli->repo, err);
	if (r < 0)
		return r;
	shot->engine->on_step = on_step;
	shot->engine->on_progress = on_progress;
	shot->engine->userdata = shot;
	engine_wake(shot->engine);
	r = sd_event_loop(shot->loop);
	log_progress_end();
	if (shot->engine->failed < 0)
		r = shot->engine->failed;
	if (r < 0)
		return error_set(err, r, "stopped by the error above; the same command goes on from here");
	return 0;
}

void oneshot_done(struct oneshot *shot)
{
	(void)engine_free(shot->engine);
	(void)sd_event_unref(shot->loop);
	shot->engine = NULL;
	shot->loop = NULL;
}
