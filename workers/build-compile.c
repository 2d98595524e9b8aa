// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/build-make.h"

#include "workers/build-layout.h"
#include "workers/job.h"

#include "lib/clock.h"
#include "lib/str.h"

#include <ctype.h>

#define PROGRESS_EVERY_NS (200 * NSEC_PER_MSEC)

/* Steps that make has announced, against those of the last build of the same kind (from nothing, or of a change). */
struct counts {
	uint64_t cold, warm;
};

struct compile {
	const char *phase;
	uint64_t done, total, last_ns;
};

static struct counts recall_counts(const struct build *b)
{
	_cleanup_free_ char *text = NULL;
	struct counts c = { 0 };
	char *end;

	if (slot_obj_recall(&b->slot, "count", &text) < 0)
		return c;
	c.cold = strtoull(text, &end, 10);
	c.warm = strtoull(end, NULL, 10);
	return c;
}

static void remember_counts(const struct build *b, struct counts c)
{
	_cleanup_free_ char *text = str_format("%llu %llu\n", (unsigned long long)c.cold, (unsigned long long)c.warm);

	if (text)
		(void)slot_obj_remember(&b->slot, "count", text);
}

/* "  CC      mm/mmap.o" */
static bool is_step(const char *line)
{
	return str_starts(line, "  ") && isupper((unsigned char)line[2]);
}

static void on_line(void *userdata, const char *line)
{
	struct compile *c = userdata;
	uint64_t now = now_mono_ns();

	if (!is_step(line))
		return;
	c->done++;
	if (str_starts(line, "  LD      vmlinux") || str_starts(line, "  LD      .tmp_vmlinux")) {
		if (!str_eq(c->phase, "link"))
			c->last_ns = 0;
		c->phase = "link";
	}
	if (now - c->last_ns < PROGRESS_EVERY_NS)
		return;
	c->last_ns = now;
	(void)job_progress(c->phase, (int64_t)c->done,
			   (int64_t)(c->total ? MAX(c->total, c->done) : 0));
}

static int compile(struct build *b, struct error *err, bool *ret_sure)
{
	_cleanup_argv_ struct argv argv = ARGV_INIT;
	struct counts counts = recall_counts(b);
	bool warm = b->slot.warm;
	struct compile state = { .phase = "compile", .total = warm ? counts.warm : counts.cold };
	int r;

	(void)job_progress("compile", 0, (int64_t)state.total);
	build_add_make(b, &argv, false);
	argv_add(&argv, "%s", b->job.arch->target);
	r = slot_obj_begin(&b->slot, err);
	if (r < 0)
		return r;
	r = layout_prepare(&b->slot, b->job.layout, err);
	if (r >= 0)
		r = build_step(b, &argv, on_line, &state, err, ret_sure);
	if (r >= 0 || r == BUILD_FAILED)
		slot_obj_end(&b->slot);
	if (r >= 0) {
		*(warm ? &counts.warm : &counts.cold) = state.done;
		remember_counts(b, counts);
	}
	return r;
}

int build_compile(struct build *b, struct error *err)
{
	bool warm = b->slot.warm, sure = true;
	int r = compile(b, err, &sure);

	if (r != BUILD_FAILED || !warm || sure)
		return r;
	/* No source file is named: it may be what an earlier commit has left in the O= tree. */
	error_done(err);
	r = slot_obj_wipe(&b->slot, err);
	if (r >= 0)
		r = build_configure(b, err);
	if (r >= 0)
		r = compile(b, err, &sure);
	return r;
}
