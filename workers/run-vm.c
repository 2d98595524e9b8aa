// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/run-vm.h"

#include "lib/clock.h"
#include "lib/fs.h"
#include "lib/spawn.h"
#include "workers/run-host.h"
#include "workers/run-qemu.h"
#include "workers/run-report.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#define PIPE_BYTES (1 << 20)
#define BLOCK_BYTES 65536
#define QEMU_TEXT_MAX 8192
#define TICK_NS NSEC_PER_SEC
/* How long QEMU may take to end by itself: after the end record, and after a crash (its text is still coming). */
#define END_GRACE_NS (500 * NSEC_PER_MSEC)
#define CRASH_GRACE_NS (5 * NSEC_PER_SEC)
#define KILL_WAIT_NS (10 * NSEC_PER_SEC)

enum source { SRC_CONSOLE, SRC_RESULTS, SRC_QMP, SRC_TEXT, SRC_CHILD, SRC_SIGNAL, N_SOURCES };

struct vm {
	const struct run_job *job;
	const struct run_vm_hooks *hooks;
	struct child child;
	int fd[N_SOURCES];   /* ours; SRC_CHILD is borrowed from child */
	struct run_fds qemu; /* QEMU's ends, closed here after its start */
	int qemu_text_fd;
	struct run_record record; /* all that was seen */
	uint64_t deadline_ns, limit_ns;
	uint64_t late_ns;
	bool ended;	  /* QEMU has */
	bool interrupted; /* we were told to end */
};

static void vm_done(struct vm *vm)
{
	child_done(&vm->child);
	for (int i = 0; i < N_SOURCES; i++)
		if (i != SRC_CHILD)
			vm->fd[i] = close_fd(vm->fd[i]);
	vm->qemu.console = close_fd(vm->qemu.console);
	vm->qemu.results = close_fd(vm->qemu.results);
	vm->qemu.qmp = close_fd(vm->qemu.qmp);
	vm->qemu_text_fd = close_fd(vm->qemu_text_fd);
	run_record_done(&vm->record);
}

static int open_pipe(int *ret_read, int *ret_write)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return -errno;
	*ret_read = p[0];
	*ret_write = p[1];
	(void)fcntl(p[1], F_SETPIPE_SZ, PIPE_BYTES); /* less is allowed, only less patient */
	return fcntl(p[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int open_signals(int *ret)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	*ret = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return *ret < 0 ? -errno : 0;
}

static int open_all(struct vm *vm)
{
	int pair[2], r;

	r = open_pipe(&vm->fd[SRC_CONSOLE], &vm->qemu.console);
	if (r >= 0)
		r = open_pipe(&vm->fd[SRC_RESULTS], &vm->qemu.results);
	if (r >= 0)
		r = open_pipe(&vm->fd[SRC_TEXT], &vm->qemu_text_fd);
	if (r >= 0)
		r = open_signals(&vm->fd[SRC_SIGNAL]);
	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	vm->fd[SRC_QMP] = pair[0];
	vm->qemu.qmp = pair[1];
	return fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int check_file(const char *what, const char *path, struct error *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? error_errno(err, -errno, "%s %s", what, path) : 0;
}

/* All that can be wrong with host and files before there is a guest. */
static int start_qemu(struct vm *vm, struct error *err)
{
	_cleanup_(run_argv_freep) char **argv = NULL;
	const int pass[] = { vm->qemu.console, vm->qemu.results, vm->qemu.qmp };
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	int r;

	r = check_file("kernel", vm->job->kernel, err);
	if (r >= 0)
		r = check_file("initramfs", vm->job->initramfs, err);
	if (r >= 0)
		r = run_qemu_argv(vm->job, &vm->qemu, err, &argv);
	if (r < 0)
		return r;
	o.argv = (const char *const *)argv;
	o.stdout_fd = o.stderr_fd = vm->qemu_text_fd;
	o.cwd = "/";
	o.pass_fds = pass;
	o.n_pass_fds = ARRAY_SIZE(pass);
	r = spawn(&o, err, &vm->child);
	if (r < 0)
		return r;
	vm->fd[SRC_CHILD] = vm->child.pidfd;
	/* so that we see the end of each when QEMU ends */
	vm->qemu.console = close_fd(vm->qemu.console);
	vm->qemu.results = close_fd(vm->qemu.results);
	vm->qemu.qmp = close_fd(vm->qemu.qmp);
	vm->qemu_text_fd = close_fd(vm->qemu_text_fd);
	return 0;
}

static void end_within(struct vm *vm, uint64_t grace_ns)
{
	vm->deadline_ns = MIN(vm->deadline_ns, now_mono_ns() + grace_ns);
}

static int take_text(struct vm *vm, const char *data, size_t len)
{
	struct str *text = &vm->record.qemu_text;

	return str_add_mem(text, data, MIN(len, QEMU_TEXT_MAX - text->len));
}

static int feed(struct vm *vm, enum source source, const char *data, size_t len)
{
	switch (source) {
	case SRC_CONSOLE:
		return run_console_feed(&vm->record.console, data, len);
	case SRC_RESULTS:
		return run_results_feed(&vm->record.results, data, len);
	case SRC_QMP:
		return run_qmp_feed(&vm->record.qmp, vm->fd[SRC_QMP], data, len);
	default:
		return take_text(vm, data, len);
	}
}

/* Reads what is there: one block, or all of it (QEMU is dead, or another source depends on it). */
static int read_source(struct vm *vm, enum source source, bool all)
{
	static char block[BLOCK_BYTES];

	while (vm->fd[source] >= 0) {
		ssize_t n = read(vm->fd[source], block, sizeof(block));
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) { /* also ECONNRESET: the other end is gone */
			vm->fd[source] = close_fd(vm->fd[source]);
			return 0;
		}
		r = feed(vm, source, block, (size_t)n);
		if (r < 0 || !all)
			return r;
	}
	return 0;
}

static int progress(const struct vm *vm, const char *phase)
{
	return vm->hooks->progress ? vm->hooks->progress(phase) : 0;
}

/* Notes times and deadlines that follow from what was read. */
static int look(struct vm *vm)
{
	struct run_record *rec = &vm->record;
	int r = 0;

	if (rec->results.hello && !rec->hello_ns) {
		rec->hello_ns = now_mono_ns();
		run_record_measure_begin(rec, vm->child.pid);
		r = progress(vm, "measure");
	}
	if (rec->results.ended && !rec->end_ns) {
		rec->end_ns = now_mono_ns();
		run_record_measure_end(rec, vm->child.pid);
		/* what the guest printed before its end record is in the pipe already */
		if (r >= 0)
			r = read_source(vm, SRC_CONSOLE, true);
		rec->console.measured = true;
		end_within(vm, END_GRACE_NS);
	}
	if (rec->console.crash_class || rec->qmp.panicked || rec->results.bad)
		if (!rec->doomed) {
			rec->doomed = true;
			end_within(vm, CRASH_GRACE_NS);
		}
	return r;
}

/* Waits for events for at most a tick; returns the bits of the sources that have some. */
static unsigned wait_events(struct vm *vm)
{
	struct pollfd p[N_SOURCES];
	uint64_t before = now_mono_ns(), wait_ns, took_ns;
	unsigned ready = 0;

	wait_ns = vm->deadline_ns > before ? MIN(vm->deadline_ns - before, TICK_NS) : 0;
	for (int i = 0; i < N_SOURCES; i++)
		p[i] = (struct pollfd){ .fd = vm->fd[i], .events = POLLIN };
	if (poll(p, N_SOURCES, (int)(wait_ns / NSEC_PER_MSEC) + 1) <= 0)
		for (int i = 0; i < N_SOURCES; i++)
			p[i].revents = 0;
	for (int i = 0; i < N_SOURCES; i++)
		ready |= p[i].revents ? 1u << i : 0;
	took_ns = now_mono_ns() - before;
	if (took_ns > wait_ns + TICK_NS)
		vm->late_ns += took_ns - wait_ns;
	return ready;
}

static int step(struct vm *vm)
{
	unsigned ready = wait_events(vm);
	int r = 0;

	if (ready & (1u << SRC_SIGNAL)) {
		vm->interrupted = true;
		return 0;
	}
	/* console first: a crash is known before what it spoilt */
	for (enum source s = SRC_CONSOLE; s <= SRC_TEXT && r >= 0; s++)
		if (ready & (1u << s))
			r = read_source(vm, s, false);
	if (ready & (1u << SRC_CHILD))
		vm->ended = true;
	return r < 0 ? r : look(vm);
}

static int loop(struct vm *vm)
{
	while (!vm->ended && !vm->interrupted && now_mono_ns() < vm->deadline_ns) {
		int r = step(vm);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Makes sure that QEMU is dead, and keeps what is known only until it is reaped. */
static void end_qemu(struct vm *vm)
{
	struct run_record *rec = &vm->record;
	struct process_cpu cpu;
	int r;

	if (!vm->ended) {
		rec->killed = true;
		rec->limit_reached = now_mono_ns() >= vm->limit_ns && !rec->end_ns;
		if (rec->limit_reached && process_cpu_read(vm->child.pid, &cpu) >= 0)
			rec->stalled = host_stalled(&cpu, vm->limit_ns - rec->start_ns, vm->late_ns);
		(void)child_kill(&vm->child, SIGKILL);
	}
	r = child_wait_timeout(&vm->child, KILL_WAIT_NS, &rec->exit_status);
	vm->fd[SRC_CHILD] = -1;
	if (r == 1)
		return;
	/* Spins in the host's kernel: nobody can end it, and to wait for it would hang us as well. */
	rec->unkillable = true;
	vm->child.pidfd = close_fd(vm->child.pidfd);
	vm->child.pid = 0;
}

static int drain(struct vm *vm)
{
	int r = 0;

	for (enum source s = SRC_CONSOLE; s <= SRC_TEXT && r >= 0; s++)
		r = read_source(vm, s, true);
	return r < 0 ? r : run_console_end(&vm->record.console);
}

static int run_guest(struct vm *vm, struct error *err)
{
	int r;

	vm->record.start_ns = now_mono_ns();
	vm->limit_ns = vm->record.start_ns + vm->job->limit_seconds * NSEC_PER_SEC;
	vm->deadline_ns = vm->limit_ns;
	r = progress(vm, "boot");
	if (r >= 0)
		r = loop(vm);
	end_qemu(vm);
	if (vm->interrupted)
		return error_set(err, -EINTR, "told to end");
	if (r >= 0)
		r = drain(vm);
	if (r >= 0)
		r = look(vm);
	return r < 0 ? error_errno(err, r, "run") : 0;
}

int run_vm(const struct run_job *job, const struct run_vm_hooks *hooks, struct error *err, json_t **ret)
{
	_cleanup_(vm_done) struct vm vm = { .job = job, .hooks = hooks, .child = CHILD_INIT,
					    .fd = { -1, -1, -1, -1, -1, -1 }, .qemu = { -1, -1, -1 },
					    .qemu_text_fd = -1, .record = RUN_RECORD_INIT };
	_cleanup_error_ struct error start = ERROR_INIT;
	int r;

	r = run_record_init(&vm.record, job->nonce);
	if (r < 0)
		return error_errno(err, r, "run");
	r = open_all(&vm);
	if (r < 0)
		(void)error_errno(&start, r, "cannot open pipes");
	if (r >= 0)
		r = run_console_open(&vm.record.console, hooks->keep_console ? job->console : NULL, &start);
	if (r >= 0)
		r = start_qemu(&vm, &start);
	if (r >= 0)
		r = run_guest(&vm, err);
	else
		vm.record.start_error = error_text(&start);
	if (r < 0 && !vm.record.start_error)
		return r;
	vm.record.done_ns = now_mono_ns();
	r = run_record_report(&vm.record, job, ret);
	return r < 0 ? error_errno(err, r, "result") : 0;
}
