// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/run-results.h"

#include <math.h>

#define METRIC_MAX 64
#define UNIT_MAX 16
#define ERROR_TEXT_MAX 200

int run_results_init(struct run_results *results, const char *nonce)
{
	*results = (struct run_results){ .nonce = nonce, .lines = JSON_LINES_INIT(RUN_RESULT_LINE_MAX) };
	results->samples = json_array();
	return results->samples ? 0 : -ENOMEM;
}

void run_results_done(struct run_results *results)
{
	json_lines_done(&results->lines);
	json_decref(results->samples);
	free(results->workload_error);
	free(results->bad);
	*results = (struct run_results){ 0 };
}

static int wrong(struct run_results *results, const char *format, ...) _printf_(2, 3);
static int wrong(struct run_results *results, const char *format, ...)
{
	_cleanup_str_ struct str s = STR_INIT;
	va_list ap;

	va_start(ap, format);
	(void)str_vaddf(&s, format, ap);
	va_end(ap);
	results->bad = str_take(&s);
	return results->bad ? 0 : -ENOMEM;
}

/* Takes as long for a wrong nonce as for the right one. */
static bool nonce_matches(const char *want, const char *got)
{
	size_t len = strlen(want);
	unsigned char diff = 0;

	if (!got || strlen(got) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		diff |= (unsigned char)(want[i] ^ got[i]);
	return diff == 0;
}

static bool metric_ok(const char *metric)
{
	size_t len = metric ? strlen(metric) : 0;

	return len && len <= METRIC_MAX && strspn(metric, "abcdefghijklmnopqrstuvwxyz0123456789_.") == len;
}

static bool unit_ok(const char *unit)
{
	if (!unit || strlen(unit) > UNIT_MAX)
		return false;
	for (; *unit; unit++)
		if (*unit < ' ' || *unit > '~')
			return false;
	return true;
}

static bool have_metric(const struct run_results *results, const char *metric)
{
	const json_t *sample;
	size_t i;

	json_array_foreach(results->samples, i, sample)
		if (str_eq(json_get_string(sample, "metric"), metric))
			return true;
	return false;
}

static int take_metric(struct run_results *results, const json_t *record)
{
	const char *metric = json_get_string(record, "metric"), *unit = json_get_string(record, "unit");
	const char *better = json_get_string(record, "better");
	double value = json_get_number(record, "value", NAN);
	json_t *sample;

	if (!metric_ok(metric))
		return wrong(results, "record %lld: not a metric's name", (long long)results->next_n);
	if (!isfinite(value))
		return wrong(results, "metric %s: the value is not a finite number", metric);
	if (!unit_ok(unit))
		return wrong(results, "metric %s: not a unit", metric);
	if (!str_eq(better, "lower") && !str_eq(better, "higher"))
		return wrong(results, "metric %s: better is neither lower nor higher", metric);
	if (have_metric(results, metric))
		return wrong(results, "metric %s comes twice", metric);
	sample = json_pack("{sssfssss}", "metric", metric, "value", value, "unit", unit, "better", better);
	return sample && json_array_append_new(results->samples, sample) >= 0 ? 0 : -ENOMEM;
}

static int take_hello(struct run_results *results, const json_t *record)
{
	(void)record;
	results->hello = true;
	return 0;
}

static int take_measure(struct run_results *results, const json_t *record)
{
	(void)record;
	results->measuring = true;
	return 0;
}

static int take_error(struct run_results *results, const json_t *record)
{
	const char *text = json_get_string(record, "error");

	if (!text)
		return wrong(results, "record %lld: the error is not a text", (long long)results->next_n);
	if (results->workload_error)
		return 0; /* the first one is the cause */
	results->workload_error = str_sanitize_line(text, strnlen(text, ERROR_TEXT_MAX));
	return results->workload_error ? 0 : -ENOMEM;
}

static int take_end(struct run_results *results, const json_t *record)
{
	int64_t records = json_get_int(record, "records", -1), status = json_get_int(record, "exit", -1);

	if (!json_get_bool(record, "end") || status < 0 || status > 255)
		return wrong(results, "record %lld: malformed end record", (long long)results->next_n);
	if (records != results->next_n)
		return wrong(results, "the end record counts %lld records, %lld came", (long long)records,
			     (long long)results->next_n);
	results->ended = true;
	results->exit_status = status;
	return 0;
}

static const struct {
	const char *key;
	int (*take)(struct run_results *results, const json_t *record);
} kinds[] = {
	{ "metric", take_metric }, { "hello", take_hello }, { "measure", take_measure },
	{ "error", take_error },   { "end", take_end },
};

static int take_kind(struct run_results *results, const json_t *record)
{
	int kind = -1;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!json_object_get(record, kinds[i].key))
			continue;
		if (kind >= 0)
			return wrong(results, "record %lld is of two kinds", (long long)results->next_n);
		kind = (int)i;
	}
	if (kind < 0)
		return wrong(results, "record %lld is of no known kind", (long long)results->next_n);
	return kinds[kind].take(results, record);
}

static int take_record(struct run_results *results, const json_t *record)
{
	int r;

	if (!nonce_matches(results->nonce, json_get_string(record, "nonce")))
		return wrong(results, "record %lld: wrong nonce", (long long)results->next_n);
	if (json_get_int(record, "n", -1) != results->next_n)
		return wrong(results, "record %lld is missing or out of order", (long long)results->next_n);
	if (results->next_n >= RUN_RECORDS_MAX)
		return wrong(results, "more than %d records", RUN_RECORDS_MAX);
	r = take_kind(results, record);
	results->next_n++;
	return r;
}

int run_results_feed(struct run_results *results, const char *data, size_t len)
{
	int r;

	if (results->bad || results->ended)
		return 0;
	r = json_lines_feed(&results->lines, data, len);
	while (r >= 0 && !results->bad && !results->ended) {
		_cleanup_json_ json_t *record = NULL;
		int got = json_lines_next(&results->lines, &record);

		if (results->lines.bad)
			return wrong(results, "a line is too long or no JSON object");
		if (got == 0)
			return 0;
		r = take_record(results, record);
	}
	return MIN(r, 0);
}

bool run_results_good(const struct run_results *results)
{
	return results->ended && !results->exit_status && !results->bad && !results->workload_error;
}

bool run_unit_is_time(const char *unit)
{
	static const char *const times[] = { "ns", "us", "ms", "s", "min", "h" };
	const char *per = strchr(unit, '/');
	size_t len = per ? (size_t)(per - unit) : strlen(unit);

	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		if ((strlen(times[i]) == len && strncmp(unit, times[i], len) == 0) ||
		    (per && str_eq(per + 1, times[i])))
			return true;
	return false;
}
