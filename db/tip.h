/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_DB_TIP_H
#define MMB_DB_TIP_H

/*
 * Watched refs: every move is an event that is kept; each new tip is a row that goes new -> accepted (it is the level that
 * later tips are compared with), searched (a search was started for it), failed or superseded.
 */
#include "db/db.h"

struct tip {
	int64_t id;
	char *tree, *ref, *oid, *state, *reason;
	int64_t at_ns;
};
void tip_done(struct tip *tip);

struct tip_list {
	struct tip *items;
	size_t n, capacity;
};
void tip_list_done(struct tip_list *list);

/* Records that a ref points at oid (NULL: gone) when that is news; a new tip replaces one still waiting. 1 news, 0 not. */
int db_ref_seen(struct db *db, const char *tree, const char *ref, const char *oid, bool watched, uint64_t now_ns);
/* 1 the last event of this ref says the same, 0 it does not. */
int db_ref_known(struct db *db, const char *tree, const char *ref, const char *oid);
/* Names of the refs of a tree that were there when last seen; strv_free() frees them. */
int db_ref_live(struct db *db, const char *tree, char ***ret, size_t *ret_n);
/* The watched refs of all trees that are there now, as tips without id and state: newest last. */
int db_ref_heads(struct db *db, struct tip_list *ret);
/* 1 this ref has had a tip, 0 not: it was not watched so far. */
int db_tip_any(struct db *db, const char *tree, const char *ref);
int db_tip_list(struct db *db, const char *state, struct tip_list *ret);
/* The newest accepted tip of a ref: 1 found, 0 none. */
int db_tip_accepted(struct db *db, const char *tree, const char *ref, struct tip *ret);
/* 1 a tip of this ref waits for the end of its search, 0 none does. */
int db_tip_searched(struct db *db, const char *tree, const char *ref);
/* Tips that wait for searches which are all over: their level is known. */
int db_tip_release(struct db *db);
int db_tip_set(struct db *db, int64_t id, const char *state, const char *reason);
/* Tips whose commit id starts so, oldest first: at most 100. */
int db_tip_find(struct db *db, const char *prefix, struct tip_list *ret);
/* The accepted tips of a ref, oldest first: the newest 200. *ret_base: the last that a person accepted as base line, else 0. */
int db_tip_history(struct db *db, const char *tree, const char *ref, struct tip_list *ret, size_t *ret_base);
/* Class time: only runs with larger ids are compared for this tip. Set at the first call, then kept. */
int db_tip_begin_runs(struct db *db, int64_t id, int64_t *ret_order);

#endif
