/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_SPAWN_H
#define MMB_SPAWN_H

/*
 * Child processes by pidfd.
 *
 * A child gets exactly the descriptors it is given (all others are O_CLOEXEC), default signal handling, its own process
 * group (so that it can be killed with what it started) and dies with its parent (PR_SET_PDEATHSIG).
 * The pidfd is readable when the child has ended, so it goes straight into an event loop.
 *
 * `struct child` is a value: CHILD_INIT; child_done() kills (SIGKILL, whole group) and reaps what still runs.
 */
#include "lib/cleanup.h"
#include "lib/error.h"

#include <sys/types.h>

struct child {
	pid_t pid; /* 0: none */
	int pidfd; /* owned */
};
#define CHILD_INIT ((struct child){ .pidfd = -1 })

struct spawn_options {
	const char *const *argv; /* argv[0] is looked up in $PATH */
	const char *const *env;  /* NULL: ours; else "KEY=value" list that replaces it */
	const char *const *extra_env; /* added to ours ("KEY=value"), may be NULL; only with env == NULL */
	const char *cwd;         /* NULL: ours */
	int stdin_fd;            /* -1: /dev/null; borrowed */
	int stdout_fd;           /* -1: /dev/null */
	int stderr_fd;           /* -1: ours */
	const int *pass_fds;     /* kept open under the same numbers */
	size_t n_pass_fds;
	uid_t uid; /* 0: keep; else setgroups(), setgid(uid), setuid(uid) */
};
#define SPAWN_OPTIONS_INIT ((struct spawn_options){ .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1 })

/* Starts a child. -ENOENT when the program is not found. */
int spawn(const struct spawn_options *options, struct error *err, struct child *ret);
/* Waits (blocks) for the end. *ret_status: exit status 0..255, or 128 + signal. */
int child_wait(struct child *child, int *ret_status);
/* Waits at most timeout_ns: 1 ended, 0 not yet. */
int child_wait_timeout(struct child *child, uint64_t timeout_ns, int *ret_status);
/* Signals the child's process group. */
int child_kill(const struct child *child, int signal);
void child_done(struct child *child);
#define _cleanup_child_ _cleanup_(child_done)

/*
 * Runs a program to its end and captures its stdout (at most max bytes, else -EFBIG) and the last part of its stderr.
 * Kills it after timeout_ns (-ETIMEDOUT; 0: no limit); what it left behind in its group goes when it ends. Exit status != 0 is
 * not an error here: *ret_status.
 * ret_out, ret_err_text may be NULL; the strings belong to the caller.
 */
int spawn_capture(const struct spawn_options *options, size_t max, uint64_t timeout_ns, struct error *err,
		  int *ret_status, char **ret_out, size_t *ret_out_len, char **ret_err_text);
/* As spawn_capture() with `input` on its stdin (NULL: none). */
int spawn_communicate(const struct spawn_options *options, const char *input, size_t input_len, size_t max,
		      uint64_t timeout_ns, struct error *err, int *ret_status, char **ret_out,
		      size_t *ret_out_len, char **ret_err_text);

#endif
