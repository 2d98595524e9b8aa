/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_DB_SEARCH_H
#define MMB_DB_SEARCH_H

/* Searches (bisections): the question, the state, the log of what was decided and why, and the answer's document. */
#include "db/db.h"

struct search {
	int64_t id;
	char *tree, *ref, *good, *bad, *workload, *arch, *metric, *class;
	bool first_parent;
	char *state;   /* searching, verifying, done */
	char *verdict; /* culprit, set, not-reproduced, gave-up; NULL while searching */
	char *culprit, *document;
	int64_t created_ns, ended_ns;
};
void search_done(struct search *search);

struct search_list {
	struct search *items;
	size_t n, capacity;
};
void search_list_done(struct search_list *list);

/* Finds the open search of this question or adds one: one that is over is asked again, its samples are there. ret_id. 1 added, 0 was there. */
int db_search_add(struct db *db, const struct search *question, uint64_t now_ns, int64_t *ret_id);
int db_search_get(struct db *db, int64_t id, struct search *ret); /* -ENOENT */
/* open: only those that are not done. Newest last. */
int db_search_list(struct db *db, bool open, struct search_list *ret);
/* Those that are done and of which no finding, mail and tip were made yet. */
int db_search_unsettled(struct db *db, struct search_list *ret);
int db_search_settle(struct db *db, int64_t id);
int db_search_set_verdict(struct db *db, int64_t id, const char *state, const char *verdict, const char *culprit);
int db_search_end(struct db *db, int64_t id, const char *document, uint64_t now_ns);

/* Adds to the log unless an entry says the same: steps are recomputed again and again. 1 added. */
int db_search_log(struct db *db, int64_t id, const char *action, const char *oid, const char *reason, uint64_t now_ns);

struct search_entry {
	char *action, *oid, *reason;
	int64_t at_ns;
};
struct search_entries {
	struct search_entry *items;
	size_t n, capacity;
};
void search_entries_done(struct search_entries *list);
int db_search_entries(struct db *db, int64_t id, struct search_entries *ret);

#endif
