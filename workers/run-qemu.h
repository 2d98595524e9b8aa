/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_RUN_QEMU_H
#define MMB_RUN_QEMU_H

/*
 * QEMU's command line and the kernel's, from a run job and two tables: what each machine class needs, and which ports each
 * (arch, class) has.
 *
 * Console and results go through *pipes*, not sockets. A UART hands over one byte at a time; a socket accounts hundreds of
 * bytes for each, so that a reader who is late by a few hundred characters makes the guest's UART wait, and a deterministic guest
 * sees that. Tried on a busy host, one image: six runs by sockets gave six results (0.2 %), nine by pipes one, also with the reader
 * stopped for seconds. A pipe merges the bytes, and holds a megabyte.
 */
#include "workers/run-job.h"

struct run_fds {
	int console, results; /* write ends of pipes */
	int qmp;	      /* one end of a socketpair */
};

/* Whether there is a table entry for the job's arch and class: -EOPNOTSUPP. */
int run_qemu_supported(const struct run_job *job, struct error *err);
/* The kernel command line; the caller frees. -E2BIG when a kernel would cut it. */
int run_kernel_cmdline(const struct run_job *job, struct error *err, char **ret);
/* QEMU's argv, NULL terminated; freed by run_argv_free(). */
int run_qemu_argv(const struct run_job *job, const struct run_fds *fds, struct error *err, char ***ret);
char **run_argv_free(char **argv);
DEFINE_CLEANUP(char **, run_argv_free);

#endif
