// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/task.h"

#include "lib/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#define LINE_MAX_BYTES (4 * 1024 * 1024)
#define STDERR_TAIL 2000

struct task {
	struct task_callbacks callbacks;
	struct child child;
	struct json_lines lines;
	int out_fd, err_fd;
	bool timed_out;
	sd_event_source *out_source, *end_source, *time_source;
};

struct task *task_free(struct task *t)
{
	if (!t)
		return NULL;
	(void)sd_event_source_disable_unref(t->out_source);
	(void)sd_event_source_disable_unref(t->end_source);
	(void)sd_event_source_disable_unref(t->time_source);
	child_done(&t->child);
	(void)close_fd(t->out_fd);
	(void)close_fd(t->err_fd);
	json_lines_done(&t->lines);
	free(t);
	return NULL;
}

/* Reads a piece of what is there: 1 got some, 0 end of file, -EAGAIN nothing now. */
static int read_some(struct task *t)
{
	char block[16384];
	ssize_t n = read(t->out_fd, block, sizeof(block));

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : 0;
	if (n == 0)
		return 0;
	(void)json_lines_feed(&t->lines, block, (size_t)n);
	for (;;) {
		_cleanup_json_ json_t *line = NULL;

		if (json_lines_next(&t->lines, &line) <= 0)
			break;
		if (t->callbacks.on_line)
			t->callbacks.on_line(t, line, t->callbacks.userdata);
	}
	return 1;
}

static int on_out(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct task *t = userdata;

	(void)fd;
	(void)events;
	if (read_some(t) == 0)
		(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	return 0;
}

static char *stderr_tail(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	off_t from = MAX(size - STDERR_TAIL, (off_t)0);
	char block[STDERR_TAIL];
	ssize_t n = pread(fd, block, sizeof(block), from);

	while (n > 0 && block[n - 1] == '\n')
		n--;
	return str_sanitize(block, n > 0 ? (size_t)n : 0);
}

static int on_child_end(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct task *t = userdata;
	_cleanup_free_ char *tail = NULL;
	struct task_end end = { 0 };

	(void)fd;
	(void)events;
	(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	(void)child_kill(&t->child, SIGKILL); /* what it left behind in its group */
	(void)child_wait(&t->child, &end.status);
	while (read_some(t) > 0)
		;
	tail = stderr_tail(t->err_fd);
	end.timed_out = t->timed_out;
	end.stderr_tail = tail ? tail : "";
	t->callbacks.on_end(t, &end, t->callbacks.userdata);
	return 0;
}

static int on_timeout(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct task *t = userdata;

	(void)source;
	(void)usec;
	t->timed_out = true;
	(void)child_kill(&t->child, SIGKILL);
	return 0;
}

/* The whole input in memory: the child may read it when it likes, we never block on its pipe. */
static int input_fd(const json_t *input)
{
	_cleanup_close_ int fd = memfd_create("mmbisect-job", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = json_write_line(fd, input);
	if (r < 0)
		return r;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	return TAKE_FD(fd);
}

static int add_sources(struct task *t, sd_event *loop, uint64_t timeout_ns)
{
	int r = sd_event_add_io(loop, &t->out_source, t->out_fd, EPOLLIN, on_out, t);

	if (r >= 0)
		r = sd_event_add_io(loop, &t->end_source, t->child.pidfd, EPOLLIN, on_child_end, t);
	/* Lines before the end. */
	if (r >= 0)
		r = sd_event_source_set_priority(t->end_source, SD_EVENT_PRIORITY_NORMAL + 10);
	if (r >= 0 && timeout_ns)
		r = sd_event_add_time_relative(loop, &t->time_source, CLOCK_MONOTONIC, timeout_ns / 1000, 100000,
					       on_timeout, t);
	return r;
}

int task_start(sd_event *loop, const struct spawn_options *options, const json_t *input, uint64_t timeout_ns,
	       const struct task_callbacks *callbacks, struct error *err, struct task **ret)
{
	_cleanup_(task_freep) struct task *t = calloc(1, sizeof(*t));
	_cleanup_close_ int in_fd = -1, write_end = -1;
	struct spawn_options o = *options;
	int pipe_fds[2], r;

	if (!t)
		return error_errno(err, -ENOMEM, "%s", options->argv[0]);
	t->callbacks = *callbacks;
	t->child = CHILD_INIT;
	t->lines = JSON_LINES_INIT(LINE_MAX_BYTES);
	t->out_fd = -1;
	t->err_fd = memfd_create("mmbisect-stderr", MFD_CLOEXEC);
	if (t->err_fd < 0 || pipe2(pipe_fds, O_CLOEXEC) < 0)
		return error_errno(err, -errno, "%s", options->argv[0]);
	t->out_fd = pipe_fds[0];
	write_end = pipe_fds[1];
	(void)fcntl(t->out_fd, F_SETFL, O_NONBLOCK);
	if (input) {
		in_fd = input_fd(input);
		if (in_fd < 0)
			return error_errno(err, in_fd, "%s", options->argv[0]);
		o.stdin_fd = in_fd;
	}
	o.stdout_fd = write_end;
	o.stderr_fd = t->err_fd;
	r = spawn(&o, err, &t->child);
	if (r < 0)
		return r;
	r = add_sources(t, loop, timeout_ns);
	if (r < 0)
		return error_errno(err, r, "%s: event loop", options->argv[0]);
	*ret = TAKE_PTR(t);
	return 0;
}
