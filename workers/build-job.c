// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/build-job.h"

#include "workers/job.h"

static const struct build_arch archs[] = {
	/* QEMU enters an uncompressed vmlinux by its PVH note: nothing is compressed, nothing unpacked in the boot. */
	{ "x86_64", "x86_64", "x86", "vmlinux", "vmlinux" },
	{ "i386", "i386", "x86", "vmlinux", "vmlinux" },
	{ "arm64", "arm64", "arm64", "Image", "arch/arm64/boot/Image" },
	{ "riscv64", "riscv", "riscv", "Image", "arch/riscv/boot/Image" },
};

const struct build_arch *build_arch_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++)
		if (str_eq(archs[i].name, name))
			return &archs[i];
	return NULL;
}

/* A target of make that configures, and nothing that make would take for an option or a variable. */
static bool is_config_target(const char *s)
{
	return s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0' && str_ends(s, "config");
}

static int parse_fragments(struct build_job *job, struct error *err)
{
	const json_t *list;
	int r = job_need_array(job->json, "fragments", err, &list);

	if (r < 0)
		return r;
	job->fragments = calloc(json_array_size(list) + 1, sizeof(*job->fragments));
	if (!job->fragments)
		return error_errno(err, -ENOMEM, "fragments");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *path = json_string_value(json_array_get(list, i));

		if (!path || *path != '/')
			return error_set(err, -EINVAL, "\"fragments\" of the job are not all absolute paths");
		job->fragments[job->n_fragments++] = path;
	}
	return 0;
}

static int parse_strings(struct build_job *job, struct error *err, const char **ret_arch)
{
	const struct {
		const char *key;
		int (*need)(const json_t *, const char *, struct error *, const char **);
		const char **field;
	} keys[] = {
		{ "repo", job_need_path, &job->repo },	 { "commit", job_need_string, &job->commit },
		{ "arch", job_need_string, ret_arch },	 { "base", job_need_string, &job->base },
		{ "slot", job_need_path, &job->slot },	 { "out", job_need_path, &job->out },
		{ "log", job_need_path, &job->log },
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		int r = keys[i].need(job->json, keys[i].key, err, keys[i].field);

		if (r < 0)
			return r;
	}
	return 0;
}

int build_job_parse(json_t *json, struct error *err, struct build_job *job)
{
	const char *arch = NULL;
	int64_t jobs, limit, layout = 0;
	int r;

	job->json = json;
	r = parse_strings(job, err, &arch);
	if (r >= 0)
		r = parse_fragments(job, err);
	if (r >= 0)
		r = job_need_int(json, "jobs", 1, 1024, err, &jobs);
	if (r >= 0)
		r = job_need_int(json, "limit_seconds", 1, 7 * 86400, err, &limit);
	if (r >= 0 && json_object_get(json, "layout"))
		r = job_need_int(json, "layout", 0, BUILD_LAYOUT_MAX, err, &layout);
	if (r < 0)
		return r;
	if (!str_is_oid(job->commit))
		return error_set(err, -EINVAL, "\"commit\" of the job is not a whole object id: %s", job->commit);
	if (!is_config_target(job->base))
		return error_set(err, -EINVAL, "\"base\" of the job is not a config target: %s", job->base);
	job->arch = build_arch_find(arch);
	if (!job->arch)
		return error_set(err, -EINVAL, "\"arch\" of the job is not known: %s", arch);
	job->jobs = (unsigned)jobs;
	job->limit_seconds = (unsigned)limit;
	job->layout = (unsigned)layout;
	return 0;
}

void build_job_done(struct build_job *job)
{
	free(job->fragments);
	json_decref(job->json);
	*job = BUILD_JOB_INIT;
}
