// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-patch-apply MIRROR REPO FILE REV: applies FILE on REV and prints the commit and its tree, for test-patch.sh. Run
 * without arguments (by prove, as all programs here) it only says so.
 */
#include "daemon/repo.h"

#include "tap.h"

static int apply(char **argv)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(repo_closep) struct repo *repo = NULL;
	_cleanup_(commit_done) struct commit commit = { 0 };
	_cleanup_free_ char *onto = NULL, *oid = NULL;
	int r = repo_open(argv[1], &err, &repo);

	if (r >= 0)
		r = repo_attach(repo, argv[2], &err);
	if (r >= 0)
		r = repo_resolve(repo, argv[4], &err, &onto);
	if (r >= 0)
		r = repo_apply_file(repo, argv[3], onto, &err, &oid);
	if (r >= 0)
		r = repo_commit(repo, oid, &err, &commit);
	if (r < 0) {
		(void)fprintf(stderr, "%s%s\n", r == -EDOM ? "-EDOM " : "", error_text(&err));
		return 1;
	}
	(void)printf("%s %s\n", commit.oid, commit.tree_oid);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5)
		return apply(argv);
	ok(1, "test-patch.sh runs this");
	return done_testing();
}
