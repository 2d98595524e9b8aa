// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mmbisect-run: one run job on stdin, JSON lines on stdout (docs/architecture.md). Exit 0: there is a result line;
 * 2: the job is malformed; 1: told to end, or something that is no result.
 *
 * mmbisect-run --probe-accel ARCH KERNEL INITRAMFS [--limit SECONDS]: see run-probe.h.
 */
#include "workers/job.h"
#include "workers/run-probe.h"
#include "workers/run-qemu.h"
#include "workers/run-vm.h"

#include <signal.h>
#include <sys/resource.h>

#define PROBE_LIMIT_SECONDS 20 /* by hand; the daemon gives its own, the same */

static int told(const struct error *err, int exit_status)
{
	(void)fprintf(stderr, "mmbisect-run: %s\n", error_text(err));
	return exit_status;
}

static int phase(const char *name)
{
	return job_progress(name, -1, -1);
}

static int read_job(struct error *err, struct run_job *ret)
{
	_cleanup_free_ char *cmdline = NULL;
	json_t *object;
	int r;

	r = job_read(STDIN_FILENO, "run", err, &object);
	if (r < 0)
		return r;
	r = run_job_parse(object, err, ret);
	if (r < 0)
		return r;
	return run_kernel_cmdline(ret, err, &cmdline); /* asks for the arch as well */
}

static int run_main(void)
{
	static const struct run_vm_hooks hooks = { .progress = phase, .keep_console = true };
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(run_job_done) struct run_job job = RUN_JOB_INIT;
	_cleanup_json_ json_t *result = NULL;
	int r;

	if (read_job(&err, &job) < 0)
		return told(&err, JOB_EXIT_MALFORMED);
	if (run_vm(&job, &hooks, &err, &result) < 0)
		return told(&err, 1);
	r = job_result(result);
	if (r < 0) {
		(void)error_errno(&err, r, "cannot write the result");
		return told(&err, 1);
	}
	return 0;
}

static int usage(void)
{
	(void)fputs("usage: mmbisect-run < job.json\n"
		    "       mmbisect-run --probe-accel ARCH KERNEL INITRAMFS [--limit SECONDS]\n",
		    stderr);
	return 2;
}

static int probe_main(int argc, char **argv)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_json_ json_t *answer = NULL;
	struct run_probe probe = { .limit_seconds = PROBE_LIMIT_SECONDS };
	uint64_t limit;
	int r;

	if (argc != 5 && (argc != 7 || !str_eq(argv[5], "--limit")))
		return usage();
	if (argc == 7) {
		if (str_to_u64(argv[6], &limit) < 0 || limit < 1 || limit > 3600)
			return usage();
		probe.limit_seconds = (unsigned)limit;
	}
	probe.arch = argv[2];
	probe.kernel = argv[3];
	probe.initramfs = argv[4];
	r = run_probe(&probe, &err, &answer);
	if (r < 0)
		return told(&err, r == -EINVAL ? 2 : 1);
	return json_write_line(STDOUT_FILENO, answer) < 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
	const struct rlimit no_core = { 0, 0 };

	(void)signal(SIGPIPE, SIG_IGN);
	(void)setrlimit(RLIMIT_CORE, &no_core); /* of a guest's memory */
	if (job_die_with_parent() < 0)
		return 1;
	if (argc >= 2 && str_eq(argv[1], "--probe-accel"))
		return probe_main(argc, argv);
	return argc == 1 ? run_main() : usage();
}
