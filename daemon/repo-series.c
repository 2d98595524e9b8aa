// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a patch is: the series that it came in, and whether a branch holds it. Nobody writes into git which commits were one
 * series; numbered message ids of one thread say it, else equal authors and commits that were made within minutes of each other are
 * taken for one, and what was taken for a reason is told.
 */
#include "daemon/repo-internal.h"

#include "daemon/series-link.h"
#include "lib/str.h"

#define WALK_MAX 50000
#define SERIES_MAX 100
/* Without links: a series is applied in one go, and was written in a while. */
#define COMMIT_SECONDS 600
#define AUTHOR_SECONDS (7 * 86400)

/* A commit behind the culprit, and its first parent. */
struct step {
	git_oid id, parent;
};

struct steps {
	struct step *items;
	size_t n, capacity;
};

static int push_range(struct repo *repo, git_revwalk *walker, const char *oid, const char *head)
{
	git_oid id;
	int r = git_oid_fromstr(&id, head);

	(void)repo;
	if (r >= 0)
		r = git_revwalk_push(walker, &id);
	if (r >= 0)
		r = git_oid_fromstr(&id, oid);
	return r < 0 ? r : git_revwalk_hide(walker, &id);
}

/* Commits of oid..head that have one parent. */
static int read_steps(struct repo *repo, const char *oid, const char *head, struct steps *steps)
{
	git_revwalk *walker = NULL;
	git_oid id;
	int r = git_revwalk_new(&walker, repo->mirror);

	if (r >= 0)
		r = push_range(repo, walker, oid, head);
	for (int n = 0; r >= 0 && n < WALK_MAX; n++) {
		git_commit *commit;

		r = git_revwalk_next(&id, walker);
		if (r < 0 || git_commit_lookup(&commit, repo->mirror, &id) < 0)
			continue;
		if (git_commit_parentcount(commit) == 1) {
			if (grow_array(&steps->items, &steps->capacity, steps->n, sizeof(*steps->items)) < 0)
				r = -ENOMEM;
			else
				steps->items[steps->n++] = (struct step){ id, *git_commit_parent_id(commit, 0) };
		}
		git_commit_free(commit);
	}
	git_revwalk_free(walker);
	return r == GIT_ITEROVER || r >= 0 ? 0 : r == -ENOMEM ? r : -EIO;
}

/* The only child of a commit, as text; NULL: none, or the history forks here. */
static char *only_child(const struct steps *steps, const char *oid)
{
	const git_oid *child = NULL;
	git_oid id;

	if (git_oid_fromstr(&id, oid) < 0)
		return NULL;
	for (size_t i = 0; i < steps->n; i++)
		if (git_oid_equal(&steps->items[i].parent, &id)) {
			if (child)
				return NULL;
			child = &steps->items[i].id;
		}
	return child ? repo_oid_text(child) : NULL;
}

static bool within(int64_t a, int64_t b, int64_t seconds)
{
	return a - b <= seconds && b - a <= seconds;
}

/* Is `next` the patch after `c` in one series? NULL: no, else why it is taken for one. */
static const char *why_series(const struct commit *c, const struct commit *next)
{
	if (!str_eq(c->author_mail, next->author_mail))
		return NULL;
	if (c->link && next->link)
		switch (series_links(c->link, next->link)) {
		case SERIES_SAME:
			return "their message ids are numbers of one thread";
		case SERIES_OTHER:
			return NULL;
		case SERIES_UNKNOWN:
			break;
		}
	if (!within(c->commit_s, next->commit_s, COMMIT_SECONDS) || !within(c->author_s, next->author_s, AUTHOR_SECONDS))
		return NULL;
	return "one author, one after the other, committed within ten minutes; no link says so";
}

int repo_series_end(struct repo *repo, const char *oid, const char *head, struct error *err, char **ret_oid, char **ret_why)
{
	struct steps steps = { 0 };
	_cleanup_(commit_done) struct commit at = { 0 };
	const char *why = NULL;
	size_t n = 0;
	int r = repo_commit(repo, oid, err, &at);

	if (r >= 0 && at.n_parents > 1)
		return 0; /* a merge is no patch */
	if (r >= 0) {
		r = read_steps(repo, oid, head, &steps);
		if (r < 0)
			(void)error_errno(err, r, "history behind %.12s", oid);
	}
	while (r >= 0 && n < SERIES_MAX) {
		_cleanup_free_ char *child = only_child(&steps, at.oid);
		_cleanup_(commit_done) struct commit next = { 0 };
		const char *reason;

		if (!child)
			break;
		r = repo_commit(repo, child, err, &next);
		reason = r < 0 ? NULL : why_series(&at, &next);
		if (!reason)
			break;
		why = reason;
		n++;
		commit_done(&at);
		at = next;
		next = (struct commit){ 0 };
	}
	free(steps.items);
	if (r < 0 || !n)
		return r;
	*ret_why = str_format("taken for the end of its series, %zu patch%s later: %s", n, n > 1 ? "es" : "", why);
	*ret_oid = *ret_why ? strdup(at.oid) : NULL;
	return *ret_oid ? 1 : error_errno(err, -ENOMEM, "series");
}

/* A copy under another id: its subject and its patch id are those of the original. */
static int find_copy(struct repo *repo, git_revwalk *walker, const struct commit *patch, const char *patch_id)
{
	git_oid id;
	int r = 0;

	for (int n = 0; n < WALK_MAX && (r = git_revwalk_next(&id, walker)) >= 0; n++) {
		_cleanup_free_ char *oid = NULL, *other = NULL;
		git_commit *commit;
		bool same;

		if (git_commit_lookup(&commit, repo->mirror, &id) < 0)
			continue;
		same = git_commit_summary(commit) && str_eq(git_commit_summary(commit), patch->subject);
		git_commit_free(commit);
		if (!same)
			continue;
		oid = repo_oid_text(&id);
		if (!oid)
			return -ENOMEM;
		if (repo_patch_id(repo, oid, &other) >= 0 && str_eq(other, patch_id))
			return 1;
	}
	return r < 0 && r != GIT_ITEROVER ? -EIO : 0;
}

int repo_holds_patch(struct repo *repo, const char *head, const char *oid, struct error *err)
{
	_cleanup_(commit_done) struct commit patch = { 0 };
	_cleanup_free_ char *patch_id = NULL;
	git_revwalk *walker = NULL;
	int r = repo_is_ancestor(repo, oid, head);

	if (r != 0)
		return r < 0 ? error_set(err, r, "cannot read the history of %.12s", head) : 1;
	r = repo_commit(repo, oid, err, &patch);
	if (r < 0 || patch.n_parents > 1)
		return MIN(r, 0);
	r = repo_patch_id(repo, oid, &patch_id);
	if (r >= 0)
		r = git_revwalk_new(&walker, repo->mirror);
	if (r >= 0)
		r = push_range(repo, walker, oid, head);
	if (r >= 0)
		r = find_copy(repo, walker, &patch, patch_id);
	git_revwalk_free(walker);
	return r < 0 ? error_set(err, r == -ENOMEM ? r : -EIO, "cannot look for %.12s in %.12s", oid, head) : r;
}
