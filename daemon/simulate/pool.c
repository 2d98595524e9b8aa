/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/simulate/pool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/judge/stats.h"
#include "lib/json.h"
#include "lib/str.h"

static const json_t *find_metric(const json_t *row, const char *metric)
{
	const json_t *metrics = json_object_get(row, "metrics");

	return json_object_get(json_object_get(metrics, "time"), metric);
}

static int read_values(const json_t *row, const char *metric, struct error *err, double **ret, size_t *ret_n)
{
	const json_t *m = find_metric(row, metric), *list = json_object_get(m, "values");
	const bool rate = str_eq(json_get_string(m, "better"), "higher");
	const char *name = json_get_string(row, "row");
	size_t n = json_array_size(list);

	if (n < POOL_LEAST)
		return error_set(err, -EINVAL, "row %s has %zu runs of '%s' of class time; %d are the least", name ? name : "?", n,
				 metric, POOL_LEAST);
	double *values = calloc(n, sizeof(*values));

	if (!values)
		return error_errno(err, -ENOMEM, "pool");
	for (size_t i = 0; i < n; i++) {
		double value = json_number_value(json_array_get(list, i));

		if (!(value > 0) || !isfinite(value)) {
			free(values);
			return error_set(err, -EINVAL, "row %s: value %zu of '%s' is not positive", name ? name : "?", i + 1, metric);
		}
		values[i] = rate ? 1 / value : value;
	}
	*ret = values;
	*ret_n = n;
	return 0;
}

static double relative_spread(const double *values, size_t n)
{
	double middle = judge_median(values, n);
	double *distances = calloc(n, sizeof(*distances));

	if (!distances)
		return NAN;
	for (size_t i = 0; i < n; i++)
		distances[i] = fabs(values[i] - middle);
	double spread = JUDGE_MAD_TO_SD * judge_median(distances, n) / middle;

	free(distances);
	return spread;
}

int world_pool_read(const json_t *document, const char *metric, struct error *err, struct world_pool *ret)
{
	const json_t *rows = json_object_get(document, "rows");
	size_t n = json_array_size(rows);
	struct world_pool pool = {0};

	if (!metric)
		metric = json_get_string(document, "metric");
	if (n == 0 || !metric)
		return error_set(err, -EINVAL, "no document of mmbisect compare --json or run --json, or it names no metric");
	int r = read_values(json_array_get(rows, 0), metric, err, &pool.good, &pool.n_good);

	if (r >= 0 && n > 1)
		r = read_values(json_array_get(rows, n - 1), metric, err, &pool.bad, &pool.n_bad);
	if (r >= 0) {
		pool.spread = relative_spread(pool.good, pool.n_good);
		if (pool.bad)
			pool.change = judge_median(pool.bad, pool.n_bad) / judge_median(pool.good, pool.n_good) - 1;
		pool.effect = pool.spread > 0 ? pool.change / pool.spread : 0;
	}
	if (r >= 0 && isnan(pool.spread))
		r = error_errno(err, -ENOMEM, "pool");
	if (r < 0) {
		world_pool_done(&pool);
		return r;
	}
	*ret = pool;
	return 0;
}

void world_pool_done(struct world_pool *pool)
{
	free(pool->good);
	free(pool->bad);
	*pool = (struct world_pool){0};
}
