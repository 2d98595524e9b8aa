// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/spawn.h"

#include "lib/clock.h"
#include "lib/fs.h"
#include "lib/str.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define ERR_TAIL_MAX 16384

extern char **environ;

/* Everything below runs between fork and exec: only async-signal-safe calls, failure is told by the exec error pipe. */
static int child_fds(const struct spawn_options *o)
{
	const int wanted[3] = { o->stdin_fd, o->stdout_fd, o->stderr_fd };
	int moved[3];

	/* First out of the way of 0..2, so that no dup2 overwrites one that is still needed. */
	for (int i = 0; i < 3; i++) {
		int fd = wanted[i];

		if (fd < 0 && i == 2)
			fd = STDERR_FILENO;
		if (fd < 0)
			fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		moved[i] = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (moved[i] < 0)
			return -errno;
	}
	for (int i = 0; i < 3; i++)
		if (dup2(moved[i], i) < 0)
			return -errno;
	/* Also those that we were started with ourselves and know nothing of. */
	if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		return -errno;
	for (size_t i = 0; i < o->n_pass_fds; i++)
		if (fcntl(o->pass_fds[i], F_SETFD, 0) < 0)
			return -errno;
	return 0;
}

static int child_setup(const struct spawn_options *o, pid_t parent)
{
	struct sigaction sa = { .sa_handler = SIG_DFL };
	sigset_t none;
	int r;

	for (int s = 1; s < NSIG; s++)
		(void)sigaction(s, &sa, NULL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setpgid(0, 0);
	r = child_fds(o);
	if (r < 0)
		return r;
	if (o->cwd && chdir(o->cwd) < 0)
		return -errno;
	if (o->uid && (setgroups(0, NULL) < 0 || setresgid(o->uid, o->uid, o->uid) < 0 ||
		       setresuid(o->uid, o->uid, o->uid) < 0))
		return -errno;
	/* After the change of user, which clears it. The parent may be gone already. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	if (getppid() != parent)
		return -ESRCH;
	return 0;
}

static int merged_env(const struct spawn_options *o, char ***ret)
{
	size_t n = 0, m = 0;
	char **env;

	while (environ[n])
		n++;
	while (o->extra_env && o->extra_env[m])
		m++;
	env = calloc(n + m + 1, sizeof(*env));
	if (!env)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; environ[i]; i++) {
		bool replaced = false;

		for (size_t k = 0; k < m; k++)
			replaced |= strncmp(environ[i], o->extra_env[k],
					    strcspn(o->extra_env[k], "=") + 1) == 0;
		if (!replaced)
			env[n++] = environ[i];
	}
	for (size_t k = 0; k < m; k++)
		env[n++] = (char *)(uintptr_t)o->extra_env[k];
	*ret = env;
	return 0;
}

static void run_child(const struct spawn_options *o, const char *program, char *const *env, pid_t parent,
		      int error_fd)
{
	int r = child_setup(o, parent);

	if (r >= 0) {
		(void)execve(program, (char *const *)(uintptr_t)o->argv, env);
		r = -errno;
	}
	if (write(error_fd, &r, sizeof(r)) < 0)
		_exit(126);
	_exit(127);
}

int spawn(const struct spawn_options *options, struct error *err, struct child *ret)
{
	_cleanup_close_ int error_read = -1, error_write = -1;
	_cleanup_free_ char *program = NULL;
	_cleanup_free_ char **merged = NULL;
	char *const *env = (char *const *)(uintptr_t)options->env;
	pid_t parent = getpid(), pid;
	int pipe_fds[2], failure = 0, r;
	ssize_t n;

	r = fs_find_program(options->argv[0], &program);
	if (r < 0)
		return error_set(err, r, "%s: program not found", options->argv[0]);
	if (!env) {
		r = merged_env(options, &merged);
		if (r < 0)
			return error_errno(err, r, "%s", options->argv[0]);
		env = merged;
	}
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return error_errno(err, -errno, "pipe");
	error_read = pipe_fds[0];
	error_write = pipe_fds[1];
	pid = fork();
	if (pid < 0)
		return error_errno(err, -errno, "fork");
	if (pid == 0)
		run_child(options, program, env, parent, error_write);
	(void)setpgid(pid, pid); /* also here: whoever comes first */
	error_write = close_fd(error_write);
	do {
		n = read(error_read, &failure, sizeof(failure));
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof(failure)) {
		(void)waitpid(pid, NULL, 0);
		return error_errno(err, failure, "cannot start %s", options->argv[0]);
	}
	ret->pid = pid;
	ret->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (ret->pidfd < 0) {
		r = -errno;
		(void)kill(-pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		*ret = CHILD_INIT;
		return error_errno(err, r, "pidfd_open");
	}
	(void)fcntl(ret->pidfd, F_SETFD, FD_CLOEXEC);
	return 0;
}

int child_wait(struct child *child, int *ret_status)
{
	siginfo_t info = { 0 };

	if (child->pid <= 0)
		return -ECHILD;
	while (waitid(P_PID, (id_t)child->pid, &info, WEXITED) < 0)
		if (errno != EINTR)
			return -errno;
	child->pid = 0;
	child->pidfd = close_fd(child->pidfd);
	*ret_status = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
	return 0;
}

int child_wait_timeout(struct child *child, uint64_t timeout_ns, int *ret_status)
{
	struct pollfd p = { .fd = child->pidfd, .events = POLLIN };
	uint64_t end = now_mono_ns() + timeout_ns;
	int r;

	if (child->pid <= 0)
		return -ECHILD;
	for (;;) {
		uint64_t now = now_mono_ns();

		r = poll(&p, 1, now >= end ? 0 : (int)MIN((end - now) / NSEC_PER_MSEC + 1, UINT64_C(60000)));
		if (r > 0)
			break;
		if (r < 0 && errno != EINTR)
			return -errno;
		if (now >= end)
			return 0;
	}
	r = child_wait(child, ret_status);
	return r < 0 ? r : 1;
}

int child_kill(const struct child *child, int signal)
{
	if (child->pid <= 0)
		return -ESRCH;
	return kill(-child->pid, signal) < 0 ? -errno : 0;
}

void child_done(struct child *child)
{
	int status;

	if (child->pid > 0) {
		(void)child_kill(child, SIGKILL);
		(void)child_wait(child, &status);
	}
	child->pidfd = close_fd(child->pidfd);
	child->pid = 0;
}

struct talk {
	const char *input;
	size_t input_left;
	size_t max;
	int in_fd, out_fd, err_fd;
	struct str out, err;
};

static void talk_done(struct talk *t)
{
	t->in_fd = close_fd(t->in_fd);
	t->out_fd = close_fd(t->out_fd);
	t->err_fd = close_fd(t->err_fd);
	str_done(&t->out);
	str_done(&t->err);
}

static int talk_read(int *fd, struct str *into, size_t max, bool keep_tail)
{
	char block[16384];
	ssize_t n = read(*fd, block, sizeof(block));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	if (n == 0) {
		*fd = close_fd(*fd);
		return 0;
	}
	if (keep_tail && into->len + (size_t)n > max) {
		size_t cut = MIN(into->len, into->len + (size_t)n - max / 2);

		if (into->len) {
			memmove(into->data, into->data + cut, into->len - cut + 1);
			into->len -= cut;
		}
	} else if (into->len + (size_t)n > max) {
		return -EFBIG;
	}
	return str_add_mem(into, block, (size_t)n);
}

static int talk_write(struct talk *t)
{
	ssize_t n = write(t->in_fd, t->input, t->input_left);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n < 0) { /* EPIPE: it does not want to read; its exit status tells the rest */
		t->in_fd = close_fd(t->in_fd);
		return 0;
	}
	t->input += n;
	t->input_left -= (size_t)n;
	if (!t->input_left)
		t->in_fd = close_fd(t->in_fd);
	return 0;
}

/* One piece of whatever is ready; p: stdout, stderr, stdin. */
static int talk_piece(struct talk *t, const struct pollfd p[3])
{
	int r = 0;

	if (p[0].revents)
		r = talk_read(&t->out_fd, &t->out, t->max, false);
	if (r >= 0 && p[1].revents)
		r = talk_read(&t->err_fd, &t->err, ERR_TAIL_MAX, true);
	if (r >= 0 && p[2].revents)
		r = talk_write(t);
	return r;
}

/* Until the child has ended, not until its pipes are closed: it may close them early, or leave them to one it started. */
static int talk_loop(struct talk *t, const struct child *child, uint64_t deadline_ns)
{
	bool ended = false;

	for (;;) {
		struct pollfd p[4] = { { .fd = t->out_fd, .events = POLLIN },
				       { .fd = t->err_fd, .events = POLLIN },
				       { .fd = t->in_fd, .events = POLLOUT },
				       { .fd = ended ? -1 : child->pidfd, .events = POLLIN } };
		uint64_t now = now_mono_ns();
		int wait_ms = -1, r;

		if (deadline_ns && now >= deadline_ns)
			return ended ? 0 : -ETIMEDOUT;
		if (deadline_ns)
			wait_ms = (int)MIN((deadline_ns - now) / NSEC_PER_MSEC + 1, UINT64_C(60000));
		r = poll(p, 4, ended ? 0 : wait_ms);
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r == 0 && ended)
			return 0; /* what it said is read */
		if (r <= 0)
			continue;
		r = talk_piece(t, p);
		if (r < 0)
			return r;
		if (p[3].revents) {
			(void)child_kill(child, SIGKILL); /* what it left behind in its group */
			t->in_fd = close_fd(t->in_fd);
			ended = true;
		}
	}
}

static int talk_pipes(struct talk *t, struct spawn_options *o, int child_ends[3])
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return -errno;
	t->out_fd = p[0];
	child_ends[1] = o->stdout_fd = p[1];
	if (pipe2(p, O_CLOEXEC) < 0)
		return -errno;
	t->err_fd = p[0];
	child_ends[2] = o->stderr_fd = p[1];
	if (t->input) {
		if (pipe2(p, O_CLOEXEC) < 0)
			return -errno;
		t->in_fd = p[1];
		child_ends[0] = o->stdin_fd = p[0];
		(void)fcntl(t->in_fd, F_SETFL, O_NONBLOCK);
	}
	return 0;
}

int spawn_communicate(const struct spawn_options *options, const char *input, size_t input_len, size_t max,
		      uint64_t timeout_ns, struct error *err, int *ret_status, char **ret_out,
		      size_t *ret_out_len, char **ret_err_text)
{
	_cleanup_(talk_done) struct talk t = { .input = input, .input_left = input_len, .max = max, .in_fd = -1,
					       .out_fd = -1, .err_fd = -1, .out = STR_INIT, .err = STR_INIT };
	_cleanup_child_ struct child child = CHILD_INIT;
	struct spawn_options o = *options;
	int ends[3] = { -1, -1, -1 };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	int r;

	r = talk_pipes(&t, &o, ends);
	if (r >= 0)
		r = spawn(&o, err, &child);
	else
		(void)error_errno(err, r, "pipe");
	for (int i = 0; i < 3; i++)
		(void)close_fd(ends[i]);
	if (r < 0)
		return r;
	(void)sigaction(SIGPIPE, &ignore, &old);
	r = talk_loop(&t, &child, timeout_ns ? now_mono_ns() + timeout_ns : 0);
	(void)sigaction(SIGPIPE, &old, NULL);
	if (r < 0)
		return error_errno(err, r, "%s", options->argv[0]);
	r = child_wait(&child, ret_status);
	if (r < 0)
		return error_errno(err, r, "%s", options->argv[0]);
	if (ret_out_len)
		*ret_out_len = t.out.len;
	if (ret_out && !(*ret_out = str_take(&t.out)))
		return error_errno(err, -ENOMEM, "%s", options->argv[0]);
	if (ret_err_text)
		*ret_err_text = str_take(&t.err);
	return 0;
}

int spawn_capture(const struct spawn_options *options, size_t max, uint64_t timeout_ns, struct error *err,
		  int *ret_status, char **ret_out, size_t *ret_out_len, char **ret_err_text)
{
	return spawn_communicate(options, NULL, 0, max, timeout_ns, err, ret_status, ret_out, ret_out_len,
				 ret_err_text);
}
