// SPDX-License-Identifier: GPL-2.0-or-later
/* A question as a graph: also when good is no ancestor of bad, and their merge bases have to be looked at first. */
#include "daemon/repo-internal.h"

#include "lib/str.h"

/* Good, its merge bases with bad, bad: who was made worse, a base or bad? Parents are no commits here but what is compared. */
static int fill(struct repo *repo, const git_oid *ids, int n, struct graph *g)
{
	const int n_bases = n - 2;
	int *start = calloc((size_t)n + 1, sizeof(*start)), *parents = calloc(2 * (size_t)n, sizeof(*parents));
	int r = 0;

	g->dag = (struct judge_dag){ .n = n, .parent_start = start, .parents = parents };
	g->n_bases = n_bases;
	g->oids = calloc((size_t)n, sizeof(*g->oids));
	g->tree_oids = calloc((size_t)n, sizeof(*g->tree_oids));
	if (!start || !parents || !g->oids || !g->tree_oids)
		return -ENOMEM;
	for (int i = 0; i < n && r >= 0; i++) {
		git_commit *commit = NULL;

		r = git_commit_lookup(&commit, repo->mirror, &ids[i]) < 0 ? -ENOENT : 0;
		if (r < 0)
			break;
		g->oids[i] = repo_oid_text(&ids[i]);
		g->tree_oids[i] = repo_oid_text(git_commit_tree_id(commit));
		git_commit_free(commit);
		r = g->oids[i] && g->tree_oids[i] ? 0 : -ENOMEM;
		start[i] = i > 1 ? i - 1 : 0; /* a base has one parent: good */
	}
	for (int i = 0; i < n_bases; i++)
		parents[n_bases + i] = i + 1; /* bad has all bases */
	start[n] = 2 * n_bases;
	return r;
}

static int make_bases(struct repo *repo, const git_oid *good, const git_oid *bad, const git_oidarray *bases, struct error *err,
		      struct graph *ret)
{
	_cleanup_(graph_done) struct graph g = { 0 };
	_cleanup_free_ git_oid *ids = calloc(bases->count + 2, sizeof(*ids));
	int n = 0, r;

	if (!ids)
		return error_errno(err, -ENOMEM, "git");
	ids[n++] = *good;
	for (size_t i = 0; i < bases->count; i++)
		ids[n++] = bases->ids[i];
	ids[n++] = *bad;
	r = fill(repo, ids, n, &g);
	if (r < 0)
		return error_errno(err, r, "reading the merge bases");
	*ret = g;
	g = (struct graph){ 0 };
	return 0;
}

static int read_bases(struct repo *repo, const char *good, const char *bad, struct error *err, struct graph *ret)
{
	git_oidarray bases = { 0 };
	git_oid good_id, bad_id;
	int r = git_oid_fromstr(&good_id, good);

	if (r >= 0)
		r = git_oid_fromstr(&bad_id, bad);
	if (r >= 0)
		r = git_merge_bases(&bases, repo->mirror, &good_id, &bad_id);
	if (r == GIT_ENOTFOUND)
		return error_set(err, -EDOM, "good %.12s and bad %.12s have no common history: there is nothing to search", good,
				 bad);
	if (r < 0)
		return repo_git_error(err, r, "merge bases");
	r = make_bases(repo, &good_id, &bad_id, &bases, err, ret);
	git_oidarray_dispose(&bases);
	return r;
}

int repo_question(struct repo *repo, const char *good, const char *bad, const char *base, struct error *err, struct graph *ret)
{
	int r = repo_is_ancestor(repo, good, bad);

	if (r == 0)
		r = repo_is_ancestor(repo, bad, good) == 1 ? 1 : 0; /* repo_range() has the words */
	if (r < 0)
		return error_set(err, r, "cannot read the history from %.12s to %.12s", good, bad);
	if (r > 0)
		return repo_range(repo, good, bad, err, ret);
	return base ? repo_range_from(repo, base, good, bad, err, ret) : read_bases(repo, good, bad, err, ret);
}
