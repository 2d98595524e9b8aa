/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_WATCHED_H
#define MMB_WATCHED_H

/*
 * The other metrics that are watched beside the one that a search goes by: they come from the same exact runs, so they are
 * compared without a run more.
 */
#include "daemon/engine.h"
#include "daemon/judge/compare.h"
#include "db/search.h"

/* The k-th watched metric of class exact, the driver first; NULL: there are no more. Borrowed. */
const char *watched_metric(const struct workload *workload, size_t k);

/* Two commits by a metric of their exact runs. 1 compared, 0 one of them has no value. */
int watched_compare(struct engine *engine, const struct search *question, const struct workload *workload, const char *metric,
		    const char *before, const char *after, struct error *err, struct judge_comparison *ret);

/* What else moved between parent and culprit, above its floor: {metric, before, after, ratio, relation} each. */
int watched_json(struct engine *engine, const struct search *question, const char *parent, const char *culprit, struct error *err,
		 json_t **ret);

#endif
