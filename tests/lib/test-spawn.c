// SPDX-License-Identifier: GPL-2.0-or-later
/* Children: how they end, what they are given, what they leave behind. */
#include "lib/spawn.h"

#include "lib/clock.h"
#include "lib/fs.h"
#include "lib/str.h"
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define LONG (60 * NSEC_PER_SEC) /* never reached, unless something hangs */
#define SH(script) ((const char *const[]){ "sh", "-c", script, NULL })

static char *dir;

static int run(const char *const argv[], const char *input, size_t input_len, uint64_t timeout_ns, int *status, char **out,
	       char **text)
{
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	_cleanup_error_ struct error err = ERROR_INIT;
	int r;

	o.argv = argv;
	o.cwd = dir;
	r = spawn_communicate(&o, input, input_len, 64 << 20, timeout_ns, &err, status, out, NULL, text);
	if (r < 0)
		printf("# %s\n", error_text(&err));
	return r;
}

/* Waits until a process is no more (a zombie counts as gone), at most a minute. */
static bool gone(pid_t pid)
{
	uint64_t end = now_mono_ns() + LONG;
	const struct timespec pause = { .tv_nsec = 10000000 };

	while (now_mono_ns() < end) {
		_cleanup_free_ char *path = str_format("/proc/%d/stat", (int)pid), *stat = NULL;
		const char *state;

		if (fs_read(path, 4096, &stat, NULL) < 0)
			return true;
		state = strrchr(stat, ')');
		if (state && (state[2] == 'Z' || state[2] == 'X'))
			return true;
		(void)nanosleep(&pause, NULL);
	}
	return false;
}

static pid_t pid_in(const char *name)
{
	_cleanup_free_ char *path = str_format("%s/%s", dir, name), *text = NULL;
	uint64_t end = now_mono_ns() + LONG, pid = 0;
	const struct timespec pause = { .tv_nsec = 10000000 };

	while (now_mono_ns() < end) {
		free(text);
		text = NULL;
		if (fs_read(path, 64, &text, NULL) >= 0 && str_ends(text, "\n")) {
			text[strlen(text) - 1] = '\0';
			return str_to_u64(text, &pid) < 0 ? -1 : (pid_t)pid;
		}
		(void)nanosleep(&pause, NULL);
	}
	return -1;
}

static int open_fds(void)
{
	_cleanup_closedir_ DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	return n;
}

static void test_ends(void)
{
	_cleanup_free_ char *out = NULL, *text = NULL, *out2 = NULL;
	_cleanup_error_ struct error err = ERROR_INIT;
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	int status = -1;

	is_int(run(SH("echo out; echo err >&2; exit 7"), NULL, 0, LONG, &status, &out, &text), 0, "a child ends");
	is_int(status, 7, "exit status");
	is_str(out, "out\n", "stdout");
	is_str(text, "err\n", "stderr");
	is_int(run(SH("kill -TERM $$"), NULL, 0, LONG, &status, NULL, NULL), 0, "a child that dies of a signal");
	is_int(status, 128 + SIGTERM, "is 128 + signal");
	is_int(run(SH("exit 255"), NULL, 0, LONG, &status, &out2, NULL), 0, "a silent child");
	is_int(status, 255, "status 255");
	is_str(out2, "", "has said nothing");
	o.argv = (const char *const[]){ "no-such-program-here", NULL };
	is_int(spawn_capture(&o, 100, 0, &err, &status, NULL, NULL, NULL), -ENOENT, "a program that is not there");
	is_str(error_text(&err), "no-such-program-here: program not found", "is named");
	o.argv = (const char *const[]){ "true", NULL };
	o.cwd = "/no/such/folder";
	ok(spawn_capture(&o, 100, 0, &err, &status, NULL, NULL, NULL) < 0, "a folder that is not there");
	ok(strstr(error_text(&err), "cannot start true"), "is told: %s", error_text(&err));
}

static void test_sizes(void)
{
	static const size_t n = 8 << 20;
	_cleanup_free_ char *in = malloc(n + 1), *out = NULL, *text = NULL, *nothing = NULL;
	_cleanup_error_ struct error err = ERROR_INIT;
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	size_t len = 0;
	int status = -1, r;

	if (!in)
		return;
	for (size_t i = 0; i < n; i++)
		in[i] = (char)(i * 7 + i / 251);
	o.argv = (const char *const[]){ "cat", NULL };
	r = spawn_communicate(&o, in, n, n, LONG, &err, &status, &out, &len, NULL);
	is_int(r, 0, "8 MiB in and out at once");
	ok(len == n && memcmp(in, out, n) == 0, "come back as they went");
	is_int(spawn_communicate(&o, in, n, n - 1, LONG, &err, &status, NULL, NULL, NULL), -EFBIG, "one byte too many is -EFBIG");
	is_int(run((const char *const[]){ "true", NULL }, in, n, LONG, &status, NULL, NULL), 0, "a child that does not read");
	is_int(status, 0, "is no error, and SIGPIPE does not kill us");
	is_int(run((const char *const[]){ "cat", NULL }, "", 0, LONG, &status, &nothing, NULL), 0, "empty input");
	is_str(nothing, "", "is an end of file");
	is_int(run(SH("i=0; while [ $i -lt 6000 ]; do echo line $i >&2; i=$((i+1)); done; echo last words >&2"), NULL, 0, LONG,
		   &status, NULL, &text),
	       0, "a child with much to complain of");
	ok(text && strlen(text) <= 16384 && strlen(text) > 4000 && str_ends(text, "line 5999\nlast words\n"),
	   "the last part of its stderr is kept");
}

static void test_limits(void)
{
	int status = -1;
	pid_t pid;

	is_int(run(SH("sleep 1000 & echo $! >grandchild; sleep 1000"), NULL, 0, NSEC_PER_SEC, &status, NULL, NULL), -ETIMEDOUT,
	       "a child that does not end is killed");
	pid = pid_in("grandchild");
	ok(pid > 0 && gone(pid), "with all that it started");
	is_int(run(SH("exec >/dev/null 2>&1; echo $$ >quiet; exec sleep 1000"), NULL, 0, NSEC_PER_SEC, &status, NULL, NULL),
	       -ETIMEDOUT, "so is one that closed its pipes");
	pid = pid_in("quiet");
	ok(pid > 0 && gone(pid), "it is gone, too");
	is_int(run(SH("sleep 1000 & echo $! >left; echo done; exit 3"), NULL, 0, LONG, &status, NULL, NULL), 0,
	       "a child that leaves one behind, who holds its pipes");
	is_int(status, 3, "has ended when it has ended");
	pid = pid_in("left");
	ok(pid > 0 && gone(pid), "and what it left goes, too");
}

static void test_child(void)
{
	_cleanup_child_ struct child c = CHILD_INIT;
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	int status = -1;
	pid_t pid;

	o.argv = (const char *const[]){ "sleep", "1000", NULL };
	is_int(spawn(&o, NULL, &c), 0, "spawn");
	pid = c.pid;
	is_int(child_wait_timeout(&c, 0, &status), 0, "it runs");
	is_int(getpgid(pid), pid, "in a process group of its own");
	is_int(child_kill(&c, SIGINT), 0, "signal it");
	is_int(child_wait_timeout(&c, LONG, &status), 1, "it ends");
	is_int(status, 128 + SIGINT, "of that signal");
	is_int(child_wait(&c, &status), -ECHILD, "there is nothing left to wait for");
	is_int(child_kill(&c, SIGKILL), -ESRCH, "nor to kill");
	is_int(spawn(&o, NULL, &c), 0, "another");
	pid = c.pid;
	child_done(&c);
	ok(kill(pid, 0) < 0 && errno == ESRCH, "child_done() kills and reaps");
	child_done(&c);
}

static void test_given(void)
{
	_cleanup_free_ char *out = NULL, *env = NULL, *own = NULL, *masks = NULL;
	_cleanup_close_ int secret = open("/dev/zero", O_RDONLY | O_CLOEXEC), given = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	_cleanup_close_ int inherited = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *want = str_format("0 1 2 %d ", given);
	sigset_t set, old;
	/* glibc keeps 32 and 33 to itself: whoever inherits them ignored cannot change that. */
	const unsigned long long c_library = 3ULL << 31;
	unsigned long long blocked = 1, ignored = 1;
	int status = -1, before = open_fds() + 1;

	(void)fcntl(inherited, F_DUPFD, 200); /* as if our own parent had left it open */
	o.argv = SH("i=0; while [ $i -lt 300 ]; do if [ -e /proc/$$/fd/$i ]; then printf '%s ' $i; fi; i=$((i+1)); done");
	o.pass_fds = &given;
	o.n_pass_fds = 1;
	is_int(spawn_capture(&o, 1000, LONG, NULL, &status, &out, NULL, NULL), 0, "a child that lists its descriptors");
	is_str(out, want, "has what it was given, not %d", secret);
	o.n_pass_fds = 0;
	o.argv = SH("echo $MMB_A $MMB_B");
	(void)setenv("MMB_A", "ours", 1);
	(void)setenv("MMB_B", "ours", 1);
	o.extra_env = (const char *const[]){ "MMB_A=extra", NULL };
	is_int(spawn_capture(&o, 1000, LONG, NULL, &status, &env, NULL, NULL), 0, "extra environment");
	is_str(env, "extra ours\n", "is added to ours");
	o.env = (const char *const[]){ "MMB_B=all", NULL };
	is_int(spawn_capture(&o, 1000, LONG, NULL, &status, &own, NULL, NULL), 0, "an environment of its own");
	is_str(own, "all\n", "replaces ours");
	o.env = NULL;
	(void)sigfillset(&set);
	(void)sigprocmask(SIG_BLOCK, &set, &old);
	(void)signal(SIGPIPE, SIG_IGN);
	o.argv = (const char *const[]){ "grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status", NULL };
	is_int(spawn_capture(&o, 1000, LONG, NULL, &status, &masks, NULL, NULL), 0, "a child of a parent that blocks and ignores");
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
	ok(sscanf(masks, "SigBlk: %llx SigIgn: %llx", &blocked, &ignored) == 2 && blocked == 0 && (ignored & ~c_library) == 0,
	   "blocks and ignores nothing");
	is_int(open_fds(), before, "no descriptor is left behind in the parent");
}

/* In a child of its own: starts a sleeper and is killed. */
static void test_parent_dies(void)
{
	pid_t middle, sleeper;
	int status;

	middle = fork();
	if (middle == 0) {
		struct child c = CHILD_INIT;
		struct spawn_options o = SPAWN_OPTIONS_INIT;

		o.argv = SH("echo $$ >orphan; exec sleep 1000");
		o.cwd = dir;
		(void)spawn(&o, NULL, &c);
		(void)pause();
		_exit(0);
	}
	sleeper = pid_in("orphan");
	ok(sleeper > 0 && kill(sleeper, 0) == 0, "a child runs");
	(void)kill(middle, SIGKILL);
	(void)waitpid(middle, &status, 0);
	ok(gone(sleeper), "it dies with its parent, even by SIGKILL");
}

int main(void)
{
	_cleanup_(fs_rm_rf_free) char *scratch = NULL;

	if (fs_mkdtemp(NULL, "mmbisect-test", &scratch) < 0)
		return 1;
	dir = scratch;
	test_ends();
	test_sizes();
	test_limits();
	test_child();
	test_given();
	test_parent_dies();
	return done_testing();
}
