// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/run-report.h"

#include "lib/clock.h"

#include <math.h>

int run_record_init(struct run_record *record, const char *nonce)
{
	*record = RUN_RECORD_INIT;
	return run_results_init(&record->results, nonce);
}

void run_record_done(struct run_record *record)
{
	run_console_done(&record->console);
	run_results_done(&record->results);
	run_qmp_done(&record->qmp);
	str_done(&record->qemu_text);
}

void run_record_measure_begin(struct run_record *record, pid_t qemu)
{
	(void)host_cpu_read(&record->host_begin);
	(void)process_cpu_read(qemu, &record->qemu_begin);
}

void run_record_measure_end(struct run_record *record, pid_t qemu)
{
	(void)host_cpu_read(&record->host_end);
	(void)process_cpu_read(qemu, &record->qemu_end);
}

static double seconds_between(uint64_t from_ns, uint64_t to_ns)
{
	return from_ns && to_ns > from_ns ? round((double)(to_ns - from_ns) / 1e6) / 1e3 : 0.0;
}

static const char *sample_class(const struct run_job *job, const char *unit)
{
	if (job->class == RUN_EXACT)
		return "exact";
	return run_unit_is_time(unit) ? "time" : "count";
}

static int add_samples(json_t *result, const struct run_record *record, const struct run_job *job, bool ok)
{
	json_t *samples = json_array(), *sample;
	size_t i;

	if (!samples || json_object_set_new(result, "samples", samples) < 0)
		return -ENOMEM;
	if (!ok)
		return 0;
	json_array_foreach(record->results.samples, i, sample) {
		json_t *copy = json_copy(sample);

		if (!copy || json_array_append_new(samples, copy) < 0)
			return -ENOMEM;
		if (json_object_set_new(copy, "class",
					json_string(sample_class(job, json_get_string(sample, "unit")))) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* How much of the host's processors went to a hypervisor above it and to others than QEMU. */
static int add_disturbance(json_t *result, const struct run_record *record)
{
	double total = (double)record->host_end.total - (double)record->host_begin.total;
	double steal = (double)record->host_end.steal - (double)record->host_begin.steal;
	double busy = (double)record->host_end.busy - (double)record->host_begin.busy;
	double qemu = (double)(record->qemu_end.used_ns - record->qemu_begin.used_ns) / (double)host_tick_ns();

	if (!record->end_ns || !record->hello_ns || total <= 0)
		return 0;
	if (json_object_set_new(result, "host_steal", json_real(steal / total)) < 0 ||
	    json_object_set_new(result, "load", json_real(MAX(0.0, (busy - qemu) / total))) < 0)
		return -ENOMEM;
	return 0;
}

static int add_warnings(json_t *result, const struct run_record *record)
{
	json_t *warnings = json_array();

	if (!warnings || json_object_set_new(result, "warnings", warnings) < 0 ||
	    (record->console.warnings && json_array_extend(warnings, record->console.warnings) < 0))
		return -ENOMEM;
	if (record->console.write_error) {
		_cleanup_free_ char *text =
			str_format("console file: %s", strerrordesc_np(-record->console.write_error));

		if (!text || json_array_append_new(warnings, json_string(text)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int find_verdict(const struct run_record *record, const struct run_job *job, struct run_verdict *ret)
{
	struct run_facts facts = {
		.console = &record->console,
		.results = &record->results,
		.qmp = &record->qmp,
		.start_error = record->start_error,
		.qemu_text = record->qemu_text.data,
		.exit_status = record->exit_status,
		.killed = record->killed,
		.unkillable = record->unkillable,
		.limit_reached = record->limit_reached,
		.stalled = record->stalled,
		.limit_seconds = job->limit_seconds,
	};

	return run_verdict_find(&facts, ret);
}

int run_record_report(const struct run_record *record, const struct run_job *job, json_t **ret)
{
	_cleanup_run_verdict_ struct run_verdict v = { 0 };
	_cleanup_json_ json_t *result = NULL;
	int r;

	r = find_verdict(record, job, &v);
	if (r < 0)
		return r;
	result = json_pack("{ss ss? ss? ss? sf sf sI ss?}", "status", v.status, "crash_class", v.class, "title",
			   v.title, "error", v.error, "seconds", seconds_between(record->start_ns, record->done_ns),
			   "boot_seconds", seconds_between(record->start_ns, record->hello_ns), "console_bytes",
			   (json_int_t)record->console.bytes, "qemu_version", record->qmp.version);
	if (!result)
		return -ENOMEM;
	r = add_samples(result, record, job, str_eq(v.status, "ok"));
	if (r >= 0)
		r = add_warnings(result, record);
	if (r >= 0 && job->class == RUN_TIME)
		r = add_disturbance(result, record);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(result);
	return 0;
}
