// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/record.h"

#include "db/build.h"
#include "db/job.h"
#include "db/run.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/str.h"

#include <math.h>

#define SAMPLES_MAX 4096

static char *text_of(const json_t *object, const char *key)
{
	const char *s = json_get_string(object, key);

	return s ? strdup(s) : NULL;
}

static bool is_signature(const char *s)
{
	return s && strlen(s) == 64 && strspn(s, "0123456789abcdef") == 64;
}

static char *list_text(const json_t *list)
{
	_cleanup_str_ struct str s = STR_INIT;
	const json_t *item;
	size_t i;

	json_array_foreach (list, i, item)
		(void)str_addf(&s, "%s%s", i ? " " : "", json_string_value(item) ? json_string_value(item) : "?");
	return str_take(&s);
}

/* Result and end of the job, or neither. */
static int end_job(struct engine *e, const struct running *run, int r)
{
	if (r >= 0)
		r = db_job_end(e->db, run->job_id, "done", NULL, now_wall_ns());
	return db_end(e->db, r);
}

int record_build(struct engine *e, const struct running *run, const json_t *result)
{
	_cleanup_(db_build_done) struct build b = { .job_id = run->job_id };
	const char *status = json_get_string(result, "status");
	char seconds[32];
	int r;

	if (!str_eq(status, "ok") && !str_eq(status, "build-failed"))
		return -EBADMSG;
	b.oid = strdup(run->oid);
	b.tree_oid = text_of(run->spec, "tree_oid");
	b.arch = text_of(run->spec, "arch");
	b.config = text_of(run->spec, "config");
	b.toolchain = strdup(e->toolchain);
	b.status = strdup(status);
	b.signature = text_of(result, "signature");
	b.kernel = text_of(result, "kernel");
	b.error = text_of(result, "error");
	b.unknown_options = list_text(json_object_get(result, "unknown_options"));
	b.seconds = json_get_number(result, "seconds", 0);
	b.cached = json_get_bool(result, "cached");
	b.layout = (int)json_get_int(run->spec, "layout", 0);
	if (!b.oid || !b.tree_oid || !b.arch || !b.config || !b.toolchain || !b.status)
		return -ENOMEM;
	if (str_eq(status, "ok") && (!is_signature(b.signature) || !b.kernel))
		return -EBADMSG;
	r = db_begin(e->db);
	if (r < 0)
		return r;
	r = end_job(e, run, db_build_add(e->db, &b, now_wall_ns()));
	if (r >= 0)
		log_info("build %.12s %s: %s%s%s, %s (%s)", run->oid, b.arch, status, b.error ? ": " : "", b.error ? b.error : "",
			 str_duration(b.seconds, seconds), b.cached ? "image was there" : run->subject);
	return r;
}

/* Fills one sample; strings are borrowed from the result. */
static int read_sample(const json_t *item, struct sample *ret)
{
	*ret = (struct sample){ .metric = json_get_string(item, "metric"),
				.unit = json_get_string(item, "unit"),
				.better = json_get_string(item, "better"),
				.class = json_get_string(item, "class"),
				.value = json_get_number(item, "value", NAN) };
	if (!ret->metric || !ret->unit || !isfinite(ret->value))
		return -EBADMSG;
	if (!str_eq(ret->better, "lower") && !str_eq(ret->better, "higher"))
		return -EBADMSG;
	if (!str_eq(ret->class, "exact") && !str_eq(ret->class, "count") && !str_eq(ret->class, "time"))
		return -EBADMSG;
	return 0;
}

static int read_samples(const json_t *list, struct sample **ret, size_t *ret_n)
{
	_cleanup_free_ struct sample *samples = NULL;
	const json_t *item;
	size_t i, n = json_array_size(list);

	if (n == 0 || n > SAMPLES_MAX)
		return -EBADMSG;
	samples = calloc(n, sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	json_array_foreach (list, i, item) {
		int r = read_sample(item, &samples[i]);

		if (r < 0)
			return r;
	}
	*ret = TAKE_PTR(samples);
	*ret_n = n;
	return 0;
}

int record_run(struct engine *e, const struct running *run, const json_t *result)
{
	static const char *const statuses[] = { "ok", "boot-failed", "crashed", "timeout", "state-differs" };
	_cleanup_free_ struct sample *samples = NULL;
	struct run_new new = { .job_id = run->job_id,
			       .oid = run->oid,
			       .series = json_get_string(run->spec, "series"),
			       .signature = json_get_string(run->spec, "signature"),
			       .nonce = json_get_string(run->spec, "nonce"),
			       .status = json_get_string(result, "status"),
			       .title = json_get_string(result, "title"),
			       .error = json_get_string(result, "error"),
			       .seconds = json_get_number(result, "seconds", 0),
			       .boot_seconds = json_get_number(result, "boot_seconds", 0) };
	bool known = false;
	char seconds[32];
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		known |= str_eq(new.status, statuses[i]);
	if (!known || !new.series || !new.signature || !new.nonce)
		return -EBADMSG;
	if (str_eq(new.status, "ok")) {
		r = read_samples(json_object_get(result, "samples"), &samples, &new.n_samples);
		if (r < 0)
			return r;
		new.samples = samples;
	}
	r = db_begin(e->db);
	if (r < 0)
		return r;
	r = end_job(e, run, db_run_add(e->db, &new, now_wall_ns()));
	if (r >= 0)
		log_info("run %.12s %s: %s%s%s, %s", run->oid, run->class, new.status, new.title ? ": " : "",
			 new.title ? new.title : "", str_duration(new.seconds, seconds));
	return r;
}
