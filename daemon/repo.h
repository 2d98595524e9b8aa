/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_REPO_H
#define MMB_REPO_H

/*
 * Git, as far as we need it, over libgit2: the mirror (a bare repository of our own, the only one we write to) and, for
 * one-shot commands, a repository of the user's that is only read: the mirror borrows its objects by
 * objects/info/alternates.
 *
 * Object ids are strings of hex digits. Names, subjects and messages are bytes of strangers, converted to UTF-8 by the commit's
 * encoding header where there is one and sanitised otherwise. Errors: -ENOENT no such revision, -EINVAL no repository,
 * libgit2's words in `err`.
 */
#include "daemon/judge/dag.h"
#include "lib/error.h"

struct repo;

/* Opens the mirror, makes it when it is not there. The state is ours alone, so locks in it are those of the killed. */
int repo_open(const char *mirror, struct error *err, struct repo **ret);
/* Removes what a killed git leaves: *.lock and half packs. Only while no git works in the mirror. */
void repo_remove_locks(const char *mirror);
/* Only reads user_dir, without any mirror: to check a question before anything is written. */
int repo_open_read_only(const char *user_dir, struct error *err, struct repo **ret);
/* Reads user_dir (work tree, worktree, bare) from now on for revisions and refs; its objects are seen by the mirror. */
int repo_attach(struct repo *repo, const char *user_dir, struct error *err);
struct repo *repo_close(struct repo *repo);
DEFINE_CLEANUP(struct repo *, repo_close);

/* Any revision that git understands, to the id of a commit. */
int repo_resolve(struct repo *repo, const char *rev, struct error *err, char **ret_oid);

struct commit {
	char *oid, *tree_oid;
	char *subject, *author, *author_mail, *message; /* UTF-8, sanitised */
	char *link;					/* of the last Link: trailer, or NULL */
	int64_t author_s, commit_s;			/* seconds since 1970; may be anything */
	char **parents;					/* NULL-terminated */
	size_t n_parents;
};
int repo_commit(struct repo *repo, const char *oid, struct error *err, struct commit *ret);
void commit_done(struct commit *commit);

/* 1: the tree of the commit has Makefile and Kconfig, as every kernel has; 0 it has not. */
int repo_is_kernel(struct repo *repo, const char *oid, struct error *err);

/* 1 yes (or equal), 0 no. */
int repo_is_ancestor(struct repo *repo, const char *ancestor, const char *descendant);
/* -ENOENT when there is none. */
int repo_merge_base(struct repo *repo, const char *a, const char *b, char **ret_oid);

/* The candidates between good and bad as the judge wants them: node 0 good, last node bad. */
struct graph {
	struct judge_dag dag;
	char **oids;
	char **tree_oids;
	int n_bases; /* > 0: good, so many merge bases, bad; see repo_question() */
};
/* -EDOM when good is no ancestor of bad; -E2BIG over 100 000 commits. */
int repo_range(struct repo *repo, const char *good, const char *bad, struct error *err, struct graph *ret);
/*
 * The same for a question whose ends may have diverged. What is to be known first then is which of them has changed: the graph is
 * good, its merge bases with bad (several in a criss-cross) as its children, and bad as the child of all of these. With `base`, where
 * the search goes on: node 0 is base, the others are what bad has and good has not. -EDOM: no common history, or bad is the older one.
 */
int repo_question(struct repo *repo, const char *good, const char *bad, const char *base /* may be NULL */, struct error *err,
		  struct graph *ret);
void graph_done(struct graph *graph);
int graph_find(const struct graph *graph, const char *oid); /* node or -ENOENT */

/* Stable id of what a commit changes (against its first parent), whatever its object id and context's position. */
int repo_patch_id(struct repo *repo, const char *oid, char **ret);

/*
 * New commits in the mirror, with fixed names and dates, so that the same question gives the same object id.
 * -EDOM: does not apply (conflict, or changes nothing).
 */
int repo_cherry_pick(struct repo *repo, const char *pick, const char *onto, struct error *err, char **ret_oid);
int repo_revert(struct repo *repo, const char *culprit, const char *onto, struct error *err, char **ret_oid);

/* The mails (mbox) or the plain diff in `file`, applied one after the other, as one commit. -EDOM as above. */
int repo_apply_file(struct repo *repo, const char *file, const char *onto, struct error *err, char **ret_oid);

/*
 * A commit on any branch that says "Fixes: <id of the culprit>" (or, for a copy under another id, quotes its subject).
 * Commits reachable from `hide` are not looked at. 1 found, 0 none. ret_ref: the branch's full name.
 */
int repo_find_fix(struct repo *repo, const char *culprit, const char *hide, struct error *err, char **ret_oid, char **ret_ref);

/*
 * The last patch of the series that a patch is in, on the way to head; by links to a thread with numbered message ids, else by
 * author and dates. 1 found, *ret_why is a line that says why it is taken for one; 0: it is none, or its own last.
 */
int repo_series_end(struct repo *repo, const char *oid, const char *head, struct error *err, char **ret_oid, char **ret_why);

/* 1 head has the commit, or a copy of its patch under another id, in its history; 0 it has not. */
int repo_holds_patch(struct repo *repo, const char *head, const char *oid, struct error *err);

/* Keeps a commit reachable in the mirror: refs/keep/<oid>. */
int repo_keep(struct repo *repo, const char *oid, struct error *err);

/* All refs of the mirror that point at an object. */
typedef int (*repo_ref_fn)(const char *ref, const char *oid, void *userdata);
int repo_each_ref(struct repo *repo, repo_ref_fn fn, void *userdata);

/* Refs of a remote repository by its URL, without fetching: for a child process, as it may block. */
int repo_list_remote(const char *url, repo_ref_fn fn, void *userdata, struct error *err);

#endif
