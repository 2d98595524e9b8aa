/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_PLAN_H
#define MMB_PLAN_H

/*
 * From wants to jobs. "N ok runs of this commit on that machine" is asked again and again; what the database holds already is
 * never done again, what is queued is not queued twice. Commits of equal tree share a build, images of equal signature
 * share runs.
 */
#include "daemon/engine.h"

struct want {
	const char *oid, *tree_oid;
	const char *arch, *workload, *class;
	unsigned runs;	   /* ok runs in total */
	bool ended;	   /* `runs` counts those that ended in any way: it is the way they end that is asked for */
	int64_t search_id; /* 0: none */
	int layout;	   /* of the image: 0 as the tree links itself */
	int priority;	   /* smaller is sooner */
	unsigned stale;	   /* of the ok runs, so many are there already and do not count for whoever asks */
	bool interleave;   /* run k that counts gets priority + k: several wants take turns; else they are run as they were asked for */
};

enum want_state {
	WANT_PENDING, /* jobs are queued or under way */
	WANT_MET,
	WANT_SKIPPED, /* does not build, does not boot, crashes */
	WANT_SLOW,    /* overruns its limit */
	WANT_BROKEN,  /* infrastructure, out of tries: says nothing about the commit */
};

struct want_result {
	enum want_state state;
	char *series, *signature; /* when there is an image */
	bool stored;		  /* the image's file is there: a run needs no build */
	int64_t n_ok;		  /* its runs that ended well */
	char *status;		  /* run status word: ok, build-failed, boot-failed, crashed, timeout, infra */
	char *why;		  /* text for SKIPPED, SLOW, BROKEN */
};
void want_result_done(struct want_result *result);

/* What there is, without asking for anything. */
int plan_look(struct engine *engine, const struct want *want, struct error *err, struct want_result *ret);
/* The same, and queues what is missing. */
int plan_want(struct engine *engine, const struct want *want, struct error *err, struct want_result *ret);

/* The same of an image by the runs alone, of which `runs` are wanted; series and signature of the result stay NULL. */
int plan_look_image(struct db *db, const char *series, const char *signature, unsigned runs, struct want_result *ret);
/* A run has ended: where it shows that the image is not to be tested, those that are queued are not done. */
int plan_run_ended(struct engine *engine, const char *series, const char *signature);

/* How many runs of an image are queued or under way. */
int plan_runs_under_way(struct engine *engine, const char *series, const char *signature, int64_t *ret);

/* Priorities: what answers soonest goes first. */
enum { PRIORITY_TIP = 100, PRIORITY_SEARCH = 1000, PRIORITY_VERIFY = 2000 };

#endif
