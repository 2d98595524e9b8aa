// SPDX-License-Identifier: GPL-2.0-or-later
#include "vmstat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "result.h"

#define NAME_MAX_LEN 63

static int vmstat_fd = -1;

int vmstat_open(void)
{
	vmstat_fd = open("/proc/vmstat", O_RDONLY | O_CLOEXEC);
	return vmstat_fd < 0 ? -errno : 0;
}

/* The file is made by pieces of a page: it is read until it ends. */
int vmstat_take(struct vmstat *v)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = pread(vmstat_fd, v->text + len, sizeof(v->text) - 1 - len, (off_t)len);
		if (n < 0)
			return -errno;
		len += (size_t)n;
	} while (n > 0 && len < sizeof(v->text) - 1);
	v->text[len] = '\0';
	return len == sizeof(v->text) - 1 ? -EFBIG : 0;
}

static bool is_wanted(const char *name)
{
	return !strncmp(name, "thp_", 4) || !strcmp(name, "pgfault") || !strcmp(name, "pgmajfault");
}

/* Splits off the line at *text into name and value; false at the end. */
static bool next_counter(const char **text, char name[NAME_MAX_LEN + 1], long long *ret_value)
{
	int used = 0;

	if (sscanf(*text, "%63s %lld%n", name, ret_value, &used) != 2)
		return false;
	*text += used;
	return true;
}

static bool find_counter(const char *text, const char *wanted, long long *ret_value)
{
	char name[NAME_MAX_LEN + 1];

	while (next_counter(&text, name, ret_value))
		if (!strcmp(name, wanted))
			return true;
	return false;
}

void vmstat_write(struct result *r, const struct vmstat *before, const struct vmstat *after)
{
	const char *text = after->text;
	char name[NAME_MAX_LEN + 1], metric[NAME_MAX_LEN + sizeof("vmstat.")];
	long long now, then;

	while (next_counter(&text, name, &now)) {
		if (!is_wanted(name) || !find_counter(before->text, name, &then))
			continue;
		snprintf(metric, sizeof(metric), "vmstat.%s", name);
		result_sample(r, metric, (double)(now - then), "events");
	}
}
