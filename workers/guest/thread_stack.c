// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads come and go, as in a parallel linker. When one ends, glibc gives the
 * used part of its stack back with madvise(MADV_DONTNEED), of a length that is no
 * multiple of a huge page. Measured twice: as programs see it, and the call alone.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "result.h"
#include "usage.h"
#include "vmstat.h"
#include "workload.h"

#define STACK_SIZE 0x800000UL /* glibc's default, from RLIMIT_STACK */
#define GIVEN_BACK 0x7fb000UL /* what glibc gives back of it on x86_64 */
/*
 * glibc maps the 8 MiB and a guard: with aligned mappings as much of the stack's
 * top, where the thread's own data are, lies beyond the last whole huge page. A
 * thread has to use a little more than that to meet one, as real ones do.
 */
#ifdef __aarch64__
#define GUARD_SIZE 0x10000UL
#else
#define GUARD_SIZE 0x1000UL
#endif
#define TOUCHED (GUARD_SIZE + 0x1000UL)
#define WORKERS_MAX 64
#define THREADS_MAX 256

enum { WORKERS, THREADS, ROUNDS, CALLS };

static const struct workload_param params[] = {
	[WORKERS] = {"workers", 1, 1, WORKERS_MAX},
	[THREADS] = {"threads", 16, 1, THREADS_MAX},
	[ROUNDS] = {"rounds", 10, 1, 1000000},
	[CALLS] = {"calls", 200, 2, 1000000},
};

struct worker {
	pthread_t id;
	uint64_t threads;
	uint64_t rounds;
	int error;
	pthread_rwlock_t gate; /* held for writing while a round's threads are made */
};

static struct worker workers[WORKERS_MAX];
static pthread_barrier_t start;
static struct vmstat before, after;

/* Uses its stack and waits for the others: a stack that is free is used again. */
static void *thread_main(void *arg)
{
	pthread_rwlock_t *gate = arg;
	volatile char little[TOUCHED];

	little[sizeof(little) - 1] = 1;
	little[0] = 1;
	/* Or the compiler keeps no more of the array than these two. */
	__asm__ volatile("" : : "r"(little) : "memory");
	pthread_rwlock_rdlock(gate);
	pthread_rwlock_unlock(gate);
	return NULL;
}

static int worker_round(struct worker *w)
{
	pthread_t id[THREADS_MAX];
	uint64_t n = 0;
	int r = 0;

	pthread_rwlock_wrlock(&w->gate);
	while (n < w->threads && r == 0) {
		r = pthread_create(&id[n], NULL, thread_main, &w->gate);
		if (r == 0)
			n++;
	}
	pthread_rwlock_unlock(&w->gate);
	while (n > 0)
		pthread_join(id[--n], NULL);
	return -r;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	pthread_barrier_wait(&start);
	for (uint64_t i = 0; i < w->rounds && w->error == 0; i++)
		w->error = worker_round(w);
	return NULL;
}

/* Makes the workers; they wait at the barrier until main comes to it, too. */
static int workers_new(const uint64_t *value)
{
	int r;

	pthread_barrier_init(&start, NULL, (unsigned int)value[WORKERS] + 1);
	for (uint64_t i = 0; i < value[WORKERS]; i++) {
		pthread_rwlock_init(&workers[i].gate, NULL);
		workers[i].threads = value[THREADS];
		workers[i].rounds = value[ROUNDS];
		r = pthread_create(&workers[i].id, NULL, worker_main, &workers[i]);
		if (r != 0)
			return -r;
	}
	return 0;
}

static int workers_run(const uint64_t *value)
{
	int r = 0;

	pthread_barrier_wait(&start);
	for (uint64_t i = 0; i < value[WORKERS]; i++) {
		pthread_join(workers[i].id, NULL);
		if (workers[i].error < 0)
			r = workers[i].error;
	}
	return r;
}

struct call_times {
	uint64_t total_ns, calls;	      /* all */
	uint64_t quiet_total_ns, quiet_calls; /* those that no tick fell into */
};

/* What glibc does with a stack, by hand: map, touch its end, give back, unmap. */
static int madvise_once(struct call_times *t)
{
	uint64_t tick, t0, t1;
	char *stack;
	int r;

	stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return -errno;
	*(volatile char *)(stack + STACK_SIZE - 1) = 1;

	tick = clock_tick_ns();
	t0 = clock_ns();
	r = madvise(stack, GIVEN_BACK, MADV_DONTNEED);
	t1 = clock_ns();
	if (r < 0)
		return -errno;
	t->total_ns += t1 - t0;
	t->calls++;
	if (clock_tick_ns() == tick) {
		t->quiet_total_ns += t1 - t0;
		t->quiet_calls++;
	}
	return munmap(stack, STACK_SIZE) < 0 ? -errno : 0;
}

static int madvise_calls(uint64_t calls, struct call_times *t)
{
	int r = 0;

	memset(t, 0, sizeof(*t));
	while (calls-- > 0 && r == 0)
		r = madvise_once(t);
	return r;
}

/*
 * The mean cost of a call. A tick inside costs thousands of instructions and falls
 * into more or fewer calls for reasons that are not the call's: such calls do
 * not count, unless they are so long that most of them hold a tick.
 */
static double madvise_cost(const struct call_times *t)
{
	if (t->quiet_calls * 2 >= t->calls)
		return (double)t->quiet_total_ns / (double)t->quiet_calls;
	return (double)t->total_ns / (double)t->calls;
}

static int measure(const uint64_t *value, struct usage *ret_used, struct call_times *ret_times)
{
	struct usage u0, u1;
	int r;

	r = workers_new(value);
	if (r < 0)
		return r;

	r = vmstat_take(&before);
	if (r < 0)
		return r;
	r = usage_start(&u0);
	if (r == 0)
		r = workers_run(value);
	if (r == 0)
		r = usage_end(&u1);
	if (r < 0)
		return r;
	*ret_used = usage_between(&u0, &u1);

	clock_phase();
	r = madvise_calls(value[CALLS], ret_times);
	if (r < 0)
		return r;
	return vmstat_take(&after);
}

static int thread_stack_run(struct result *r, const uint64_t *value)
{
	double threads = (double)(value[WORKERS] * value[THREADS] * value[ROUNDS]);
	struct worker first = {.threads = 1, .gate = PTHREAD_RWLOCK_INITIALIZER};
	struct call_times times;
	struct usage used;
	int ret;

	/* Once before it counts: what is set up on first use is set up now. */
	ret = worker_round(&first);
	if (ret == 0)
		ret = madvise_calls(2, &times);
	if (ret == 0)
		ret = vmstat_take(&after);
	if (ret == 0)
		ret = usage_start(&used);
	result_measure(r);
	if (ret == 0)
		ret = measure(value, &used, &times);
	if (ret < 0) {
		result_error(r, "thread-stack: %s", strerror(-ret));
		return ret;
	}

	result_sample(r, "real", (double)used.real_ns / 1e9, "s");
	result_sample(r, "user", (double)used.user_ns / 1e9, "s");
	result_sample(r, "sys", (double)used.sys_ns / 1e9, "s");
	result_sample(r, "thread", (double)used.real_ns / threads, "ns/thread");
	result_sample(r, "madvise_call", madvise_cost(&times), "ns/call");
	vmstat_write(r, &before, &after);
	return 0;
}

const struct workload thread_stack = {
	.name = "thread-stack",
	.help = "threads come and go; the cost of giving their stacks back",
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.run = thread_stack_run,
};
