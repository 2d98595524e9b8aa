// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/job.h"

#include <signal.h>
#include <sys/prctl.h>

#define JOB_MAX_BYTES (1024 * 1024)

int job_die_with_parent(void)
{
	pid_t parent = getppid();

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

static int read_all(int fd, struct error *err, struct str *into)
{
	char block[16384];

	for (;;) {
		ssize_t n = read(fd, block, sizeof(block));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, -errno, "cannot read the job");
		if (n == 0)
			return 0;
		if (into->len + (size_t)n > JOB_MAX_BYTES)
			return error_set(err, -EFBIG, "the job is longer than %d bytes", JOB_MAX_BYTES);
		if (str_add_mem(into, block, (size_t)n) < 0)
			return error_errno(err, -ENOMEM, "cannot read the job");
	}
}

int job_read(int fd, const char *kind, struct error *err, json_t **ret)
{
	_cleanup_str_ struct str text = STR_INIT;
	_cleanup_json_ json_t *job = NULL;
	json_error_t where;
	const char *got;
	int r;

	r = read_all(fd, err, &text);
	if (r < 0)
		return r;
	job = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, &where);
	if (!job)
		return error_set(err, -EINVAL, "the job is not JSON: line %d: %s", where.line, where.text);
	if (!json_is_object(job))
		return error_set(err, -EINVAL, "the job is not a JSON object");
	r = job_need_string(job, "job", err, &got);
	if (r < 0)
		return r;
	if (!str_eq(got, kind))
		return error_set(err, -EINVAL, "the job is of kind \"%s\", not \"%s\"", got, kind);
	*ret = TAKE_PTR(job);
	return 0;
}

static int need(const json_t *job, const char *key, struct error *err, const json_t **ret)
{
	const json_t *v = json_object_get(job, key);

	if (!v)
		return error_set(err, -EINVAL, "the job has no \"%s\"", key);
	*ret = v;
	return 0;
}

int job_need_string(const json_t *job, const char *key, struct error *err, const char **ret)
{
	const json_t *v = NULL;
	const char *text;
	int r = need(job, key, err, &v);

	if (r < 0)
		return r;
	text = json_string_value(v);
	if (!text || !*text)
		return error_set(err, -EINVAL, "\"%s\" of the job is not a string with text", key);
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return error_set(err, -EINVAL, "\"%s\" of the job has control characters", key);
	*ret = text;
	return 0;
}

int job_need_path(const json_t *job, const char *key, struct error *err, const char **ret)
{
	const char *path;
	int r = job_need_string(job, key, err, &path);

	if (r < 0)
		return r;
	if (*path != '/')
		return error_set(err, -EINVAL, "\"%s\" of the job is not an absolute path: %s", key, path);
	*ret = path;
	return 0;
}

int job_need_int(const json_t *job, const char *key, int64_t min, int64_t max, struct error *err,
		 int64_t *ret)
{
	const json_t *v = NULL;
	int r = need(job, key, err, &v);

	if (r < 0)
		return r;
	if (!json_is_integer(v) || json_integer_value(v) < min || json_integer_value(v) > max)
		return error_set(err, -EINVAL, "\"%s\" of the job is not a whole number from %lld to %lld",
				 key, (long long)min, (long long)max);
	*ret = (int64_t)json_integer_value(v);
	return 0;
}

int job_need_object(const json_t *job, const char *key, struct error *err, const json_t **ret)
{
	const json_t *v = NULL;
	int r = need(job, key, err, &v);

	if (r < 0)
		return r;
	if (!json_is_object(v))
		return error_set(err, -EINVAL, "\"%s\" of the job is not an object", key);
	*ret = v;
	return 0;
}

int job_need_array(const json_t *job, const char *key, struct error *err, const json_t **ret)
{
	const json_t *v = NULL;
	int r = need(job, key, err, &v);

	if (r < 0)
		return r;
	if (!json_is_array(v))
		return error_set(err, -EINVAL, "\"%s\" of the job is not a list", key);
	*ret = v;
	return 0;
}

int job_progress(const char *phase, int64_t done, int64_t total)
{
	_cleanup_json_ json_t *line = NULL;

	if (total < 0)
		line = json_pack("{s{ss}}", "progress", "phase", phase);
	else
		line = json_pack("{s{sssIsI}}", "progress", "phase", phase, "done", (json_int_t)done, "total",
				 (json_int_t)total);
	return line ? json_write_line(STDOUT_FILENO, line) : -ENOMEM;
}

int job_result(const json_t *result)
{
	_cleanup_json_ json_t *line = json_object();

	if (!line || json_object_set(line, "result", (json_t *)(uintptr_t)result) < 0)
		return -ENOMEM;
	return json_write_line(STDOUT_FILENO, line);
}
