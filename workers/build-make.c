// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/build-make.h"

#include "workers/build-verdict.h"

void build_done(struct build *b)
{
	build_run_done(&b->run);
	slot_done(&b->slot);
	config_request_done(&b->request);
	json_decref(b->unknown_options);
	free(b->toolchain);
	build_job_done(&b->job);
}

/*
 * All that would make one build of a commit differ from the next is pinned. Kconfig tries the compiler a hundred times on nothing,
 * which ccache cannot keep and only doubles: it is left out there.
 */
void build_add_make(const struct build *b, struct argv *argv, bool configures)
{
	static const char *const fixed[] = {
		"make",
		"-C",
		"/src",
		"O=/obj",
		"LLVM=1",
		"HOSTCC=ccache clang",
		"KBUILD_BUILD_TIMESTAMP=1970-01-01",
		"KBUILD_BUILD_USER=mmbisect",
		"KBUILD_BUILD_HOST=mmbisect",
		"KBUILD_BUILD_VERSION=1",
		"LOCALVERSION=",
		NULL,
	};

	argv_add_list(argv, fixed);
	argv_add(argv, configures ? "CC=clang" : "CC=ccache clang");
	argv_add(argv, "ARCH=%s", b->job.arch->kbuild);
	argv_add(argv, "-j%u", b->job.jobs);
}

struct step {
	struct verdict verdict;
	build_line_fn line;
	void *userdata;
};

static void on_line(void *userdata, const char *line)
{
	struct step *step = userdata;

	verdict_line(&step->verdict, line);
	if (step->line)
		step->line(step->userdata, line);
}

static int judge(const struct verdict *v, int status, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	bool infra;

	text = verdict_text(v, status, &infra);
	if (!text)
		return error_errno(err, -ENOMEM, "make");
	return error_set(err, infra ? -EAGAIN : BUILD_FAILED, "%s", text);
}

int build_step(struct build *b, const struct argv *argv, build_line_fn line, void *userdata, struct error *err,
	       bool *ret_sure)
{
	struct step step = { .verdict = VERDICT_INIT, .line = line, .userdata = userdata };
	int r, status;

	if (!argv_get(argv))
		return error_errno(err, -ENOMEM, "make");
	r = sandbox_run(&b->slot, &b->run, argv_get(argv), on_line, &step, err, &status);
	if (r >= 0 && status)
		r = judge(&step.verdict, status, err);
	if (ret_sure)
		*ret_sure = verdict_is_sure(&step.verdict);
	verdict_done(&step.verdict);
	return r;
}
