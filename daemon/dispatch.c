// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/dispatch.h"

#include "daemon/plan.h"
#include "daemon/record.h"
#include "daemon/target.h"
#include "db/job.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/str.h"

#include <sys/random.h>

#define ATTEMPTS_MAX 3
#define RETRY_PAUSE_NS (2 * NSEC_PER_SEC)
/* A worker has its own limit; this much later it is taken for hung. */
#define HUNG_NS (120 * NSEC_PER_SEC)

static void running_free(struct running *run)
{
	free(run->kind);
	free(run->class);
	free(run->oid);
	free(run->subject);
	json_decref(run->spec);
	free(run);
}

static void unlink_running(struct engine *e, struct running *run)
{
	for (struct running **at = &e->running; *at; at = &(*at)->next)
		if (*at == run) {
			*at = run->next;
			return;
		}
}

/* May a job of this class start beside what runs? */
static bool fits(const struct engine *e, const char *class)
{
	unsigned n = 0, alike = 0;
	bool time = str_eq(class, "time");

	for (const struct running *run = e->running; run; run = run->next, n++) {
		if (str_eq(run->class, "time") != time)
			return false;
		alike += str_eq(run->class, class);
	}
	return alike < executor_slots(e->executor, class) && (time || n < executor_slots(e->executor, "exact"));
}

static int set_strings(struct engine *e, const struct job *job, json_t *spec)
{
	_cleanup_free_ char *log = str_format("%s/%s-%lld.%s", e->paths.logs, job->kind, (long long)job->id,
					      str_eq(job->kind, "build") ? "log" : "console");
	_cleanup_free_ char *slot = str_format("%s/0", e->paths.slots);
	uint64_t nonce;
	char text[32];

	if (!log || !slot)
		return -ENOMEM;
	if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce))
		return -EIO;
	(void)snprintf(text, sizeof(text), "%lld", (long long)job->id);
	(void)json_object_set_new(spec, "id", json_string(text));
	if (str_eq(job->kind, "build")) {
		(void)json_object_set_new(spec, "slot", json_string(slot));
		(void)json_object_set_new(spec, "log", json_string(log));
		return 0;
	}
	(void)snprintf(text, sizeof(text), "%016llx", (unsigned long long)nonce);
	(void)json_object_set_new(spec, "nonce", json_string(text));
	(void)json_object_set_new(spec, "console", json_string(log));
	return 0;
}

static int make_running(struct engine *e, const struct job *job, struct running **ret)
{
	struct running *run = calloc(1, sizeof(*run));
	_cleanup_(commit_done) struct commit commit = { 0 };
	int r = run ? 0 : -ENOMEM;

	if (r < 0)
		return r;
	run->job_id = job->id;
	run->attempts = job->attempts + 1;
	run->started_ns = now_mono_ns();
	run->spec = json_loads(job->spec, 0, NULL);
	(void)repo_commit(e->repo, job->oid, NULL, &commit);
	if (!run->spec || str_set(&run->kind, job->kind) < 0 || str_set(&run->class, job->class) < 0 ||
	    str_set(&run->oid, job->oid) < 0 || str_set(&run->subject, commit.subject ? commit.subject : "") < 0)
		r = -ENOMEM;
	if (r >= 0)
		r = set_strings(e, job, run->spec);
	if (r < 0) {
		running_free(run);
		return r;
	}
	*ret = run;
	return 0;
}

/* A job of another toolchain, config or guest than today's: what wants it asks anew, in today's terms. */
static int drop_job(struct engine *e, const struct job *job, struct error *err)
{
	int r = db_job_lease(e->db, job->id, "dropped", now_wall_ns(), now_wall_ns());

	if (r >= 0)
		r = db_job_end(e->db, job->id, "cancelled", "made for another toolchain, config or guest", now_wall_ns());
	if (r < 0)
		return error_errno(err, r, "database");
	engine_wake(e);
	return 0;
}

static int start_job(struct engine *e, const struct job *job, struct error *err)
{
	struct running *run;
	struct executor_job ej = { 0 };
	char owner[32];
	uint64_t limit_ns, now = now_wall_ns();
	int r = make_running(e, job, &run);

	if (r < 0)
		return error_errno(err, r, "job %lld", (long long)job->id);
	r = target_job_current(e, run->spec, err);
	if (r <= 0) {
		running_free(run);
		return r < 0 ? r : drop_job(e, job, err);
	}
	limit_ns = (uint64_t)json_get_int(run->spec, "limit_seconds", 3600) * NSEC_PER_SEC + HUNG_NS;
	(void)snprintf(owner, sizeof(owner), "pid %d", getpid());
	r = db_job_lease(e->db, job->id, owner, now, now + limit_ns);
	if (r < 0) {
		running_free(run);
		return error_errno(err, r, "leasing job %lld", (long long)job->id);
	}
	ej = (struct executor_job){ .program = str_eq(job->kind, "build") ? "mmbisect-build" : "mmbisect-run",
				    .spec = run->spec,
				    .limit_ns = limit_ns };
	r = e->executor->ops->submit(e->executor, &ej, err, &run->handle);
	if (r < 0) {
		running_free(run);
		return r;
	}
	run->next = e->running;
	e->running = run;
	log_debug("job %lld: %s %.12s", (long long)job->id, job->class, job->oid);
	return 0;
}

static int on_retry_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	engine_wake(userdata);
	return 0;
}

static void wake_at(struct engine *e, uint64_t pause_ns)
{
	(void)sd_event_source_disable_unref(e->retry_source);
	e->retry_source = NULL;
	(void)sd_event_add_time_relative(e->loop, &e->retry_source, CLOCK_MONOTONIC, pause_ns / 1000 + 1000, 0, on_retry_time, e);
}

int dispatch_start(struct engine *e, struct error *err)
{
	_cleanup_(job_list_done) struct job_list jobs = { 0 };
	uint64_t now = now_wall_ns();
	int r = db_job_list(e->db, "queued", &jobs);

	if (r < 0)
		return error_errno(err, r, "database");
	for (size_t i = 0; i < jobs.n; i++) {
		const struct job *job = &jobs.items[i];

		/* A time further away than any pause of ours was written before the clock was set back. */
		if ((uint64_t)job->not_before_ns > now &&
		    (uint64_t)job->not_before_ns - now <= ATTEMPTS_MAX * RETRY_PAUSE_NS) {
			wake_at(e, (uint64_t)job->not_before_ns - now);
			continue;
		}
		if (!fits(e, job->class)) {
			/* A time run that waits for a quiet host must not be overtaken for ever. */
			if (str_eq(job->class, "time"))
				break;
			continue;
		}
		r = start_job(e, job, err);
		if (r < 0)
			return r;
	}
	if (e->on_progress)
		e->on_progress(e, e->userdata);
	return 0;
}

/* Not the commit's fault: again, or given up. */
static int record_infra(struct engine *e, const struct running *run, const char *text)
{
	_cleanup_free_ char *why = str_sanitize_line(text, strcspn(text, "\n"));
	uint64_t now = now_wall_ns();

	if (!why)
		return -ENOMEM;
	log_warning("%s of %.12s: %s%s", run->kind, run->oid, why, run->attempts < ATTEMPTS_MAX ? "; will be tried again" : "");
	if (run->attempts < ATTEMPTS_MAX)
		return db_job_retry(e->db, run->job_id, why, now + RETRY_PAUSE_NS * (uint64_t)run->attempts);
	return db_job_end(e->db, run->job_id, "failed", why, now);
}

static int record_end(struct engine *e, const struct running *run, const struct executor_status *status)
{
	const char *word = json_get_string(status->result, "status");
	const char *why = json_get_string(status->result, "error");
	int r;

	if (!word || str_eq(word, "infra"))
		return record_infra(e, run, why ? why : status->error ? status->error : "no result");
	r = str_eq(run->kind, "build") ? record_build(e, run, status->result) : record_run(e, run, status->result);
	if (r == -EBADMSG)
		return record_infra(e, run, "the worker's result is malformed");
	if (r >= 0 && str_eq(run->kind, "run"))
		r = plan_run_ended(e, json_get_string(run->spec, "series"), json_get_string(run->spec, "signature"));
	return r;
}

static void note_progress(struct running *run, const json_t *progress)
{
	const char *phase = json_get_string(progress, "phase");

	if (!phase)
		return;
	(void)snprintf(run->phase, sizeof(run->phase), "%s", phase);
	run->done = json_get_int(progress, "done", 0);
	run->total = json_get_int(progress, "total", 0);
}

void dispatch_notify(uint64_t handle, void *userdata)
{
	struct engine *e = userdata;
	struct executor_status status;
	struct running *run = e->running;
	int r;

	while (run && run->handle != handle)
		run = run->next;
	if (!run || e->executor->ops->poll(e->executor, handle, &status) < 0)
		return;
	if (status.state == EXECUTOR_RUNNING) {
		note_progress(run, status.progress);
		if (e->on_progress)
			e->on_progress(e, e->userdata);
		return;
	}
	unlink_running(e, run);
	r = record_end(e, run, &status);
	running_free(run);
	(void)e->executor->ops->cancel(e->executor, handle);
	if (r < 0)
		engine_fail(e, r);
	engine_wake(e);
}

void dispatch_stop(struct engine *e)
{
	while (e->running) {
		struct running *run = e->running;

		e->running = run->next;
		(void)e->executor->ops->cancel(e->executor, run->handle);
		running_free(run);
	}
}
