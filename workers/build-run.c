// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/build-run.h"

#include "lib/clock.h"
#include "lib/fs.h"
#include "lib/str.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#define LOG_MAX (UINT64_C(64) << 20)
#define LINE_MAX_BYTES 4096
#define AFTER_KILL_NS (10 * NSEC_PER_SEC)

static const char log_cut[] = "\n[mmbisect: the log is cut here]\n";

int build_run_open(struct build_run *run, const char *log_path, unsigned limit_seconds, struct error *err)
{
	const char *slash = strrchr(log_path, '/');
	_cleanup_free_ char *folder = strndup(log_path, (size_t)(slash - log_path));
	int r;

	if (!folder)
		return error_errno(err, -ENOMEM, "%s", log_path);
	r = *folder ? fs_mkdir_p(folder, 0755) : 0;
	if (r < 0)
		return error_errno(err, r, "cannot make %s", folder);
	run->log_fd = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (run->log_fd < 0)
		return error_errno(err, -errno, "cannot write %s", log_path);
	run->limit_seconds = limit_seconds;
	run->deadline_ns = now_mono_ns() + limit_seconds * NSEC_PER_SEC;
	return 0;
}

void build_run_done(struct build_run *run)
{
	run->log_fd = close_fd(run->log_fd);
}

uint64_t build_run_left_ns(const struct build_run *run)
{
	uint64_t now = now_mono_ns();

	return now < run->deadline_ns ? run->deadline_ns - now : 0;
}

int build_run_check_time(const struct build_run *run, struct error *err)
{
	if (build_run_left_ns(run))
		return 0;
	return error_set(err, -ETIME, "took longer than %u s", run->limit_seconds);
}

static int log_bytes(struct build_run *run, const char *data, size_t len)
{
	if (run->log_bytes >= LOG_MAX)
		return 0;
	if (run->log_bytes + len > LOG_MAX) {
		data = log_cut;
		len = strlen(log_cut);
		run->log_bytes = LOG_MAX;
	} else {
		run->log_bytes += len;
	}
	while (len) {
		ssize_t n = write(run->log_fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int log_command(struct build_run *run, const char *const *argv)
{
	_cleanup_str_ struct str s = STR_INIT;

	(void)str_add(&s, "+");
	for (; *argv; argv++)
		(void)str_addf(&s, strpbrk(*argv, " \t'\"$\\*") ? " '%s'" : " %s", *argv);
	(void)str_add(&s, "\n");
	return s.failed ? -ENOMEM : log_bytes(run, s.data, s.len);
}

/* Bytes in, lines out. */
struct splitter {
	char line[LINE_MAX_BYTES];
	size_t len;
	build_line_fn fn;
	void *userdata;
};

static void split(struct splitter *s, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = data[i];

		if (c != '\n' && c != '\r') {
			if (s->len < sizeof(s->line) - 1 && c)
				s->line[s->len++] = c;
			continue;
		}
		s->line[s->len] = '\0';
		if (s->len && s->fn)
			s->fn(s->userdata, s->line);
		s->len = 0;
	}
}

/* Reads until all writers are gone or the time is up: 0, -ETIME or another errno. */
static int pump(struct build_run *run, int fd, struct splitter *lines, uint64_t deadline_ns)
{
	char block[65536];

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		uint64_t now = now_mono_ns();
		ssize_t n;
		int r;

		if (now >= deadline_ns)
			return -ETIME;
		r = poll(&p, 1, (int)MIN((deadline_ns - now) / NSEC_PER_MSEC + 1, UINT64_C(60000)));
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r <= 0)
			continue;
		n = read(fd, block, sizeof(block));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		r = log_bytes(run, block, (size_t)n);
		if (r < 0)
			return r;
		split(lines, block, (size_t)n);
	}
	split(lines, "\n", 1);
	return 0;
}

static int start(struct build_run *run, const struct spawn_options *options, struct error *err, struct child *child,
		 int *ret_fd)
{
	struct spawn_options o = *options;
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_errno(err, -errno, "pipe");
	o.stdout_fd = o.stderr_fd = fds[1];
	if (run->lock_fd >= 0 && !o.n_pass_fds) {
		o.pass_fds = &run->lock_fd;
		o.n_pass_fds = 1;
	}
	r = spawn(&o, err, child);
	(void)close(fds[1]);
	if (r < 0) {
		(void)close(fds[0]);
		return r;
	}
	*ret_fd = fds[0];
	return 0;
}

int build_run(struct build_run *run, const struct spawn_options *options, build_line_fn line, void *userdata,
	      struct error *err, int *ret_status)
{
	_cleanup_child_ struct child child = CHILD_INIT;
	_cleanup_close_ int fd = -1;
	struct splitter lines = { .fn = line, .userdata = userdata };
	int r, status;

	r = build_run_check_time(run, err);
	if (r < 0)
		return r;
	r = log_command(run, options->argv);
	if (r < 0)
		return error_errno(err, r, "cannot write the log");
	r = start(run, options, err, &child, &fd);
	if (r < 0)
		return r;
	r = pump(run, fd, &lines, run->deadline_ns);
	if (r >= 0)
		r = child_wait_timeout(&child, build_run_left_ns(run), &status) > 0 ? 0 : -ETIME;
	if (r < 0) {
		/* What it started is gone when nobody holds the pipe any more. */
		(void)child_kill(&child, SIGKILL);
		(void)pump(run, fd, &(struct splitter){ 0 }, now_mono_ns() + AFTER_KILL_NS);
		if (r == -ETIME)
			return error_set(err, r, "took longer than %u s", run->limit_seconds);
		return error_errno(err, r, "%s", options->argv[0]);
	}
	*ret_status = status;
	return 0;
}
