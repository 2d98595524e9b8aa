// SPDX-License-Identifier: GPL-2.0-or-later
/* What a commit changes: patch id, cherry-pick, revert, and the search for a fix. */
#include "daemon/repo-internal.h"

#include "lib/str.h"

#define FIX_COMMITS_MAX 50000

int repo_patch_id(struct repo *repo, const char *oid, char **ret)
{
	git_commit *commit = NULL, *parent = NULL;
	git_tree *new_tree = NULL, *old_tree = NULL;
	git_diff *diff = NULL;
	git_oid id;
	int r = repo_lookup(repo, oid, &commit);

	if (r >= 0)
		r = git_commit_tree(&new_tree, commit);
	if (r >= 0 && git_commit_parentcount(commit) > 0) {
		r = git_commit_parent(&parent, commit, 0);
		if (r >= 0)
			r = git_commit_tree(&old_tree, parent);
	}
	if (r >= 0)
		r = git_diff_tree_to_tree(&diff, repo->mirror, old_tree, new_tree, NULL);
	if (r >= 0)
		r = git_diff_patchid(&id, diff, NULL);
	if (r >= 0)
		*ret = repo_oid_text(&id);
	git_diff_free(diff);
	git_tree_free(old_tree);
	git_tree_free(new_tree);
	git_commit_free(parent);
	git_commit_free(commit);
	return r < 0 ? -EIO : *ret ? 0 : -ENOMEM;
}

/* Commits an index on top of `onto`: -EDOM when it has conflicts or changes nothing. */
static int commit_index(struct repo *repo, git_index *index, git_commit *onto, const char *message, char **ret_oid)
{
	git_signature *who = NULL;
	git_tree *tree = NULL;
	git_oid tree_id, id;
	git_commit *const parents[] = { onto };
	int r;

	if (git_index_has_conflicts(index))
		return -EDOM;
	r = git_index_write_tree_to(&tree_id, index, repo->mirror);
	if (r >= 0 && git_oid_equal(&tree_id, git_commit_tree_id(onto)))
		return -EDOM;
	if (r >= 0)
		r = git_tree_lookup(&tree, repo->mirror, &tree_id);
	if (r >= 0) /* a fixed date: equal questions give equal ids */
		r = git_signature_new(&who, "mmbisect", "mmbisect@localhost", git_commit_time(onto), 0);
	if (r >= 0)
		r = git_commit_create(&id, repo->mirror, NULL, who, who, NULL, message, tree, 1,
				      (const git_commit **)(uintptr_t)parents);
	git_signature_free(who);
	git_tree_free(tree);
	if (r < 0)
		return -EIO;
	*ret_oid = repo_oid_text(&id);
	return *ret_oid ? 0 : -ENOMEM;
}

enum apply { APPLY_PICK, APPLY_REVERT };

static int apply_commit(struct repo *repo, enum apply how, const char *what, const char *onto, struct error *err,
			char **ret_oid)
{
	_cleanup_free_ char *message = str_format("%s %s onto %s\n", how == APPLY_PICK ? "cherry-pick" : "revert", what, onto);
	git_commit *commit = NULL, *base = NULL;
	git_index *index = NULL;
	unsigned mainline;
	int r = repo_lookup(repo, what, &commit);

	if (r >= 0)
		r = repo_lookup(repo, onto, &base);
	if (r < 0) {
		git_commit_free(commit);
		return repo_git_error(err, r, "commit");
	}
	mainline = git_commit_parentcount(commit) > 1 ? 1 : 0;
	if (how == APPLY_PICK)
		r = git_cherrypick_commit(&index, repo->mirror, commit, base, mainline, NULL);
	else
		r = git_revert_commit(&index, repo->mirror, commit, base, mainline, NULL);
	if (r < 0)
		r = repo_git_error(err, r, what);
	else
		r = message ? commit_index(repo, index, base, message, ret_oid) : -ENOMEM;
	if (r == -EDOM)
		(void)error_set(err, r, "%.12s does not %s on %.12s", what, how == APPLY_PICK ? "apply" : "revert cleanly", onto);
	git_index_free(index);
	git_commit_free(base);
	git_commit_free(commit);
	return r;
}

int repo_cherry_pick(struct repo *repo, const char *pick, const char *onto, struct error *err, char **ret_oid)
{
	return apply_commit(repo, APPLY_PICK, pick, onto, err, ret_oid);
}

int repo_revert(struct repo *repo, const char *culprit, const char *onto, struct error *err, char **ret_oid)
{
	return apply_commit(repo, APPLY_REVERT, culprit, onto, err, ret_oid);
}

/* "Fixes: 0123456789ab ("subject")" about this commit? By its id, or by the whole subject under another id. */
static bool fixes_commit(const char *message, const char *oid, const char *subject)
{
	for (const char *p = message; p; p = strchr(p, '\n'), p = p ? p + 1 : NULL) {
		size_t hex, end;
		const char *quote;

		if (strncasecmp(p, "Fixes:", 6) != 0)
			continue;
		p += 6;
		p += strspn(p, " \t");
		hex = strspn(p, "0123456789abcdefABCDEF");
		if (hex >= 8 && hex <= strlen(oid) && strncasecmp(p, oid, hex) == 0)
			return true;
		end = strcspn(p, "\n");
		quote = memchr(p, '"', end);
		if (hex >= 8 && quote && strlen(subject) > 10 &&
		    strncmp(quote + 1, subject, strlen(subject)) == 0 && quote[1 + strlen(subject)] == '"')
			return true;
	}
	return false;
}

/* The name of a branch that holds the commit: the first one in order, for the report only. */
static char *branch_of(git_repository *git, const git_oid *id)
{
	git_reference_iterator *it = NULL;
	git_reference *ref = NULL;
	char *name = NULL;

	if (git_reference_iterator_new(&it, git) < 0)
		return NULL;
	while (!name && git_reference_next(&ref, it) == 0) {
		const git_oid *tip = git_reference_target(ref);

		if (tip && !str_starts(git_reference_name(ref), "refs/keep/") &&
		    (git_oid_equal(tip, id) || git_graph_descendant_of(git, tip, id) == 1))
			name = strdup(git_reference_name(ref));
		git_reference_free(ref);
	}
	git_reference_iterator_free(it);
	return name;
}

static int push_branches(git_revwalk *walker, git_repository *git)
{
	git_reference_iterator *it = NULL;
	git_reference *ref = NULL;
	int r = git_reference_iterator_new(&it, git);

	while (r >= 0 && (r = git_reference_next(&ref, it)) == 0) {
		const git_oid *tip = git_reference_target(ref);

		if (tip && !str_starts(git_reference_name(ref), "refs/keep/"))
			(void)git_revwalk_push(walker, tip); /* tags of blobs and the like are no commits */
		git_reference_free(ref);
	}
	git_reference_iterator_free(it);
	return r == GIT_ITEROVER ? 0 : r;
}

int repo_find_fix(struct repo *repo, const char *culprit, const char *hide, struct error *err, char **ret_oid, char **ret_ref)
{
	git_repository *git = repo->user ? repo->user : repo->mirror;
	_cleanup_(commit_done) struct commit c = { 0 };
	git_revwalk *walker = NULL;
	git_oid id, hidden;
	bool found = false;
	int r = repo_commit(repo, culprit, err, &c);

	if (r < 0)
		return r;
	r = git_revwalk_new(&walker, git);
	if (r >= 0)
		r = push_branches(walker, git);
	if (r >= 0 && git_oid_fromstr(&hidden, hide) >= 0)
		r = git_revwalk_hide(walker, &hidden);
	for (int n = 0; r >= 0 && !found && n < FIX_COMMITS_MAX; n++) {
		git_commit *commit;

		r = git_revwalk_next(&id, walker);
		if (r < 0 || git_commit_lookup(&commit, git, &id) < 0)
			continue;
		found = fixes_commit(git_commit_message(commit), culprit, c.subject);
		git_commit_free(commit);
	}
	git_revwalk_free(walker);
	if (!found)
		return r < 0 && r != GIT_ITEROVER ? repo_git_error(err, r, "looking for a fix") : 0;
	*ret_oid = repo_oid_text(&id);
	*ret_ref = branch_of(git, &id);
	return *ret_oid ? 1 : error_errno(err, -ENOMEM, "git");
}
