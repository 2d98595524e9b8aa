// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/tap.h"
#include "workers/run-host.h"
#include "workers/run-verdict.h"

/* What was seen, as letters: H hello, E good end, X end with exit 1, W error record, B bad channel, U machine is up,
 * P pvpanic, O oops on the console, N panic on the console, S guest shutdown, K killed by us, L limit, T stalled, Q QEMU says
 * "no kernel", A QEMU died of signal 11, M no QEMU at all, I cannot be killed. */
static const struct {
	const char *seen, *status, *title, *error; /* title and error: a part of it */
} cases[] = {
	{ "UHES", "ok", NULL, NULL },
	{ "UHEK", "ok", NULL, NULL },
	{ "UHEA", "ok", NULL, NULL },
	{ "UHEP", "ok", NULL, NULL }, /* the panic came after the end record */
	{ "UHEN", "ok", NULL, NULL },
	{ "UHEOS", "crashed", "an oops", NULL }, /* it went on, but with a broken kernel */
	{ "UHEBS", "infra", NULL, "result channel" },
	{ "UHS", "crashed", "without its end record", NULL },
	{ "US", "boot-failed", "before init said hello", NULL },
	{ "UHXS", "crashed", "workload: ended with status 1", NULL },
	{ "UHWXS", "crashed", "workload: no such thing", NULL },
	{ "UHO", "crashed", "an oops", NULL },
	{ "UO", "boot-failed", "an oops", NULL },
	{ "UNKL", "boot-failed", "a panic", NULL },
	{ "UHP", "crashed", "panic without a text", NULL },
	{ "UP", "boot-failed", "panic without a text", NULL },
	{ "UHBO", "crashed", "an oops", NULL },
	{ "UHBK", "infra", NULL, "result channel: bad" },
	{ "UHKL", "timeout", NULL, "no end within 7 s" },
	{ "UKL", "boot-failed", NULL, "no sign of life from init within 7 s" },
	{ "UKLT", "infra", NULL, "host stall" },
	{ "UHKLT", "infra", NULL, "host stall" },
	{ "KL", "infra", NULL, "did not come up" },
	{ "Q", "boot-failed", NULL, "could not load kernel" },
	{ "", "infra", NULL, "did not start" },
	{ "UHA", "infra", NULL, "signal 11" },
	{ "M", "infra", NULL, "not found" },
	{ "UHKLI", "infra", NULL, "cannot be killed" },
};

static bool in(const char *seen, char letter)
{
	return strchr(seen, letter) != NULL;
}

static void test_case(size_t i)
{
	const char *seen = cases[i].seen;
	char no_thing[] = "no such thing", bad[] = "bad", reset[] = "guest-reset", oops[] = "an oops", panic[] = "a panic";
	const struct run_console console = { .crash_class = in(seen, 'O') ? "oops" : in(seen, 'N') ? "panic" : NULL,
					     .crash_title = in(seen, 'O') ? oops : in(seen, 'N') ? panic : NULL };
	const struct run_results results = { .hello = in(seen, 'H'),
					     .ended = in(seen, 'E') || in(seen, 'X'),
					     .exit_status = in(seen, 'X'),
					     .workload_error = in(seen, 'W') ? no_thing : NULL,
					     .bad = in(seen, 'B') ? bad : NULL };
	const struct run_qmp qmp = { .negotiated = in(seen, 'U'), .panicked = in(seen, 'P'),
				     .shutdown = in(seen, 'S') ? reset : NULL };
	const struct run_facts facts = { .console = &console, .results = &results, .qmp = &qmp,
					 .start_error = in(seen, 'M') ? "qemu: program not found" : NULL,
					 .qemu_text = in(seen, 'Q') ? "qemu: could not load kernel 'x'\n" : "",
					 .exit_status = in(seen, 'A') ? 128 + 11 : 1, .killed = in(seen, 'K'),
					 .unkillable = in(seen, 'I'), .limit_reached = in(seen, 'L'),
					 .stalled = in(seen, 'T'), .limit_seconds = 7 };
	_cleanup_run_verdict_ struct run_verdict v = { 0 };

	is_int(run_verdict_find(&facts, &v), 0, "'%s' has a verdict", seen);
	is_str(v.status, cases[i].status, "'%s' is %s", seen, cases[i].status);
	ok(!cases[i].title == !v.title && (!v.title || strstr(v.title, cases[i].title)), "'%s': title %s", seen,
	   v.title ? v.title : "none");
	ok(!cases[i].error == !v.error && (!v.error || strstr(v.error, cases[i].error)), "'%s': error %s", seen,
	   v.error ? v.error : "none");
}

static void test_stall(void)
{
	const struct process_cpu idle = { .used_ns = 1 }, stopped = { .stopped = true };
	const struct process_cpu starved = { .used_ns = 50, .delay_ns = 900 }, busy = { .used_ns = 900, .delay_ns = 900 };

	ok(!host_stalled(&idle, 1000, 0), "a guest that halts for ever is no stall");
	ok(host_stalled(&stopped, 1000, 0), "a stopped QEMU is");
	ok(host_stalled(&starved, 1000, 0), "one that waits for a processor is");
	ok(host_stalled(&idle, 1000, 800), "a host that stood still is");
	ok(!host_stalled(&busy, 1000, 800), "one that ran is not");
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		test_case(i);
	test_stall();
	return done_testing();
}
