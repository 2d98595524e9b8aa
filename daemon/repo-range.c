// SPDX-License-Identifier: GPL-2.0-or-later
/* The commits between good and bad as a graph for the judge. */
#include "daemon/repo-internal.h"

#define RANGE_MAX 100000

/* Sorted (object id -> node) pairs: parents are looked up by binary search. */
struct place {
	git_oid id;
	int node;
};

static int compare_places(const void *a, const void *b)
{
	return git_oid_cmp(&((const struct place *)a)->id, &((const struct place *)b)->id);
}

static int find_node(const struct place *places, size_t n, const git_oid *id)
{
	const struct place key = { .id = *id };
	const struct place *p = bsearch(&key, places, n, sizeof(*places), compare_places);

	return p ? p->node : -1;
}

void graph_done(struct graph *g)
{
	for (int i = 0; i < g->dag.n; i++) {
		free(g->oids ? g->oids[i] : NULL);
		free(g->tree_oids ? g->tree_oids[i] : NULL);
	}
	free(g->oids);
	free(g->tree_oids);
	free((void *)(uintptr_t)g->dag.parent_start);
	free((void *)(uintptr_t)g->dag.parents);
	*g = (struct graph){ 0 };
}

int graph_find(const struct graph *g, const char *oid)
{
	for (int i = 0; i < g->dag.n; i++)
		if (strcmp(g->oids[i], oid) == 0)
			return i;
	return -ENOENT;
}

/* Object ids of `first` and then all of bad's history without that of `hide` and `first`, parents first. */
static int walk(struct repo *repo, const char *first, const char *hide, const char *bad, struct error *err, git_oid **ret,
		size_t *ret_n)
{
	_cleanup_free_ git_oid *ids = NULL;
	size_t n = 0, capacity = 0;
	git_revwalk *walker = NULL;
	git_oid first_id, hide_id, bad_id, id;
	int r = git_revwalk_new(&walker, repo->mirror);

	if (r >= 0)
		r = git_oid_fromstr(&first_id, first);
	if (r >= 0)
		r = git_oid_fromstr(&hide_id, hide);
	if (r >= 0)
		r = git_oid_fromstr(&bad_id, bad);
	if (r >= 0)
		r = git_revwalk_sorting(walker, GIT_SORT_TOPOLOGICAL | GIT_SORT_REVERSE);
	if (r >= 0)
		r = git_revwalk_push(walker, &bad_id);
	if (r >= 0)
		r = git_revwalk_hide(walker, &first_id);
	if (r >= 0)
		r = git_revwalk_hide(walker, &hide_id);
	id = r >= 0 ? first_id : (git_oid){ 0 };
	while (r >= 0) {
		if (n > RANGE_MAX) {
			git_revwalk_free(walker);
			return error_set(err, -E2BIG, "more than %d commits between good and bad", RANGE_MAX);
		}
		if (grow_array(&ids, &capacity, n, sizeof(*ids)) < 0) {
			git_revwalk_free(walker);
			return error_errno(err, -ENOMEM, "git");
		}
		ids[n++] = id;
		r = git_revwalk_next(&id, walker);
	}
	git_revwalk_free(walker);
	if (r != GIT_ITEROVER)
		return repo_git_error(err, r, "walking the history");
	*ret = TAKE_PTR(ids);
	*ret_n = n;
	return 0;
}

static int add_commit(struct repo *repo, struct graph *g, int node, const git_oid *id, const struct place *places, size_t n,
		      int **parents, size_t *n_parents, size_t *capacity)
{
	git_commit *commit;
	int r = git_commit_lookup(&commit, repo->mirror, id);

	if (r < 0)
		return -ENOENT;
	g->oids[node] = repo_oid_text(id);
	g->tree_oids[node] = repo_oid_text(git_commit_tree_id(commit));
	r = g->oids[node] && g->tree_oids[node] ? 0 : -ENOMEM;
	for (unsigned i = 0; node > 0 && r >= 0 && i < git_commit_parentcount(commit); i++) {
		int parent = find_node(places, n, git_commit_parent_id(commit, i));

		if (parent < 0 && i > 0)
			continue; /* outside of the range: known good */
		if (parent < 0)
			parent = JUDGE_OUTSIDE; /* kept, or --first-parent would take the second for the first */
		r = grow_array(parents, capacity, *n_parents, sizeof(**parents));
		if (r >= 0)
			(*parents)[(*n_parents)++] = parent;
	}
	git_commit_free(commit);
	return r;
}

static int fill(struct repo *repo, const git_oid *ids, size_t n, struct graph *g)
{
	_cleanup_free_ struct place *places = calloc(n + 1, sizeof(*places));
	_cleanup_free_ int *parents = NULL, *start = calloc(n + 1, sizeof(*start));
	size_t n_parents = 0, capacity = 0;
	int r = 0;

	g->oids = calloc(n + 1, sizeof(*g->oids));
	g->tree_oids = calloc(n + 1, sizeof(*g->tree_oids));
	if (!places || !start || !g->oids || !g->tree_oids)
		return -ENOMEM;
	g->dag.n = (int)n;
	for (size_t i = 0; i < n; i++)
		places[i] = (struct place){ ids[i], (int)i };
	qsort(places, n, sizeof(*places), compare_places);
	for (size_t i = 0; i < n && r >= 0; i++) {
		start[i] = (int)n_parents;
		r = add_commit(repo, g, (int)i, &ids[i], places, n, &parents, &n_parents, &capacity);
	}
	if (r < 0)
		return r;
	start[n] = (int)n_parents;
	g->dag.parent_start = TAKE_PTR(start);
	g->dag.parents = TAKE_PTR(parents);
	return 0;
}

int repo_range_from(struct repo *repo, const char *first, const char *hide, const char *bad, struct error *err,
		    struct graph *ret)
{
	_cleanup_free_ git_oid *ids = NULL;
	_cleanup_(graph_done) struct graph g = { 0 };
	size_t n;
	int r = walk(repo, first, hide, bad, err, &ids, &n);

	if (r < 0)
		return r;
	r = fill(repo, ids, n, &g);
	if (r < 0)
		return error_errno(err, r, "reading the history");
	*ret = g;
	g = (struct graph){ 0 };
	return 0;
}

int repo_range(struct repo *repo, const char *good, const char *bad, struct error *err, struct graph *ret)
{
	int r = repo_is_ancestor(repo, good, bad);

	if (r < 0)
		return error_set(err, r, "cannot read the history from %.12s to %.12s", good, bad);
	if (strcmp(good, bad) == 0)
		return error_set(err, -EDOM, "good %.12s is not older than bad: they are the same commit", good);
	if (r == 0)
		return error_set(err, -EDOM, "good %.12s is not older than bad %.12s: %s", good, bad,
				 repo_is_ancestor(repo, bad, good) == 1 ? "bad is the older one; are they swapped?" :
									  "it is no ancestor of it");
	return repo_range_from(repo, good, good, bad, err, ret);
}
