/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_DETECT_INTERNAL_H
#define MMB_DETECT_INTERNAL_H

/* A look at a new tip: detect.c takes it through its classes, detect-time.c and detect-history.c are parts of it. */
#include "daemon/service.h"

#include "daemon/judge/family.h"
#include "daemon/plan.h"
#include "db/tip.h"
#include "lib/str.h"

/* Of several workloads, arches and classes the gravest counts; what is still under way is the gravest. */
enum outcome { OUTCOME_SAME, OUTCOME_UNRELATED, OUTCOME_FAILED, OUTCOME_WORSE, OUTCOME_PENDING };

/* One comparison of the tip, out of all of them. Owns its strings. */
struct comparison {
	char *workload, *arch, *metric, *good;
	const char *class;
	double before, after, ratio;
	struct judge_member member;
};

/* All comparisons of one kind: which of them count is said of all together (judge/family.h). */
struct family {
	struct comparison *items;
	size_t n, capacity;
};

/* One workload on one arch. All is borrowed. */
struct look {
	struct service *service;
	const struct tip *tip;
	const struct tip *base; /* the accepted tip it is compared with; NULL: there is none yet */
	const struct workload *workload;
	const char *arch;
	struct family *family; /* what the comparisons say */
	struct str *notes; /* what a person should read beside the outcome: "; " before each */
	struct str *lines; /* for the log, once the tip is settled: a look that waits is taken again and again */
};

/* What is to be searched, and why. */
struct suspicion {
	const char *workload, *arch, *class, *metric;
	const char *good; /* a commit that was on the level before */
	double before, after, ratio, claim;
	const char *status, *title; /* metric status: how the tip ends; NULL else */
};

/* Starts a search between good and the tip: OUTCOME_WORSE, or OUTCOME_UNRELATED when there is nothing between them to search. */
int detect_search(const struct look *look, const struct suspicion *suspicion, struct error *err);

/* Adds a comparison with the base; what it says of noise is p, 1 when it said nothing. */
int detect_compared(const struct look *look, const char *class, const char *metric, const struct judge_member *member,
		    double before, double after, double ratio, struct error *err);
/* The tip overran its limit where the base did not: that counts, whatever the rest says. */
int detect_overran(const struct look *look, const char *class, const char *metric, double before, struct error *err);

/* A line for the log. */
void detect_say(const struct look *look, const char *format, ...) _printf_(2, 3);

/* Image and runs of a commit, as far as they are there (no more than `runs` are asked for; 0: the image). */
int detect_want(const struct look *look, const char *oid, const char *class, unsigned runs, struct error *err,
		struct want_result *ret);
/* The same without asking for anything: series, signature and its runs that ended well. */
int detect_look(const struct look *look, const char *oid, const char *class, struct error *err, struct want_result *ret);
/* Broken infrastructure says nothing about a commit: it is tried again after a pause. */
bool detect_is_open(const struct want_result *want);
enum judge_better detect_better(const struct look *look, const struct want_result *want, const char *metric);

/* Runs tip and base in turns on the machine of class time until the question is answered. An outcome. */
int detect_time(const struct look *look, double alpha, struct error *err);

/*
 * All accepted tips of the branch and this one: slow creep is noted, a step that single comparisons did not see is searched.
 * An outcome.
 */
int detect_history(const struct look *look, const char *class, struct error *err);

#endif
