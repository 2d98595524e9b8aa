/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_DB_FINDING_H
#define MMB_DB_FINDING_H

/* Findings and the mails that tell of them. A finding and its mail are made in one transaction, so neither is lost or doubled. */
#include "db/db.h"

struct finding {
	int64_t id, search_id;
	char *culprit, *patch_id, *subject, *fix, *report;
	char *unproved; /* why its proof does not show the change; NULL: it does */
	int64_t created_ns;
};
void finding_done(struct finding *finding);
struct finding_list {
	struct finding *items;
	size_t n, capacity;
};
void finding_list_done(struct finding_list *list);

struct mail {
	int64_t id, finding_id;
	char *message_id, *sender, *recipients, *message;
	size_t message_len;
	int64_t attempts;
};
void mail_done(struct mail *mail);

/* Adds a finding, unless its search has led to one already. 1 added, 0 was there. */
int db_finding_add(struct db *db, const struct finding *finding, uint64_t now_ns, int64_t *ret_id);
/* One more search that ended in the patch of a finding. 1 news, 0 it was known. */
int db_finding_join(struct db *db, int64_t finding_id, int64_t search_id);
/* A search that joined a finding has the proof that it lacked: it is that search's from now on. 1 it lacked it, 0 not. */
int db_finding_prove(struct db *db, int64_t finding_id, const struct finding *proved);
int db_finding_list(struct db *db, struct finding_list *ret); /* newest first */
int db_finding_get(struct db *db, int64_t id, struct finding *ret);
/* The id of an older finding of the same patch: 1 found, 0 none. */
int db_finding_of_patch(struct db *db, const char *patch_id, int64_t *ret_id);

int db_mail_add(struct db *db, const struct mail *mail, uint64_t now_ns);
/* The next queued mail whose time has come: 1 found, 0 none. */
int db_mail_next(struct db *db, uint64_t now_ns, struct mail *ret);
int db_mail_sent(struct db *db, int64_t id, uint64_t now_ns);
/* Tried and not taken: again at next_ns, or state failed for good when next_ns is 0. */
int db_mail_retry(struct db *db, int64_t id, const char *error, uint64_t next_ns);
/* A mail of this finding that has not gone out yet is not sent any more. 1 there was one. */
int db_mail_withdraw(struct db *db, int64_t finding_id, const char *why);
/* Queued mails and when the next is due (0: none). */
int db_mail_queued(struct db *db, int64_t *ret_n, int64_t *ret_next_ns);

#endif
