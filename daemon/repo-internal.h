/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_REPO_INTERNAL_H
#define MMB_REPO_INTERNAL_H

/* Shared by repo*.c only. */
#include "daemon/repo.h"

#include <git2.h>

struct repo {
	git_repository *mirror;
	git_repository *user; /* NULL for the daemon */
	char *path;	      /* of the mirror */
};

/* Fills err from libgit2's last error; returns a negative errno. */
int repo_git_error(struct error *err, int code, const char *what);
char *repo_oid_text(const git_oid *oid); /* new string */
/* repo_range() without its checks: node 0 is `first`, and nothing of its history and that of `hide` is in it. */
int repo_range_from(struct repo *repo, const char *first, const char *hide, const char *bad, struct error *err,
		    struct graph *ret);
int repo_lookup(struct repo *repo, const char *oid, git_commit **ret); /* libgit2's codes */

#endif
