/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_TASK_H
#define MMB_TASK_H

/*
 * A child process inside the event loop: one JSON object goes to its stdin, JSON lines come from its stdout, its end is told
 * once. Used for workers (executor-local.c), ref listings and fetches (watch.c).
 *
 * The task owns the child; task_free() kills it. Callbacks run from the loop, never from task_start(). `on_end` is the
 * last one and may free the task.
 */
#include "lib/error.h"
#include "lib/json.h"
#include "lib/spawn.h"

#include <systemd/sd-event.h>

struct task;

struct task_end {
	int status;		  /* exit status, 128 + signal */
	bool timed_out;
	const char *stderr_tail; /* last lines of its stderr, sanitised; "" when none */
};

struct task_callbacks {
	void (*on_line)(struct task *task, json_t *line, void *userdata); /* line is borrowed */
	void (*on_end)(struct task *task, const struct task_end *end, void *userdata);
	void *userdata;
};

/* input may be NULL; timeout_ns 0: none. */
int task_start(sd_event *loop, const struct spawn_options *options, const json_t *input, uint64_t timeout_ns,
	       const struct task_callbacks *callbacks, struct error *err, struct task **ret);
struct task *task_free(struct task *task);
DEFINE_CLEANUP(struct task *, task_free);

#endif
