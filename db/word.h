/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_DB_WORD_H
#define MMB_DB_WORD_H

/*
 * What a person says of a finding or a tip: accepted (a new base line), known, wrong, and why. Words are kept; the last counts.
 */
#include "db/db.h"

struct word {
	char *state, *reason, *who;
	int64_t at_ns;
};
void word_done(struct word *word);

/* -ENOENT: there is no such finding, no such tip. */
int db_word_add_finding(struct db *db, int64_t finding_id, const struct word *word);
int db_word_add_tip(struct db *db, int64_t tip_id, const struct word *word);

/* The same of all findings of searches that had this commit of the tree as their bad end; mails of theirs are withdrawn. */
int db_word_add_findings_of(struct db *db, const char *tree, const char *bad, const struct word *word);

/* The last word: 1 found, 0 none. */
int db_word_of_finding(struct db *db, int64_t finding_id, struct word *ret);
/* Of any tip of the tree that is this commit. */
int db_word_of_tip(struct db *db, const char *tree, const char *oid, struct word *ret);

#endif
