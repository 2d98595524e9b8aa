// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/simulate/runner.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOBS_MAX 64

struct pool {
	const struct runner *runner;
	pid_t pids[JOBS_MAX];
	struct pollfd fds[JOBS_MAX];
	unsigned n, open;
	struct tally tally;
};

/* A result is smaller than a pipe's atomic write. */
_Static_assert(sizeof(struct trial) <= 512, "results would be torn");

static int child_work(const struct runner *r, unsigned first, int fd)
{
	for (unsigned i = first; i < r->trials; i += r->jobs) {
		struct trial t;
		int code = trial_run(r->world, r->method, r->options, r->seed, r->name, i, &t);

		if (code < 0)
			return -code;
		if (write(fd, &t, sizeof(t)) != (ssize_t)sizeof(t))
			return EIO;
	}
	return 0;
}

static int start_child(struct pool *p, unsigned k)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(fds[0]);
		_exit(getppid() == parent ? child_work(p->runner, k, fds[1]) : EIO);
	}
	int r = -errno;

	(void)close(fds[1]);
	if (pid < 0) {
		(void)close(fds[0]);
		return r;
	}
	p->pids[p->n] = pid;
	p->fds[p->n++] = (struct pollfd){.fd = fds[0], .events = POLLIN};
	p->open++;
	return 0;
}

static int read_result(struct pool *p, struct pollfd *fd)
{
	struct trial t;
	ssize_t n = read(fd->fd, &t, sizeof(t));

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (n == 0) {
		fd->fd = close_fd(fd->fd);
		p->open--;
		return 0;
	}
	if (n != (ssize_t)sizeof(t))
		return -EIO;
	tally_add(&p->tally, &t);
	if (p->runner->progress)
		p->runner->progress(p->runner->userdata, p->tally.trials);
	return 0;
}

static int gather(struct pool *p)
{
	while (p->open > 0) {
		if (poll(p->fds, p->n, -1) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		for (unsigned i = 0; i < p->n; i++) {
			int r = p->fds[i].fd >= 0 && p->fds[i].revents ? read_result(p, &p->fds[i])
								       : 0;

			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* Ends and reaps all; the first error of a process counts. */
static int pool_end(struct pool *p, int r)
{
	for (unsigned i = 0; i < p->n; i++) {
		int status = 0;

		p->fds[i].fd = close_fd(p->fds[i].fd);
		if (r < 0)
			(void)kill(p->pids[i], SIGKILL);
		while (waitpid(p->pids[i], &status, 0) < 0 && errno == EINTR)
			;
		if (r >= 0 && !WIFEXITED(status))
			r = -EIO;
		else if (r >= 0 && WEXITSTATUS(status))
			r = -WEXITSTATUS(status);
	}
	return r;
}

int runner_run(const struct runner *runner, struct error *err, struct tally *ret)
{
	struct runner limited = *runner;
	struct pool pool = {.runner = &limited};
	int r = 0;

	limited.jobs = MAX(1u, MIN(MIN(runner->jobs, runner->trials), JOBS_MAX));
	(void)fflush(NULL);
	for (unsigned k = 0; r >= 0 && k < limited.jobs; k++)
		r = start_child(&pool, k);
	if (r >= 0)
		r = gather(&pool);
	r = pool_end(&pool, r);
	if (r >= 0 && pool.tally.trials != runner->trials)
		r = -EIO;
	if (r < 0)
		return error_errno(err, r, "trials of %s", runner->name);
	*ret = pool.tally;
	return 0;
}
