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
