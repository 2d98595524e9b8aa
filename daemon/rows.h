/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_ROWS_H
#define MMB_ROWS_H

/*
 * Commits side by side: the rows of `compare`, `run` and of a finding's three-way table. First all images are built, then the
 * exact runs, then the time runs, run k of every row before run k + 1 of any, so that what drifts drifts for all.
 */
#include "daemon/engine.h"
#include "daemon/plan.h"
#include "db/run.h"

struct row {
	char *name;   /* parent, culprit, fixed, reverted, or the revision as given */
	char *label;  /* for people */
	char *oid;    /* NULL: there is none, `status` says why */
	char *status; /* NULL while fine */
	char *note;
};

struct rows {
	struct row *items;
	size_t n, capacity;
	const char *arch, *workload; /* borrowed */
	unsigned runs_exact, runs_time; /* 0: not measured */
	const char *ended_class; /* how runs end is what counts, on machines of this class; NULL: values are compared. Borrowed */
	unsigned runs_ended;	 /* runs of it; 0: the image is enough */
	int64_t search_id;
	int priority;
	int64_t fresh_after; /* class time: only runs with larger ids count; 0: all do */
	bool broken; /* infrastructure failed for a row */
};
void rows_done(struct rows *rows);
/* Copies all strings; oid, status, note may be NULL. */
int rows_add(struct rows *rows, const char *name, const char *label, const char *oid, const char *status, const char *note);

/* Asks for what is missing. *ret_pending: jobs are under way; else every row is measured or has a status. */
int rows_step(struct engine *engine, struct rows *rows, struct error *err, bool *ret_pending);
/* Rows that only infrastructure kept from being measured are open again. */
void rows_forget_broken(struct rows *rows);
/* What there is of a row on machines of a class, without asking for anything. */
int rows_look(struct engine *engine, const struct rows *rows, const struct row *row, const char *class, struct error *err,
	      struct want_result *ret);
/* The values of a metric that count, in the order they were measured; `look` is what rows_look() said. */
int rows_values(struct engine *engine, const struct rows *rows, const struct want_result *look, const char *class,
		const char *metric, struct values *ret);
/* The first row of that name, or NULL. */
const struct row *rows_find(const struct rows *rows, const char *name);
/* The document's ROWs. */
int rows_json(struct engine *engine, const struct rows *rows, struct error *err, json_t **ret);

#endif
