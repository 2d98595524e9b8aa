/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_FS_H
#define MMB_FS_H

/*
 * Files and folders. All return 0 or negative errno; paths are given back as new strings that the caller frees.
 */
#include "lib/cleanup.h"

#include <sys/types.h>

int fs_mkdir_p(const char *path, mode_t mode);
/* Removes a tree; a path that does not exist is fine. Does not follow links. */
int fs_rm_rf(const char *path);
/* Reads a whole file, at most `max` bytes (else -EFBIG). NUL terminated; ret_len may be NULL. */
int fs_read(const char *path, size_t max, char **ret, size_t *ret_len);
/* Writes beside and renames over: readers see the old or the new content, never half. fsync'ed. */
int fs_write_atomic(const char *path, const void *data, size_t len);
/* A new empty folder below `parent` (NULL: $TMPDIR or /tmp) whose name starts with `prefix`. */
int fs_mkdtemp(const char *parent, const char *prefix, char **ret);
/* Removes the tree and frees the string: for _cleanup_. */
void fs_rm_rf_free(char **path);
bool fs_exists(const char *path);
/* Absolute path of an existing file, as realpath(3). */
int fs_realpath(const char *path, char **ret);
/* Free bytes for us on the file system of path. */
/* Cuts path to the part that exists. */
void fs_existing_parent(char *path);
bool fs_is_storage(const char *path); /* false: /proc and the like, where nothing can be kept */
int fs_free_bytes(const char *path, uint64_t *ret);
/* Finds an executable in $PATH: -ENOENT when there is none. */
int fs_find_program(const char *name, char **ret);

#endif
