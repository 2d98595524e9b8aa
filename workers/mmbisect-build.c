// SPDX-License-Identifier: GPL-2.0-or-later
/* mmbisect-build: one build job from stdin, to a bootable image or to the reason why there is none. */
#include "workers/build-checkout.h"
#include "workers/build-image.h"
#include "workers/build-make.h"
#include "workers/build-toolchain.h"
#include "workers/job.h"

#include "lib/clock.h"
#include "lib/fs.h"
#include "lib/log.h"
#include "lib/str.h"

#include <sys/stat.h>

#define FRAGMENT_MAX (1 << 20)
#define FREE_BYTES_MIN (UINT64_C(1) << 30)

static int need_space(const char *path, struct error *err)
{
	_cleanup_free_ char *existing = strdup(path);
	uint64_t bytes;
	int r;

	if (!existing)
		return error_errno(err, -ENOMEM, "%s", path);
	while (!fs_exists(existing) && strrchr(existing, '/') > existing)
		*strrchr(existing, '/') = '\0';
	r = fs_free_bytes(existing, &bytes);
	if (r < 0)
		return error_errno(err, r, "%s", existing);
	if (bytes < FREE_BYTES_MIN)
		return error_set(err, -ENOSPC, "disk full: only %llu MiB free at %s", (unsigned long long)(bytes >> 20),
				 existing);
	return 0;
}

static int read_request(struct build *b, struct error *err)
{
	int r = config_request_init(&b->request, b->job.base);

	for (size_t i = 0; r >= 0 && i < b->job.n_fragments; i++) {
		_cleanup_free_ char *text = NULL;

		r = fs_read(b->job.fragments[i], FRAGMENT_MAX, &text, NULL);
		if (r < 0)
			return error_errno(err, r, "config fragment %s", b->job.fragments[i]);
		r = config_request_add(&b->request, b->job.fragments[i], text, err);
		if (r < 0)
			return r;
	}
	if (r >= 0)
		r = config_request_hash(&b->request, b->config_hash);
	return r < 0 ? error_errno(err, r, "config request") : 0;
}

static int prepare(struct build *b, struct error *err)
{
	int r = toolchain_probe(err, &b->toolchain);

	if (r >= 0)
		r = need_space(b->job.slot, err);
	if (r >= 0)
		r = need_space(b->job.out, err);
	if (r >= 0)
		r = build_run_open(&b->run, b->job.log, b->job.limit_seconds, err);
	if (r >= 0)
		r = read_request(b, err);
	if (r >= 0)
		r = slot_open(&b->job, b->config_hash, &b->run, err, &b->slot);
	if (r >= 0)
		r = sandbox_prepare(&b->slot, err);
	return r;
}

static int build(struct build *b, uint64_t begin_ns, struct error *err, json_t **ret)
{
	int r = prepare(b, err);

	if (r >= 0)
		r = checkout(&b->slot, &b->job, &b->run, err);
	if (r >= 0)
		r = build_configure(b, err);
	if (r >= 0)
		r = build_compile(b, err);
	if (r >= 0)
		r = image_publish(b, begin_ns, err, ret);
	return r;
}

static json_t *failure(int r, const struct error *err)
{
	json_t *result = json_object();

	if (!result || json_object_set_new(result, "status", json_string(r == BUILD_FAILED ? "build-failed" : "infra")) < 0 ||
	    json_object_set_new(result, "error", json_bytes(error_text(err))) < 0) {
		json_decref(result);
		return NULL;
	}
	return result;
}

static int answer(json_t *result, uint64_t begin_ns)
{
	if (!result ||
	    json_object_set_new(result, "seconds", json_real((double)(now_mono_ns() - begin_ns) / 1e9)) < 0)
		return -ENOMEM;
	return job_result(result);
}

int main(void)
{
	_cleanup_build_ struct build b = { .job = BUILD_JOB_INIT, .run = BUILD_RUN_INIT, .slot = SLOT_INIT,
					   .request = CONFIG_REQUEST_INIT };
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_json_ json_t *result = NULL;
	uint64_t begin_ns = now_mono_ns();
	json_t *json;
	int r;

	log_init("mmbisect-build", LOG_LEVEL_INFO);
	(void)umask(022);
	if (job_die_with_parent() < 0)
		return EXIT_FAILURE;
	r = job_read(STDIN_FILENO, "build", &err, &json);
	if (r >= 0)
		r = build_job_parse(json, &err, &b.job);
	if (r < 0) {
		log_error("%s", error_text(&err));
		return JOB_EXIT_MALFORMED;
	}
	result = image_recall(&b.job);
	if (!result)
		r = build(&b, begin_ns, &err, &result);
	if (r < 0)
		result = failure(r, &err);
	r = answer(result, begin_ns);
	if (r < 0)
		log_error("cannot write the result: %s", strerror(-r));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
