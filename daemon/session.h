/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_SESSION_H
#define MMB_SESSION_H

/*
 * A search on its way: reads what the database holds, asks the judge, asks the plan for what the judge wants, and when there is
 * a verdict measures the rows that prove it. Holds nothing that is not recomputed: the cache is the commit graph and
 * commits made for the proof.
 */
#include "daemon/engine.h"
#include "db/search.h"

/* Layouts of a commit that a search may ask for: 0, as its tree links itself, and others. */
#define SESSION_LAYOUTS 4

enum session_state {
	SESSION_RUNNING,
	SESSION_DONE,	/* the document is in the database */
	SESSION_BROKEN, /* infrastructure failed more often than we try: nothing is concluded, a later try may go on */
};

/*
 * Takes the search as far as it goes now. Errors are ours (database, repository), never the commits'. For SESSION_BROKEN
 * session_broken() says why.
 */
int session_step(struct engine *engine, int64_t search_id, struct error *err, enum session_state *ret);
/* Ends a search that cannot be gone on with: verdict gave-up, with the reason. */
int session_abandon(struct engine *engine, int64_t search_id, const char *reason);
const char *session_broken(struct engine *engine, int64_t search_id);

/* How far it is, for progress. */
struct session_estimate {
	unsigned steps_left;  /* commits to measure, about */
	size_t commits, runs; /* measured so far */
	const char *phase;    /* anchors, search, confirm, explain */
	bool noisy;	      /* one run of a commit is not enough */
	bool verifying;
};
int session_estimate(struct engine *engine, int64_t search_id, struct session_estimate *ret); /* -ENOENT */

void session_free_all(struct engine *engine);

#endif
