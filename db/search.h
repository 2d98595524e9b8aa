/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_DB_SEARCH_H
#define MMB_DB_SEARCH_H

/* Searches (bisections): the question, the state, the log of what was decided and why, and the answer's document. */
#include "db/db.h"

/* The metric of a search for a failure: how runs end, not what they measure. */
#define METRIC_STATUS "status"

struct search {
	int64_t id;
	char *tree, *ref, *good, *bad, *workload, *arch, *metric, *class;
	bool first_parent;
	char *state;   /* searching, verifying, done */
	char *verdict; /* culprit, set, not-reproduced, gave-up; NULL while searching */
	char *culprit, *document;
	char *base;	    /* of ends that have diverged: where the search goes on; NULL: not known yet, or not needed */
	int64_t base_marks; /* so many of its first marks belong to the question what base is */
	int64_t created_ns, ended_ns;
	double claim;	  /* relative change that made somebody ask; 0: not known */
	int64_t max_runs; /* budget of a search that weighs noise; 0: the judge's own */
	int64_t judged_run; /* the newest run when the verdict was reached; 0: there is none yet */
};
void search_done(struct search *search);

struct search_list {
	struct search *items;
	size_t n, capacity;
};
void search_list_done(struct search_list *list);

/*
 * Finds the open search of this question or adds one: one that is over is asked again, its samples are there. ret_id. 1 added,
 * 0 was there; claim and max_runs are no part of the question, an open search takes a new max_runs.
 */
int db_search_add(struct db *db, const struct search *question, uint64_t now_ns, int64_t *ret_id);
/* 1 somebody has asked, whether or not it is over, what made this commit worse than an older one; 0 nobody. */
int db_search_asked(struct db *db, const char *tree, const char *bad, const char *workload, const char *arch, const char *metric,
		    const char *class);
int db_search_get(struct db *db, int64_t id, struct search *ret); /* -ENOENT */
/* open: only those that are not done. Newest last. */
int db_search_list(struct db *db, bool open, struct search_list *ret);
/* Those that are done and of which no finding, mail and tip were made yet. */
int db_search_unsettled(struct db *db, struct search_list *ret);
int db_search_settle(struct db *db, int64_t id);
/* Also remembers up to which run it was judged; state "searching" forgets it. */
int db_search_set_verdict(struct db *db, int64_t id, const char *state, const char *verdict, const char *culprit);
/* The ends have diverged, and their merge base is like good. The marks until now were for this question. */
int db_search_set_base(struct db *db, int64_t id, const char *base);
int db_search_end(struct db *db, int64_t id, const char *document, uint64_t now_ns);

struct search_entry {
	char *action, *oid, *reason;
	char *phase;  /* anchors, search, confirm, explain; NULL in old searches and for what is no decision of the judge's */
	int64_t runs; /* "measure": so many runs of oid in total; 0: not said */
	int64_t layout; /* "measure": of the build; 0 as the tree links itself */
	int64_t at_ns;
};
/*
 * Adds to the log unless an entry says the same, its time aside: steps are recomputed again and again, but totals grow, so a
 * commit that is measured more than once has an entry for each time. 1 added.
 */
int db_search_log(struct db *db, int64_t id, const struct search_entry *entry, uint64_t now_ns);

struct search_entries {
	struct search_entry *items;
	size_t n, capacity;
};
void search_entries_done(struct search_entries *list);
int db_search_entries(struct db *db, int64_t id, struct search_entries *ret);

/* Where the judge takes a fresh look; in the order they were made. The same mark twice is one. */
struct search_mark {
	char *oid;
	int64_t run_order;
};
struct search_marks {
	struct search_mark *items;
	size_t n, capacity;
};
void search_marks_done(struct search_marks *list);
int db_search_mark(struct db *db, int64_t id, const char *oid, int64_t run_order, uint64_t now_ns); /* 1 added, 0 was there */
int db_search_marks(struct db *db, int64_t id, struct search_marks *ret);

#endif
