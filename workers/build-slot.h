/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_BUILD_SLOT_H
#define MMB_BUILD_SLOT_H

/*
 * A slot: the folder in which one build at a time happens, kept warm from commit to commit.
 *
 *	lock                   flock(2), held from slot_open() until the last process of the build is gone
 *	src                    the checked out tree; ours, read-only for the build
 *	git-sha1, git-sha256   our own git folder with the index; objects come from the repository as an alternate
 *	ccache                 compiler cache, written by the build
 *	obj-<key>              O= tree of one architecture and config request, written by the build
 *	layout/ld.lld          ours, for builds in another layout only (build-layout.h)
 *	obj-<key>.*            what we remember of it, out of the build's reach
 *	<name>.dirty           src or obj-<key> was being changed: after a kill it is not trusted
 *
 * The repository's own config, index, HEAD, refs and hooks are never read for the checkout, and nothing in it is written.
 */
#include "workers/build-job.h"
#include "workers/build-run.h"

struct slot {
	char *path; /* absolute, no links */
	char *src, *git, *ccache, *obj, *request, *linker;
	int lock_fd;
	bool relink; /* `linker` goes before the host's programs */
	bool warm; /* obj holds an earlier build */
};
#define SLOT_INIT ((struct slot){ .lock_fd = -1 })
void slot_done(struct slot *slot);
#define _cleanup_slot_ _cleanup_(slot_done)

/* Makes what is missing and waits for the lock, until the run's deadline. */
int slot_open(const struct build_job *job, const char *config_hash, struct build_run *run, struct error *err,
	      struct slot *slot);

/* Marks src as being changed, and as good again. */
bool slot_src_is_dirty(const struct slot *slot);
int slot_src_begin(const struct slot *slot, struct error *err);
void slot_src_end(const struct slot *slot);

/* Marks obj as being changed, and as good again. */
int slot_obj_begin(struct slot *slot, struct error *err);
void slot_obj_end(struct slot *slot);
/* Empties obj with all that is remembered of it. */
int slot_obj_wipe(struct slot *slot, struct error *err);
/* Opens a file below obj for reading: no link, no device, nothing outside, whatever the build has put there. -errno. */
int slot_obj_open(const struct slot *slot, const char *path);
/* Removes a file at the top of obj; none there is fine. */
int slot_obj_unlink(const struct slot *slot, const char *name);
/* What is remembered of obj under `name`: a whole text. -ENOENT when there is none. */
int slot_obj_recall(const struct slot *slot, const char *name, char **ret);
int slot_obj_remember(const struct slot *slot, const char *name, const char *text);

#endif
