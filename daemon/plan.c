// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/plan.h"

#include "daemon/target.h"
#include "db/build.h"
#include "db/job.h"
#include "db/run.h"
#include "lib/clock.h"
#include "lib/fs.h"
#include "lib/hash.h"
#include "lib/str.h"

#include <inttypes.h>

/* So many runs of an image must end badly, and none well, before it is called untestable (D-01: one bad run is none). */
#define BAD_RUNS 2
/* So long nothing is tried again that infrastructure broke in spite of all retries. */
#define BROKEN_PAUSE_NS (600 * NSEC_PER_SEC)

void want_result_done(struct want_result *w)
{
	free(w->series);
	free(w->signature);
	free(w->status);
	free(w->why);
	*w = (struct want_result){ 0 };
}

static int answer(struct want_result *w, enum want_state state, const char *status, const char *why)
{
	w->state = state;
	if (str_set(&w->status, status) < 0 || str_set(&w->why, why) < 0)
		return -ENOMEM;
	return 0;
}

/* A job of this key that ended failed not long ago, in our time: infra that retries did not cure. Later it is tried again. */
static int broken(struct engine *e, const char *key, struct want_result *w)
{
	_cleanup_free_ char *why = NULL;
	int64_t failures = 0;
	int r = db_job_failures(e->db, key, MAX(e->started_ns, now_wall_ns() - BROKEN_PAUSE_NS), &failures, &why);

	if (r < 0 || failures == 0)
		return r;
	r = answer(w, WANT_BROKEN, "infra", why);
	return r < 0 ? r : 1;
}

/* What names a layout in a key; names of before stay what they were. */
static char *layout_key(const struct want *want)
{
	return want->layout ? str_format(" layout %d", want->layout) : strdup("");
}

static int image_key(const struct want *want, const char *config, const char *toolchain, char ret[65])
{
	_cleanup_free_ char *layout = layout_key(want);
	_cleanup_free_ char *text = layout ? str_format("%s %s %s %s%s", want->tree_oid, want->arch, config, toolchain, layout) : NULL;

	return text ? hash_mem(text, strlen(text), ret) : -ENOMEM;
}

static int queue(struct engine *e, const struct want *want, const char *kind, const char *class, const char *key,
		 const json_t *spec, int priority)
{
	_cleanup_free_ char *text = json_dumps(spec, JSON_COMPACT | JSON_SORT_KEYS);
	const struct job_new job = { .kind = kind, .key = key, .class = class, .spec = text, .oid = want->oid,
				     .search_id = want->search_id, .priority = priority };

	return text ? db_job_add(e->db, &job, now_wall_ns()) : -ENOMEM;
}

static int queue_build(struct engine *e, const struct want *want, const char *config, const char *key, struct error *err)
{
	_cleanup_json_ json_t *fragments = NULL, *spec = NULL;
	char image[65];
	int r = target_fragments(e, want->arch, err, &fragments);

	if (r < 0)
		return r;
	r = repo_keep(e->repo, want->oid, err);
	if (r < 0)
		return r;
	r = image_key(want, config, e->toolchain, image);
	if (r >= 0) {
		_cleanup_free_ char *out = str_format("%s/%.32s", e->paths.images, image);

		spec = json_pack("{s:s, s:s, s:s, s:s, s:s, s:O, s:s?, s:i, s:i, s:s, s:s, s:s, s:i}", "job", "build", "repo",
				 e->paths.mirror, "commit", want->oid, "arch", want->arch, "base", "tinyconfig", "fragments",
				 fragments, "out", out, "jobs", (int)sysconf(_SC_NPROCESSORS_ONLN), "limit_seconds",
				 (int)e->settings.build_limit_seconds, "tree_oid", want->tree_oid, "config", config,
				 "toolchain", e->toolchain, "layout", want->layout);
		r = spec ? queue(e, want, "build", "build", key, spec, want->priority) : -ENOMEM;
	}
	return r < 0 ? error_errno(err, r, "queueing a build") : 0;
}

static char *build_key(const struct want *want, const char *config)
{
	_cleanup_free_ char *layout = layout_key(want);

	return layout ? str_format("build %s %s %.16s%s", want->tree_oid, want->arch, config, layout) : NULL;
}

/* The image of the commit: 1 there (want continues), 0 *w says what. */
static int want_image(struct engine *e, const struct want *want, bool ask, struct error *err, struct build *ret_build,
		      struct want_result *w)
{
	_cleanup_free_ char *key = NULL;
	char config[65];
	int r = target_config(e, want->arch, err, config);

	if (r < 0)
		return r;
	r = db_build_find(e->db, want->tree_oid, want->arch, config, e->toolchain, want->layout, ret_build);
	if (r > 0 && str_eq(ret_build->status, "ok"))
		return 1;
	if (r > 0)
		return answer(w, WANT_SKIPPED, "build-failed", ret_build->error);
	if (r < 0)
		return error_errno(err, r, "database");
	key = build_key(want, config);
	r = key ? broken(e, key, w) : -ENOMEM;
	if (r != 0)
		return r < 0 ? error_errno(err, r, "database") : 0;
	r = ask ? queue_build(e, want, config, key, err) : 0;
	if (r < 0)
		return r;
	return answer(w, WANT_PENDING, "ok", NULL);
}

static int queue_run(struct engine *e, const struct want *want, const struct target *t, const struct build *build,
		     const char *key, int priority)
{
	_cleanup_json_ json_t *machine = NULL, *workload = NULL, *spec = NULL;
	int r = target_job_parts(t, &machine, &workload);

	if (r < 0)
		return r;
	spec = json_pack("{s:s, s:s, s:s, s:s, s:O, s:O, s:i, s:s, s:s}", "job", "run", "arch", want->arch, "kernel",
			 build->kernel, "initramfs", t->initramfs, "machine", machine, "workload", workload, "limit_seconds",
			 (int)t->workload.limit_seconds, "series", t->hash, "signature", build->signature);
	return spec ? queue(e, want, "run", want->class, key, spec, priority) : -ENOMEM;
}

static char *run_prefix(const char *series, const char *signature)
{
	return str_format("run %.16s %.16s ", series, signature);
}

/* So many more jobs as are missing. n_all counts every run that ended, so one that failed is followed by one of a new key. */
static int queue_runs(struct engine *e, const struct want *want, const struct target *t, const struct build *build,
		      int64_t n_ok, int64_t n_all, struct error *err, struct want_result *w)
{
	_cleanup_free_ char *prefix = run_prefix(t->hash, build->signature);
	int64_t unfinished = 0;
	int r = prefix ? db_job_unfinished(e->db, prefix, &unfinished) : -ENOMEM;

	for (int64_t k = n_ok + unfinished; r >= 0 && k < (int64_t)want->runs; k++) {
		_cleanup_free_ char *key = str_format("%s%" PRId64, prefix, n_all - n_ok + k);

		r = key ? broken(e, key, w) : -ENOMEM;
		if (r > 0)
			return 0;
		if (r >= 0)
			r = queue_run(e, want, t, build, key, want->priority + (want->interleave ? (int)(k - (int64_t)want->stale) : 0));
	}
	return r < 0 ? error_errno(err, r, "queueing a run") : answer(w, WANT_PENDING, "ok", NULL);
}

/* The image is named by the database, but was deleted from the store: its samples stay true, only the file must come back. */
static int want_file_back(struct engine *e, const struct want *want, struct error *err, struct want_result *w)
{
	_cleanup_free_ char *key = NULL;
	char config[65];
	int r = target_config(e, want->arch, err, config);

	if (r < 0)
		return r;
	key = build_key(want, config);
	r = key ? broken(e, key, w) : -ENOMEM;
	if (r != 0)
		return r < 0 ? error_errno(err, r, "database") : 0;
	r = queue_build(e, want, config, key, err);
	return r < 0 ? r : answer(w, WANT_PENDING, "ok", NULL);
}

/* What the runs of an image say: MET, SKIPPED, SLOW, BROKEN, or PENDING: too few to say anything. */
static int weigh_runs(struct db *db, const char *series, const char *signature, unsigned runs, struct run_counts *n,
		      struct want_result *w)
{
	_cleanup_free_ char *title = NULL;
	int r = db_run_count(db, series, signature, n);

	if (r < 0)
		return r;
	w->n_ok = n->ok;
	if (n->ok >= runs)
		return answer(w, WANT_MET, "ok", NULL);
	r = db_run_last_title(db, series, signature, &title);
	if (r < 0)
		return r;
	if (n->ok == 0 && n->timeout >= BAD_RUNS)
		return answer(w, WANT_SLOW, "timeout", title);
	if (n->ok == 0 && n->boot_failed + n->crashed >= BAD_RUNS)
		return answer(w, WANT_SKIPPED, n->crashed > n->boot_failed ? "crashed" : "boot-failed", title);
	if (n->ok > 0 && n->timeout + n->boot_failed + n->crashed + n->other > 2 * (int64_t)runs)
		return answer(w, WANT_BROKEN, "infra", title);
	return answer(w, WANT_PENDING, "ok", NULL);
}

static int want_runs(struct engine *e, const struct want *want, const struct target *t, const struct build *build, bool ask,
		     struct error *err, struct want_result *w)
{
	struct run_counts n;
	int r = weigh_runs(e->db, t->hash, build->signature, want->runs, &n, w);
	int64_t all = r < 0 ? 0 : n.ok + n.timeout + n.boot_failed + n.crashed + n.other;

	if (r >= 0 && want->ended)
		r = answer(w, all >= (int64_t)want->runs ? WANT_MET : WANT_PENDING, "ok", NULL);
	if (r < 0)
		return error_errno(err, r, "database");
	if (w->state != WANT_PENDING || !ask)
		return 0;
	if (!w->stored)
		return want_file_back(e, want, err, w);
	return queue_runs(e, want, t, build, want->ended ? all : n.ok, all, err, w);
}

int plan_look_image(struct db *db, const char *series, const char *signature, unsigned runs, struct want_result *ret)
{
	struct want_result w = { 0 };
	struct run_counts n;
	int r = weigh_runs(db, series, signature, runs, &n, &w);

	if (r < 0) {
		want_result_done(&w);
		return r;
	}
	*ret = w;
	return 0;
}

int plan_run_ended(struct engine *e, const char *series, const char *signature)
{
	_cleanup_free_ char *prefix = run_prefix(series, signature);
	_cleanup_(want_result_done) struct want_result w = { 0 };
	int r = prefix ? plan_look_image(e->db, series, signature, 1, &w) : -ENOMEM;

	if (r < 0 || (w.state != WANT_SKIPPED && w.state != WANT_SLOW))
		return r;
	return db_job_cancel_prefix(e->db, prefix, now_wall_ns());
}

int plan_runs_under_way(struct engine *e, const char *series, const char *signature, int64_t *ret)
{
	_cleanup_free_ char *prefix = run_prefix(series, signature);

	return prefix ? db_job_unfinished(e->db, prefix, ret) : -ENOMEM;
}

static int plan(struct engine *e, const struct want *want, bool ask, struct error *err, struct want_result *ret)
{
	_cleanup_(want_result_done) struct want_result w = { 0 };
	_cleanup_(db_build_done) struct build build = { 0 };
	const struct target *t;
	int r = want_image(e, want, ask, err, &build, &w);

	if (r < 0)
		return r;
	w.stored = r > 0 && fs_exists(build.kernel);
	if (r > 0 && want->runs == 0) {
		r = answer(&w, WANT_MET, "ok", NULL);
	} else if (r > 0) {
		r = target_get(e, want->arch, want->workload, want->class, err, &t);
		if (r < 0)
			return r;
		if (str_set(&w.series, t->hash) < 0)
			return error_errno(err, -ENOMEM, "plan");
		r = want_runs(e, want, t, &build, ask, err, &w);
	}
	if (r < 0)
		return r;
	if (str_set(&w.signature, build.signature) < 0)
		return error_errno(err, -ENOMEM, "plan");
	*ret = w;
	w = (struct want_result){ 0 };
	return 0;
}

int plan_look(struct engine *e, const struct want *want, struct error *err, struct want_result *ret)
{
	return plan(e, want, false, err, ret);
}

int plan_want(struct engine *e, const struct want *want, struct error *err, struct want_result *ret)
{
	return plan(e, want, true, err, ret);
}
