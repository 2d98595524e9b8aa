// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "result.h"

static const struct workload *const workloads[] = {
	&thread_stack,
};

static const struct workload *workload_find(const char *name)
{
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++)
		if (!strcmp(workloads[i]->name, name))
			return workloads[i];
	return NULL;
}

static int set_param(struct result *r, const struct workload *w, const struct order_param *p,
		     uint64_t *value)
{
	const struct workload_param *known = NULL;
	unsigned long long number;
	char *end;
	int i;

	for (i = 0; i < w->n_params && !known; i++)
		if (!strcmp(w->params[i].name, p->name))
			known = &w->params[i];
	if (!known) {
		result_error(r, "workload %s has no parameter %.40s", w->name, p->name);
		return -EINVAL;
	}

	errno = 0;
	number = strtoull(p->value, &end, 0);
	if (errno || end == p->value || *end || *p->value == '-' || number < known->min ||
	    number > known->max) {
		result_error(r, "%s=%.40s: wants a number from %" PRIu64 " to %" PRIu64, p->name,
			     p->value, known->min, known->max);
		return -EINVAL;
	}
	value[known - w->params] = number;
	return 0;
}

int workload_run(struct result *r, const struct order *o)
{
	const struct workload *w = workload_find(o->workload);
	uint64_t value[WORKLOAD_PARAMS_MAX];
	int i, ret;

	if (!w) {
		result_error(r, "unknown workload '%.40s'", o->workload);
		return -ENOENT;
	}
	for (i = 0; i < w->n_params; i++)
		value[i] = w->params[i].value;
	for (i = 0; i < o->n_params; i++) {
		ret = set_param(r, w, &o->params[i], value);
		if (ret < 0)
			return ret;
	}
	return w->run(r, value);
}
