/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_SESSION_INTERNAL_H
#define MMB_SESSION_INTERNAL_H

/*
 * Shared by session.c (search), session-bases.c (ends that have diverged), observe.c (what there is), layouts.c (of other layouts), status.c (the same of failures),
 * verify.c and proof.c (proof) and document.c (answer) only.
 */
#include "daemon/judge/judge.h"
#include "daemon/judge/status.h"
#include "daemon/plan.h"
#include "daemon/proof.h"
#include "daemon/rows.h"
#include "daemon/session.h"
#include "db/run.h"

struct session {
	int64_t id;
	struct search question; /* as in the database */
	struct graph graph;
	struct judge_hint *hints; /* what the messages of this graph say; exact searches only */
	size_t n_hints;
	struct judge_memo *memo; /* of this graph; NULL when the search is over */
	struct rows rows; /* of the proof; made when there is a culprit */
	bool rows_made;
	bool metric_seen; /* the good end has reported it */
	struct proof proof;   /* what the rows show, once they are measured */
	double proof_minimum; /* relative change that it has to show among noise; 0: not known yet */
	struct commit fix; /* oid NULL: none known */
	char *fix_ref;
	int bad_base;	/* the ends have diverged, and this node of the graph, a merge base, is like bad; 0: none */
	int next_start; /* they have, and the search goes on from this one; -1: it does not */
	char reason[200];	    /* why it gave up or broke; "" else */
	struct session_estimate estimate;
	struct session *next;
};

/* A way in which a commit ends: kind of the judge is its index; 0 is ok. */
struct status_kind {
	char *status, *title;
};

/* What a search for a failure is told instead of values. Arrays of nodes have n entries. */
struct status_view {
	int n;
	struct judge_status_obs *obs; /* their endings are ours, too */
	struct status_kind *kinds;
	size_t n_kinds, kinds_capacity;
	struct judge_status_options options;
	struct judge_failure failure; /* by status_decide() */
};
struct status_view *status_view_free(struct status_view *view);

/* Of the first node of an image, what its layouts' runs say; the other nodes of the image show the same. */
struct node_layouts {
	unsigned char *of;		   /* the layout of each value */
	int64_t without[SESSION_LAYOUTS]; /* ok runs that lack the metric */
};

/* What the database says of every node. */
struct session_obs {
	int n;
	struct judge_obs *obs;
	struct values *values;
	struct want_result *looks;
	struct judge_mark *marks;
	struct judge_options options;
	struct node_layouts *layouts; /* a node each, noisy searches only: NULL else */
	struct status_view *status; /* NULL: values are compared */
};
void session_obs_done(struct session_obs *obs);
int session_observe(struct engine *engine, struct session *session, struct error *err, struct session_obs *ret);

/*
 * Adds the runs of other layouts to what is known of all nodes, in time, and says in options.layouts how many may be asked for: one that
 * cannot be built or run somewhere, or is the image of another, is not available, and says nothing of its commit.
 */
int layouts_observe(struct engine *engine, const struct session *session, struct session_obs *obs, struct error *err);
/* The image of a layout is that of the first node that has this image: its runs are the others', too. */
int layouts_node(const struct session_obs *obs, const struct judge_want *wanted);

/* So many runs of a node. */
struct want session_want(const struct session *session, int node, unsigned runs);
/* A verdict stands on the runs that were there when it was reached: those of its proof come after it. */
void session_forget_later(const struct session *session, struct values *values);
bool session_is_noisy(const struct session *session);
/* Asks how runs end, not what they measure. */
bool session_is_status(const struct session *session);
struct session_estimate session_progress(const struct session_obs *obs, const struct judge_decision *decision);

/* The observations, and what the judge makes of them. Both are the caller's on success; the decision borrows nothing. */
int session_decide(struct engine *engine, struct session *session, struct error *err, struct session_obs *ret_obs,
		   struct judge_decision *ret_decision);

/* What a decision means for ends that have diverged, as long as their merge bases are looked at: bad_base and next_start. */
void session_weigh_bases(struct session *session, const struct session_obs *obs, struct judge_decision *decision);

/* The parts of the above for failures: obs->status from its looks, the decision, and what documents say. */
int status_observe(struct engine *engine, struct session *session, struct session_obs *obs, struct error *err);
int status_decide(const struct session *session, struct session_obs *obs, struct judge_decision *ret);
size_t status_runs(const struct status_view *view, int node); /* that have ended */
void status_note(const struct status_view *view, int node, struct str *out);
int status_document(struct engine *engine, const struct session *session, const struct session_obs *obs,
		    const struct judge_decision *decision, json_t *document);

/* Measures the proof and ends the search. */
enum { VERIFY_WAIT, VERIFY_DONE, VERIFY_BROKEN };
int session_verify(struct engine *engine, struct session *session, struct error *err);

/* The rows are measured: what do they show? *ret_pending: runs were asked for. */
int session_prove(struct engine *engine, struct session *session, struct error *err, bool *ret_pending);

/*
 * Which side each commit of the graph is on, as far as a decision says: of exact searches each one's own value tells; under
 * noise a median alone may lie, so all that was concluded counts. The caller frees *ret, a side a node.
 */
int document_sides(const struct judge_dag *dag, const struct session_obs *obs, const struct judge_decision *decision,
		   enum judge_side **ret);
/* Whether each node is `node` or descends from it; the caller frees *ret. */
int document_below(const struct judge_dag *dag, int node, bool **ret);
/* Its member `changes`: an array, empty as long as there is no answer. */
json_t *document_changes(struct engine *engine, const struct session *session, const struct judge_decision *decision);
/* The answer as docs/architecture.md has it. */
int document_make(struct engine *engine, struct session *session, struct error *err, json_t **ret);

#endif
