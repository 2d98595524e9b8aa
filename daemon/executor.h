/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_EXECUTOR_H
#define MMB_EXECUTOR_H

/*
 * How a worker is started: submit, poll, cancel, and how many at once. `local` (executor-local.c) starts a child of this process; a batch system
 * such as Slurm fits behind the same four. The executor calls `notify` from the event loop whenever a poll would show
 * something new; it never decides what to do about it.
 */
#include "lib/error.h"
#include "lib/json.h"

#include <systemd/sd-event.h>

enum executor_state { EXECUTOR_RUNNING, EXECUTOR_ENDED };

struct executor_status {
	enum executor_state state;
	const json_t *progress; /* newest progress object, or NULL; borrowed until the next call */
	const json_t *result;	/* result object of an ended job, or NULL: it ended without one; borrowed */
	const char *error;	/* why there is no result; borrowed */
};

struct executor_job {
	const char *program; /* worker, by name: mmbisect-build */
	const json_t *spec;
	uint64_t limit_ns; /* hard limit: the worker has its own, this one is for a worker that hangs; 0 none */
};

struct executor;
typedef void (*executor_notify_fn)(uint64_t handle, void *userdata);

struct executor_ops {
	int (*submit)(struct executor *executor, const struct executor_job *job, struct error *err, uint64_t *ret_handle);
	int (*poll)(struct executor *executor, uint64_t handle, struct executor_status *ret); /* -ENOENT */
	int (*cancel)(struct executor *executor, uint64_t handle);			      /* ends it and forgets it */
	/* How many jobs of a class (build, exact, time) it can work on at once; at least 1. */
	unsigned (*slots)(const struct executor *executor, const char *class);
	void (*free)(struct executor *executor);
};

struct executor {
	const struct executor_ops *ops;
};

static inline struct executor *executor_free(struct executor *e)
{
	if (e)
		e->ops->free(e);
	return NULL;
}

static inline unsigned executor_slots(const struct executor *e, const char *class)
{
	return e->ops->slots(e, class);
}

/*
 * Children of this process; bin_dir holds the workers. parallel: jobs at a time, 0: as many as the host has cores. time_hosts: runs of
 * class time at a time, 0: 1, as each of them has the host for itself; more only where a worker hands its run on to another host.
 */
struct executor_limits {
	unsigned parallel, time_hosts;
};
int executor_new_local(sd_event *loop, const char *bin_dir, const struct executor_limits *limits, executor_notify_fn notify,
		       void *userdata, struct executor **ret);

#endif
