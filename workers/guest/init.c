// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The guest's only program: process 1. Mounts what it needs, opens the result
 * port, runs the ordered workload in a child and ends the guest, whatever happens:
 * it never returns, for then the kernel would panic and be blamed for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

#include "order.h"
#include "port.h"
#include "result.h"
#include "usage.h"
#include "vmstat.h"
#include "workload.h"

#define THP_ENABLED "/sys/kernel/mm/transparent_hugepage/enabled"

static struct order order;

/* QEMU runs with -no-reboot: it takes this as the end, and needs no ACPI for it. */
static void __attribute__((noreturn)) guest_end(void)
{
	sync();
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static int mount_all(void)
{
	static const struct {
		const char *type, *where;
	} mounts[] = {
		{"devtmpfs", "/dev"},
		{"proc", "/proc"},
		{"sysfs", "/sys"},
	};

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++)
		if (mount(mounts[i].type, mounts[i].where, mounts[i].type, 0, NULL) < 0 &&
		    errno != EBUSY)
			return -errno;
	return 0;
}

/* Sets THP to `always` and believes only what the kernel says afterwards. */
static int thp_always(void)
{
	char text[128] = "";
	int fd, r = 0;

	fd = open(THP_ENABLED, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, "always", 6) < 0 || pread(fd, text, sizeof(text) - 1, 0) < 0)
		r = -errno;
	else if (!strstr(text, "[always]"))
		r = -EOPNOTSUPP;
	close(fd);
	return r;
}

static int guest_prepare(struct result *r)
{
	int ret = thp_always();

	if (ret < 0) {
		result_error(r, "THP cannot be set to always: %s", strerror(-ret));
		return ret;
	}
	ret = vmstat_open();
	if (ret == 0)
		ret = usage_open();
	if (ret < 0)
		result_error(r, "/proc counters: %s", strerror(-ret));
	return ret;
}

/* Runs the workload in a child, so that its end is not the guest's. */
static int guest_work(struct result *r)
{
	int status;
	pid_t pid = fork();

	if (pid < 0) {
		result_error(r, "fork: %s", strerror(errno));
		return 1;
	}
	if (pid == 0)
		_exit(workload_run(r, &order) < 0 ? 1 : 0);
	while (waitpid(pid, &status, 0) != pid)
		;
	if (WIFSIGNALED(status)) {
		result_error(r, "workload died of signal %d", WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}

int main(void)
{
	struct result *r;
	int fd, ret;

	ret = mount_all();
	if (ret >= 0)
		ret = order_read(&order, "/proc/cmdline");
	if (ret < 0) {
		/* No orders, no port: the console is all there is. */
		fprintf(stderr, "mmb: cannot read orders: %s\n", strerror(-ret));
		guest_end();
	}
	fd = port_open(order.port);
	if (fd < 0) {
		fprintf(stderr, "mmb: cannot open port '%s': %s\n", order.port, strerror(-fd));
		guest_end();
	}
	r = result_new(fd, order.nonce);
	if (!r) {
		fprintf(stderr, "mmb: no memory\n");
		guest_end();
	}
	result_hello(r);
	ret = guest_prepare(r) < 0 ? 1 : guest_work(r);
	result_end(r, ret);
	guest_end();
}
