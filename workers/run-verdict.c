// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/run-verdict.h"

#define QEMU_TEXT_SHOWN 300

/* What QEMU says when the image, not the host, is at fault. */
static const char *const bad_kernel_texts[] = {
	"could not load kernel",
	"Error loading uncompressed kernel without PVH ELF Note",
	"invalid kernel header",
	"kernel too old",
	"error reading initrd",
};

void run_verdict_done(struct run_verdict *verdict)
{
	free(verdict->title);
	free(verdict->error);
	*verdict = (struct run_verdict){ 0 };
}

static int say(struct run_verdict *v, const char *status, const char *format, ...) _printf_(3, 4);
static int say(struct run_verdict *v, const char *status, const char *format, ...)
{
	_cleanup_str_ struct str s = STR_INIT;
	va_list ap;

	va_start(ap, format);
	(void)str_vaddf(&s, format, ap);
	va_end(ap);
	v->status = status;
	v->error = str_take(&s);
	return v->error ? 0 : -ENOMEM;
}

/* A crash before hello is a failed boot. */
static int say_crash(const struct run_facts *f, struct run_verdict *v, const char *class, const char *title)
{
	v->status = f->results->hello ? "crashed" : "boot-failed";
	v->class = class;
	v->title = str_format("%s", title);
	return v->title ? 0 : -ENOMEM;
}

static int say_qemu(const struct run_facts *f, struct run_verdict *v, const char *status, const char *what)
{
	_cleanup_free_ char *text =
		str_sanitize_line(f->qemu_text, strnlen(f->qemu_text, QEMU_TEXT_SHOWN));
	size_t len = text ? strlen(text) : 0;

	while (len && text[len - 1] == ' ')
		text[--len] = '\0';
	return say(v, status, "%s%s%s", what, len ? ": " : "", len ? text : "");
}

static bool kernel_is_bad(const char *qemu_text)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad_kernel_texts); i++)
		if (strstr(qemu_text, bad_kernel_texts[i]))
			return true;
	return false;
}

static int not_started(const struct run_facts *f, struct run_verdict *v)
{
	if (f->start_error)
		return say(v, "infra", "%s", f->start_error);
	if (kernel_is_bad(f->qemu_text))
		return say_qemu(f, v, "boot-failed", "QEMU does not take the kernel");
	if (f->killed)
		return say_qemu(f, v, "infra", "QEMU did not come up within the limit");
	return say_qemu(f, v, "infra", "QEMU did not start");
}

static int guest_crashed(const struct run_facts *f, struct run_verdict *v)
{
	if (f->console->crash_class)
		return say_crash(f, v, f->console->crash_class, f->console->crash_title);
	return say_crash(f, v, "panic", "kernel panic without a text");
}

static int workload_failed(const struct run_facts *f, struct run_verdict *v)
{
	_cleanup_free_ char *title = NULL;

	if (f->results->workload_error)
		title = str_format("workload: %s", f->results->workload_error);
	else
		title = str_format("workload: ended with status %lld", (long long)f->results->exit_status);
	return title ? say_crash(f, v, "workload", title) : -ENOMEM;
}

static int limit_reached(const struct run_facts *f, struct run_verdict *v)
{
	if (f->stalled)
		return say(v, "infra", "host stall: QEMU got next to no processor time in %u s", f->limit_seconds);
	if (f->results->hello)
		return say(v, "timeout", "no end within %u s", f->limit_seconds);
	return say(v, "boot-failed", "no sign of life from init within %u s", f->limit_seconds);
}

static int ended_early(const struct run_facts *f, struct run_verdict *v)
{
	_cleanup_free_ char *what = NULL;

	if (f->qmp->shutdown)
		return say_crash(f, v, "end", f->results->hello ? "the guest ended without its end record" :
								  "the guest ended before init said hello");
	if (f->killed)
		return say(v, "infra", "QEMU was killed");
	what = f->exit_status > 128 ? str_format("QEMU died of signal %d", f->exit_status - 128) :
				      str_format("QEMU ended with status %d", f->exit_status);
	return what ? say_qemu(f, v, "infra", what) : -ENOMEM;
}

/* A panic ends the guest: when the end record is there it came after it, and took nothing from the measurement. */
static bool crash_counts(const struct run_facts *f)
{
	if (run_results_good(f->results))
		return f->console->crash_class && !str_eq(f->console->crash_class, "panic");
	return f->console->crash_class || f->qmp->panicked;
}

static int find(const struct run_facts *f, struct run_verdict *v)
{
	if (f->start_error)
		return not_started(f, v);
	if (crash_counts(f))
		return guest_crashed(f, v);
	if (run_results_good(f->results)) {
		v->status = "ok";
		return 0;
	}
	if (f->results->workload_error || (f->results->ended && f->results->exit_status))
		return workload_failed(f, v);
	if (!f->qmp->negotiated && !f->results->hello)
		return not_started(f, v);
	if (f->unkillable)
		return say(v, "infra", "QEMU cannot be killed");
	if (f->results->bad)
		return say(v, "infra", "result channel: %s", f->results->bad);
	if (f->limit_reached)
		return limit_reached(f, v);
	return ended_early(f, v);
}

int run_verdict_find(const struct run_facts *facts, struct run_verdict *ret)
{
	struct run_verdict v = { 0 };
	int r = find(facts, &v);

	if (r < 0) {
		run_verdict_done(&v);
		return r;
	}
	*ret = v;
	return 0;
}
