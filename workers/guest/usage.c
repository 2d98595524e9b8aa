// SPDX-License-Identifier: GPL-2.0-or-later
#include "usage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"

#define NS_PER_CLOCK_TICK 10000000ULL /* USER_HZ is 100 on every arch here */

static int stat_fd = -1;

int usage_open(void)
{
	stat_fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	return stat_fd < 0 ? -errno : 0;
}

/* The first line: "cpu user nice system idle iowait irq softirq ..." */
static int read_stat(struct usage *u)
{
	unsigned long long user, nice_user, sys, irq, softirq;
	char text[256];
	ssize_t n;

	n = pread(stat_fd, text, sizeof(text) - 1, 0);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	if (sscanf(text, "cpu %llu %llu %llu %*u %*u %llu %llu", &user, &nice_user, &sys, &irq,
		   &softirq) != 5)
		return -EBADMSG;
	u->user_ns = (user + nice_user) * NS_PER_CLOCK_TICK;
	u->sys_ns = (sys + irq + softirq) * NS_PER_CLOCK_TICK;
	return 0;
}

int usage_start(struct usage *u)
{
	int r = read_stat(u);

	clock_phase();
	u->real_ns = clock_ns();
	return r;
}

int usage_end(struct usage *u)
{
	u->real_ns = clock_ns();
	return read_stat(u);
}

struct usage usage_between(const struct usage *start, const struct usage *end)
{
	return (struct usage){
		.real_ns = end->real_ns - start->real_ns,
		.user_ns = end->user_ns - start->user_ns,
		.sys_ns = end->sys_ns - start->sys_ns,
	};
}
