// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/run-host.h"

#include "lib/clock.h"
#include "lib/fs.h"
#include "lib/str.h"

#include <inttypes.h>

#define PROC_FILE_MAX 65536

uint64_t host_tick_ns(void)
{
	long hz = sysconf(_SC_CLK_TCK);

	return NSEC_PER_SEC / (uint64_t)(hz > 0 ? hz : 100);
}

int host_cpu_read(struct host_cpu *ret)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/stat", "re");
	/* user nice system idle iowait irq softirq steal; the guest times are in user and nice already */
	uint64_t t[8] = { 0 };
	struct host_cpu c = { 0 };

	if (!f)
		return -errno;
	if (fscanf(f, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		      " %" SCNu64,
		   &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) < 4)
		return -EPROTO;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		c.total += t[i];
	c.steal = t[7];
	c.busy = c.total - t[3] - t[4] - t[7];
	*ret = c;
	return 0;
}

static int read_times(pid_t pid, struct process_cpu *cpu)
{
	_cleanup_free_ char *path = str_format("/proc/%d/stat", (int)pid), *text = NULL;
	uint64_t user, system;
	const char *p;
	char state;
	int r;

	if (!path)
		return -ENOMEM;
	r = fs_read(path, PROC_FILE_MAX, &text, NULL);
	if (r < 0)
		return r;
	p = strrchr(text, ')'); /* the name before it may hold anything */
	if (!p || sscanf(p + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64, &state, &user,
			 &system) != 3)
		return -EPROTO;
	cpu->used_ns = (user + system) * host_tick_ns();
	cpu->stopped = state == 'T' || state == 't';
	return 0;
}

static uint64_t thread_delay_ns(pid_t pid, const char *tid)
{
	_cleanup_free_ char *path = str_format("/proc/%d/task/%s/schedstat", (int)pid, tid);
	_cleanup_fclose_ FILE *f = path ? fopen(path, "re") : NULL;
	uint64_t delay;

	return f && fscanf(f, "%*u %" SCNu64, &delay) == 1 ? delay : 0;
}

int process_cpu_read(pid_t pid, struct process_cpu *ret)
{
	_cleanup_free_ char *path = str_format("/proc/%d/task", (int)pid);
	_cleanup_closedir_ DIR *dir = path ? opendir(path) : NULL;
	struct process_cpu cpu = { 0 };
	const struct dirent *entry;
	int r;

	r = read_times(pid, &cpu);
	if (r < 0)
		return r;
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			cpu.delay_ns += thread_delay_ns(pid, entry->d_name);
	*ret = cpu;
	return 0;
}

bool host_stalled(const struct process_cpu *qemu, uint64_t wall_ns, uint64_t late_ns)
{
	if (qemu->used_ns > wall_ns / 10)
		return false;
	return qemu->stopped || qemu->delay_ns > wall_ns / 2 || late_ns > wall_ns / 2;
}
