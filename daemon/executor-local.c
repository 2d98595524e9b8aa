// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/executor.h"

#include "daemon/task.h"

struct local_job {
	struct local *owner;
	uint64_t handle;
	struct task *task; /* NULL once ended */
	json_t *progress, *result;
	char *error;
	struct local_job *next;
};

struct local {
	struct executor base;
	sd_event *loop;
	char *bin_dir;
	struct executor_limits limits;
	executor_notify_fn notify;
	void *userdata;
	uint64_t last_handle;
	struct local_job *jobs;
};

static struct local *as_local(struct executor *e)
{
	return (struct local *)e; /* base is the first member */
}

static void local_job_free(struct local_job *j)
{
	(void)task_free(j->task);
	json_decref(j->progress);
	json_decref(j->result);
	free(j->error);
	free(j);
}

static struct local_job *find_job(struct local *l, uint64_t handle)
{
	for (struct local_job *j = l->jobs; j; j = j->next)
		if (j->handle == handle)
			return j;
	return NULL;
}

static void on_line(struct task *task, json_t *line, void *userdata)
{
	struct local_job *j = userdata;
	json_t *progress = json_object_get(line, "progress"), *result = json_object_get(line, "result");

	(void)task;
	if (json_is_object(progress)) {
		json_decref(j->progress);
		j->progress = json_incref(progress);
		j->owner->notify(j->handle, j->owner->userdata);
	}
	if (json_is_object(result)) {
		json_decref(j->result);
		j->result = json_incref(result);
	}
}

static void on_end(struct task *task, const struct task_end *end, void *userdata)
{
	struct local_job *j = userdata;

	if (end->timed_out || end->status != 0) { /* what it said before is no result then */
		json_decref(j->result);
		j->result = NULL;
	}
	if (!j->result)
		j->error = str_format("worker %s %d%s%s", end->timed_out ? "overran its limit, status" : "ended with status",
				      end->status, *end->stderr_tail ? ": " : " and no result", end->stderr_tail);
	j->task = task_free(task);
	j->owner->notify(j->handle, j->owner->userdata);
}

static int local_submit(struct executor *executor, const struct executor_job *job, struct error *err, uint64_t *ret_handle)
{
	struct local *l = as_local(executor);
	_cleanup_free_ char *program = str_format("%s/%s", l->bin_dir, job->program);
	struct local_job *j = calloc(1, sizeof(*j));
	const char *argv[] = { program, NULL };
	struct spawn_options options = SPAWN_OPTIONS_INIT;
	const struct task_callbacks callbacks = { .on_line = on_line, .on_end = on_end, .userdata = j };
	int r;

	if (!program || !j) {
		free(j);
		return error_errno(err, -ENOMEM, "%s", job->program);
	}
	options.argv = argv;
	j->owner = l;
	j->handle = ++l->last_handle;
	r = task_start(l->loop, &options, job->spec, job->limit_ns, &callbacks, err, &j->task);
	if (r < 0) {
		free(j);
		return r;
	}
	j->next = l->jobs;
	l->jobs = j;
	*ret_handle = j->handle;
	return 0;
}

static int local_poll(struct executor *executor, uint64_t handle, struct executor_status *ret)
{
	const struct local_job *j = find_job(as_local(executor), handle);

	if (!j)
		return -ENOENT;
	*ret = (struct executor_status){ .state = j->task ? EXECUTOR_RUNNING : EXECUTOR_ENDED,
					 .progress = j->progress,
					 .result = j->result,
					 .error = j->error };
	return 0;
}

static int local_cancel(struct executor *executor, uint64_t handle)
{
	struct local *l = as_local(executor);

	for (struct local_job **at = &l->jobs; *at; at = &(*at)->next) {
		struct local_job *j = *at;

		if (j->handle != handle)
			continue;
		*at = j->next;
		local_job_free(j);
		return 0;
	}
	return -ENOENT;
}

static unsigned local_slots(const struct executor *executor, const char *class)
{
	const struct local *l = (const struct local *)executor;

	if (str_eq(class, "build")) /* it uses all cores itself */
		return 1;
	return str_eq(class, "time") ? l->limits.time_hosts : l->limits.parallel;
}

static void local_free(struct executor *executor)
{
	struct local *l = as_local(executor);

	while (l->jobs) {
		struct local_job *next = l->jobs->next;

		local_job_free(l->jobs);
		l->jobs = next;
	}
	(void)sd_event_unref(l->loop);
	free(l->bin_dir);
	free(l);
}

static const struct executor_ops local_ops = { .submit = local_submit, .poll = local_poll, .cancel = local_cancel,
					       .slots = local_slots, .free = local_free };

int executor_new_local(sd_event *loop, const char *bin_dir, const struct executor_limits *limits, executor_notify_fn notify,
		       void *userdata, struct executor **ret)
{
	struct local *l = calloc(1, sizeof(*l));

	if (!l || str_set(&l->bin_dir, bin_dir) < 0) {
		free(l);
		return -ENOMEM;
	}
	l->base.ops = &local_ops;
	l->loop = sd_event_ref(loop);
	l->limits.parallel = limits->parallel ? limits->parallel : (unsigned)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L);
	l->limits.time_hosts = MAX(limits->time_hosts, 1U);
	l->notify = notify;
	l->userdata = userdata;
	*ret = &l->base;
	return 0;
}
