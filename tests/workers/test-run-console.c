// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/fs.h"
#include "tests/tap.h"
#include "workers/run-console.h"

static const struct {
	const char *name, *text, *class, *title; /* class NULL: no crash */
	const char *warning;
} cases[] = {
	{ "quiet", "[    0.000000] Linux version 6.1.0\n", NULL, NULL, NULL },
	{ "panic", "[    1.798656][    T1] Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b\n",
	  "panic", "Kernel panic - not syncing: Attempted to kill init! exitcode=ADDR", NULL },
	{ "no root", "[    2.1] Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)\n",
	  "panic", "Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(NUM,NUM)", NULL },
	{ "page fault, with its place",
	  "[    3.100000][  T123] BUG: unable to handle page fault for address: ffffc90000123000\r\n"
	  "[    3.100001][  T123] #PF: supervisor write access in kernel mode\r\n"
	  "[    3.100002][  T123] Oops: 0002 [#1] PREEMPT SMP\r\n"
	  "[    3.100003][  T123] RIP: 0010:deferred_split_huge_page+0x1a/0x300\r\n"
	  "[    3.100004][  T123] Kernel panic - not syncing: Fatal exception\r\n",
	  "bug", "BUG: unable to handle page fault for address: ADDR in deferred_split_huge_page", NULL },
	{ "arm64",
	  "[    3.1] Unable to handle kernel NULL pointer dereference at virtual address 0000000000000008\n"
	  "[    3.1] Internal error: Oops: 96000004 [#1] PREEMPT SMP\n"
	  "[    3.1] pc : zap_pte_range+0x10/0x20\n",
	  "oops", "Unable to handle kernel NULL pointer dereference at virtual address ADDR in zap_pte_range", NULL },
	{ "doubled word", "[ 3.1] Oops: Oops: 0000 [#1] SMP NOPTI\n", "oops", "Oops: Oops: NUM [#NUM] SMP NOPTI", NULL },
	{ "kernel BUG", "[ 3.1] kernel BUG at mm/huge_memory.c:2883!\n", "bug", "kernel BUG at mm/huge_memory.c:NUM!", NULL },
	{ "level and lost messages", "** 123 printk messages dropped ** <0>[ 9.000001][    C0] general protection fault: 0000\n",
	  "oops", "general protection fault: NUM", NULL },
	{ "no time stamps at all", "Kernel panic - not syncing: No working init found.\n", "panic",
	  "Kernel panic - not syncing: No working init found.", NULL },
	{ "the last line has no newline", "[ 1.0] x\n[ 1.1] Kernel panic - not syncing: x", "panic",
	  "Kernel panic - not syncing: x", NULL },
	{ "a workload's output, in the line", "[ 1.0] boot\nchecking BUG: none, Oops: 0\n", NULL, NULL, NULL },
	{ "a workload's output, at its start", "[ 1.0] boot\nBUG: found by the workload\nKernel panic - not syncing: no\n",
	  NULL, NULL, NULL },
	{ "not one", "[ 1.0] ODEBUG: selftest passed\n[ 1.0] DEBUG: x\n[ 1.0] INFO: lockdep is turned off.\n", NULL, NULL, NULL },
	{ "warning", "[ 1.0] WARNING: CPU: 0 PID: 12 at mm/page_alloc.c:5530 f+0x1/0x2\n", NULL, NULL,
	  "WARNING: CPU: NUM PID: NUM at mm/page_alloc.c:NUM f+ADDR/ADDR" },
	{ "harmless warning", "[ 1.0] WARNING: Unprivileged eBPF is enabled\n", NULL, NULL, NULL },
	{ "lockup under TCG", "[ 1.0] watchdog: BUG: soft lockup - CPU#0 stuck for 22s!\n", NULL, NULL,
	  "watchdog: BUG: soft lockup - CPU#NUM stuck for NUMs!" },
	{ "lockup with a task", "[ 1.0] watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [kworker/0:1:71]\n", NULL, NULL,
	  "watchdog: BUG: soft lockup - CPU#NUM stuck for NUMs! [COMM:NUM]" },
	{ "hard lockup", "[ 1.0] NMI watchdog: Watchdog detected hard LOCKUP on cpu 1\n", NULL, NULL,
	  "NMI watchdog: Watchdog detected hard LOCKUP on cpu NUM" },
	{ "hung task", "[ 1.0] INFO: task kworker/u4:2:31 blocked for more than 120 seconds.\n", NULL, NULL,
	  "INFO: task COMM:NUM blocked for more than NUM seconds." },
	{ "UBSAN", "[ 1.0] UBSAN: array-index-out-of-bounds in mm/page_alloc.c:123:45\n", NULL, NULL,
	  "UBSAN: array-index-out-of-bounds in mm/page_alloc.c:NUM:NUM" },
	{ "KASAN", "[ 3.1] BUG: KASAN: slab-use-after-free in f+0x1a/0x300\n[ 3.1] RIP: 0010:g+0x1/0x2\n", "bug",
	  "BUG: KASAN: slab-use-after-free in f+ADDR/ADDR", NULL },
	{ "KASAN's general protection fault",
	  "[ 3.1] general protection fault, probably for non-canonical address 0xdffffc0000000003: 0000 [#1] PREEMPT SMP KASAN\n"
	  "[ 3.1] RIP: 0010:split_huge_page.isra.0+0x1a/0x300\n",
	  "oops", "general protection fault, probably for non-canonical address ADDR: NUM [#NUM] PREEMPT SMP KASAN in split_huge_page", NULL },
	{ "bad page", "[ 3.1] BUG: Bad page state in process bench 2  pfn:1a2b3\n", "bug",
	  "BUG: Bad page state in process COMM  pfn:ADDR", NULL },
	{ "bad page of another task", "[ 3.1] BUG: Bad page state in process kworker/0:1  pfn:12345\n", "bug",
	  "BUG: Bad page state in process COMM  pfn:ADDR", NULL },
	{ "spinlock", "[ 3.1] BUG: spinlock bad magic on CPU#1, kworker/u4:0/71\n", "bug",
	  "BUG: spinlock bad magic on CPU#NUM, COMM/NUM", NULL },
	{ "atomic", "[ 3.1] BUG: scheduling while atomic: kworker/u4:0/71/0x00000002\n", NULL, NULL,
	  "BUG: scheduling while atomic: COMM/NUM/ADDR" },
	{ "slab", "[ 3.1] BUG kmalloc-64 (Not tainted): Poison overwritten\n", "bug",
	  "BUG kmalloc-NUM (Not tainted): Poison overwritten", NULL },
	{ "double fault", "[ 3.1] traps: PANIC: double fault, error_code: 0x0\n", "oops",
	  "traps: PANIC: double fault, error_code: ADDR", NULL },
	{ "arm64, a paging request",
	  "[ 3.1] Unable to handle kernel paging request at virtual address dead000000000108\n[ 3.1] pc : f+0x10/0x20\n", "oops",
	  "Unable to handle kernel paging request at virtual address ADDR in f", NULL },
	{ "arm64, a BUG",
	  "[ 3.1] kernel BUG at mm/rmap.c:1!\n[ 3.1] Internal error: Oops - BUG: 00000000f2000800 [#1] PREEMPT SMP\n"
	  "[ 3.1] pc : page_remove_rmap+0x10/0x20\n", "bug", "kernel BUG at mm/rmap.c:NUM! in page_remove_rmap", NULL },
	{ "arm64, SError", "[ 3.1] SError Interrupt on CPU0, code 0x00000000be000411 -- SError\n", "oops",
	  "SError Interrupt on CPUNUM, code ADDR -- SError", NULL },
	{ "no memory", "[ 3.1] Out of memory: Killed process 71 (my bench) total-vm:1kB\n", NULL, NULL,
	  "Out of memory: Killed process NUM (COMM) total-vm:NUMkB" },
	{ "no memory for anybody", "[ 3.1] Kernel panic - not syncing: System is deadlocked on memory\n", "panic",
	  "Kernel panic - not syncing: System is deadlocked on memory", NULL },
	{ "a panic of the hung task watch", "[ 3.1] Kernel panic - not syncing: hung_task: blocked tasks\n", "panic",
	  "Kernel panic - not syncing: hung_task: blocked tasks", NULL },
	{ "s390", "[ 3.1] Unable to handle kernel pointer dereference in virtual kernel address space\n[ 3.1] Oops: 0004 ilc:2 [#1]\n",
	  "oops", "Unable to handle kernel pointer dereference in virtual kernel address space", NULL },
	{ "an init of another machine", "[ 1.0] Failed to execute /init (error -8)\n", NULL, NULL, "Failed to execute /init (error -NUM)" },
	{ "stall", "[ 1.0] rcu: INFO: rcu_sched self-detected stall on CPU\n", NULL, NULL,
	  "rcu: INFO: rcu_sched self-detected stall on CPU" },
};

static void test_cases(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_run_console_ struct run_console c;

		(void)run_console_open(&c, NULL, NULL);
		for (const char *p = cases[i].text; *p; p++)
			(void)run_console_feed(&c, p, 1);
		(void)run_console_end(&c);
		if (cases[i].class) {
			is_str(c.crash_class, cases[i].class, "%s: class", cases[i].name);
			is_str(c.crash_title, cases[i].title, "%s: title", cases[i].name);
		} else {
			ok(!c.crash_class, "%s: no crash (%s)", cases[i].name, c.crash_title ? c.crash_title : "");
		}
		if (cases[i].warning)
			is_str(json_string_value(json_array_get(c.warnings, 0)), cases[i].warning, "%s: noted",
			       cases[i].name);
		is_int(json_array_size(c.warnings), cases[i].warning ? 1 : 0, "%s: number of warnings", cases[i].name);
	}
}

static void test_measured(void)
{
	static const char text[] = "[ 1.0] Kernel panic - not syncing: while it goes down\n";
	_cleanup_run_console_ struct run_console c;

	(void)run_console_open(&c, NULL, NULL);
	c.measured = true;
	(void)run_console_feed(&c, text, strlen(text));
	ok(!c.crash_class, "nothing counts after the end record");
}

static void test_warnings_cap(void)
{
	_cleanup_run_console_ struct run_console c;

	(void)run_console_open(&c, NULL, NULL);
	for (int i = 0; i < 100; i++) {
		_cleanup_free_ char *line = str_format("[ 1.0] WARNING: at f%c%c\n", 'a' + i % 26, 'a' + i / 26);

		(void)run_console_feed(&c, line, strlen(line));
		(void)run_console_feed(&c, line, strlen(line));
	}
	is_int(json_array_size(c.warnings), RUN_WARNINGS_MAX, "warnings have a cap");
}

static void test_flood(void)
{
	_cleanup_(fs_rm_rf_free) char *dir = NULL;
	_cleanup_free_ char *path = NULL, *kept = NULL;
	_cleanup_run_console_ struct run_console c;
	char block[65536];
	size_t len = 0;

	if (fs_mkdtemp(NULL, "mmb-run-", &dir) < 0 || !(path = str_format("%s/console", dir)) ||
	    fs_write_atomic(path, "before\n", 7) < 0) {
		ok(false, "temporary folder");
		return;
	}
	memset(block, 'x', sizeof(block));
	is_int(run_console_open(&c, path, NULL), 0, "opens an existing file");
	for (int i = 0; i < 400; i++)
		(void)run_console_feed(&c, block, sizeof(block));
	(void)fs_read(path, 64u << 20, &kept, &len);
	ok(len > RUN_CONSOLE_FILE_MAX && len < RUN_CONSOLE_FILE_MAX + 200, "25 MiB are cut to %zu bytes", len);
	ok(kept && str_starts(kept, "before\n"), "what was there stays");
	ok(kept && str_ends(kept, "is not kept]\n"), "the file says that it was cut");
	is_int(c.bytes, 400LL * 65536, "all bytes are counted");
	ok(c.line.capacity < 8192, "a line without an end takes no memory");
}

static void test_noise(void)
{
	_cleanup_run_console_ struct run_console c;
	uint64_t x = 88172645463325252;
	char block[257];

	(void)run_console_open(&c, NULL, NULL);
	for (int i = 0; i < 20000; i++) {
		for (size_t k = 0; k < sizeof(block); k++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			block[k] = i & 1 ? (char)x : "[ 1.2]BUG: 0xRIP: :pc\n\xc3\xa4** "[x % 25];
		}
		(void)run_console_feed(&c, block, sizeof(block));
	}
	ok(!c.crash_title || strlen(c.crash_title) <= RUN_TITLE_MAX, "noise: a title has a cap: %s",
	   c.crash_title ? c.crash_title : "(none)");
}

static void test_title(void)
{
	_cleanup_free_ char *nasty = run_title("BUG: \x1b[31m<b>\xff x\n"), *wide = NULL, *text = NULL;

	ok(nasty && !strpbrk(nasty, "\x1b\n\xff"), "a title is harmless: %s", nasty);
	text = str_format("%0119d\xc3\xa4\xc3\xa4", 0);
	if (text)
		memset(text, 'y', 119);
	wide = text ? run_title(text) : NULL;
	is_int(wide ? strlen(wide) : 0, 119, "a title is not cut through a character");
}

int main(void)
{
	test_cases();
	test_measured();
	test_warnings_cap();
	test_flood();
	test_noise();
	test_title();
	return done_testing();
}
