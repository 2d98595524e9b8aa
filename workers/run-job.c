// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/run-job.h"

#include "workers/job.h"

/* What may stand in a value: one word of the kernel command line, one argument of QEMU. */
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define NAME_CHARS LETTERS DIGITS "_-"
#define QEMU_CHARS NAME_CHARS ".,=+:/"
#define VALUE_CHARS NAME_CHARS ".,:+/"

#define PARAMS_MAX 32 /* as many as the guest takes */

struct text_rule {
	const char *key;
	const char *chars; /* NULL: any printable ASCII */
	size_t min, max;
	size_t offset;
};
#define TEXT(key, chars, min, max, field)                                                          \
	{                                                                                          \
		key, chars, min, max, offsetof(struct run_job, field)                              \
	}

static const struct text_rule job_texts[] = {
	TEXT("nonce", LETTERS DIGITS, 8, 64, nonce),
	TEXT("arch", NAME_CHARS, 1, 32, arch),
};
static const struct text_rule machine_texts[] = {
	TEXT("qemu", NULL, 1, 4096, qemu),
	TEXT("type", QEMU_CHARS, 1, 256, type),
	TEXT("cpu", QEMU_CHARS, 1, 256, cpu),
};

static const char *const class_names[] = { [RUN_EXACT] = "exact", [RUN_TIME] = "time" };
static const char *const accel_names[] = { [RUN_TCG] = "tcg", [RUN_KVM] = "kvm" };

void run_job_done(struct run_job *job)
{
	json_decref(job->object);
	*job = RUN_JOB_INIT;
}

static bool text_fits(const char *text, const char *chars, size_t min, size_t max)
{
	size_t len = strlen(text);

	if (len < min || len > max)
		return false;
	if (chars)
		return strspn(text, chars) == len;
	for (const char *p = text; *p; p++)
		if (*p < ' ' || *p > '~')
			return false;
	return true;
}

static int read_texts(const json_t *object, const struct text_rule *rules, size_t n, struct error *err,
		      struct run_job *job)
{
	for (size_t i = 0; i < n; i++) {
		const char *text;
		int r = job_need_string(object, rules[i].key, err, &text);

		if (r < 0)
			return r;
		if (!text_fits(text, rules[i].chars, rules[i].min, rules[i].max))
			return error_set(err, -EINVAL, "\"%s\" has a character or a length that it must not have",
					 rules[i].key);
		*(const char **)(void *)((char *)job + rules[i].offset) = text;
	}
	return 0;
}

static int read_choice(const json_t *object, const char *key, const char *const *names, int n,
		       struct error *err, int *ret)
{
	const char *text;
	int r = job_need_string(object, key, err, &text);

	if (r < 0)
		return r;
	for (int i = 0; i < n; i++)
		if (str_eq(text, names[i])) {
			*ret = i;
			return 0;
		}
	return error_set(err, -EINVAL, "\"%s\" is neither \"%s\" nor \"%s\"", key, names[0], names[1]);
}

static int read_unsigned(const json_t *object, const char *key, int64_t min, int64_t max, struct error *err,
			 unsigned *ret)
{
	int64_t value;
	int r = job_need_int(object, key, min, max, err, &value);

	if (r < 0)
		return r;
	*ret = (unsigned)value;
	return 0;
}

static int read_machine(const json_t *machine, struct error *err, struct run_job *job)
{
	int class = RUN_EXACT, accel = RUN_TCG, r;

	r = read_texts(machine, machine_texts, ARRAY_SIZE(machine_texts), err, job);
	if (r < 0)
		return r;
	r = read_choice(machine, "class", class_names, ARRAY_SIZE(class_names), err, &class);
	if (r < 0)
		return r;
	r = read_choice(machine, "accel", accel_names, ARRAY_SIZE(accel_names), err, &accel);
	if (r < 0)
		return r;
	job->class = (enum run_class)class;
	job->accel = (enum run_accel)accel;
	r = read_unsigned(machine, "vcpus", 1, 512, err, &job->vcpus);
	if (r < 0)
		return r;
	r = read_unsigned(machine, "memory_mib", 16, 1 << 20, err, &job->memory_mib);
	if (r < 0)
		return r;
	job->cmdline = json_get_string(machine, "cmdline"); /* may be missing or empty */
	if (!job->cmdline)
		job->cmdline = "";
	if (!text_fits(job->cmdline, NULL, 0, 1024))
		return error_set(err, -EINVAL, "\"cmdline\" is not one line of at most 1024 printable characters");
	if (job->class == RUN_EXACT && (job->vcpus != 1 || job->accel != RUN_TCG))
		return error_set(err, -EINVAL, "a machine of class exact has one vCPU and accel tcg");
	return 0;
}

static bool reserved_name(const char *name)
{
	return str_eq(name, "nonce") || str_eq(name, "port") || str_eq(name, "workload");
}

static int check_params(const json_t *params, struct error *err)
{
	const char *name;
	json_t *value;

	if (json_object_size(params) > PARAMS_MAX)
		return error_set(err, -EINVAL, "\"params\" has more than %d members", PARAMS_MAX);
	json_object_foreach((json_t *)(uintptr_t)params, name, value) {
		if (!text_fits(name, NAME_CHARS, 1, 32) || reserved_name(name))
			return error_set(err, -EINVAL, "\"params\" has a member with a name that cannot be one");
		if (!json_is_string(value) || !text_fits(json_string_value(value), VALUE_CHARS, 1, 64))
			return error_set(err, -EINVAL, "parameter \"%s\" is not a string of 1 to 64 of A-Z a-z 0-9 _-.,:+/",
					 name);
	}
	return 0;
}

static int read_workload(const json_t *workload, struct error *err, struct run_job *job)
{
	int r = job_need_string(workload, "name", err, &job->workload);

	if (r < 0)
		return r;
	if (!text_fits(job->workload, NAME_CHARS, 1, 64))
		return error_set(err, -EINVAL, "\"name\" of the workload is not a name");
	r = job_need_object(workload, "params", err, &job->params);
	if (r < 0)
		return r;
	return check_params(job->params, err);
}

static int read_paths(const json_t *object, struct error *err, struct run_job *job)
{
	int r = job_need_path(object, "kernel", err, &job->kernel);

	if (r < 0)
		return r;
	r = job_need_path(object, "initramfs", err, &job->initramfs);
	if (r < 0)
		return r;
	return job_need_path(object, "console", err, &job->console);
}

static int read_job(const json_t *object, struct error *err, struct run_job *job)
{
	const json_t *machine, *workload;
	int r;

	r = read_texts(object, job_texts, ARRAY_SIZE(job_texts), err, job);
	if (r < 0)
		return r;
	r = read_paths(object, err, job);
	if (r < 0)
		return r;
	r = read_unsigned(object, "limit_seconds", 1, 86400, err, &job->limit_seconds);
	if (r < 0)
		return r;
	r = job_need_object(object, "machine", err, &machine);
	if (r < 0)
		return r;
	r = read_machine(machine, err, job);
	if (r < 0)
		return r;
	r = job_need_object(object, "workload", err, &workload);
	if (r < 0)
		return r;
	return read_workload(workload, err, job);
}

int run_job_parse(json_t *object, struct error *err, struct run_job *ret)
{
	struct run_job job = { .object = object };
	int r = read_job(object, err, &job);

	if (r < 0) {
		run_job_done(&job);
		return r;
	}
	*ret = job;
	return 0;
}
