/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_FAILURE_H
#define MMB_FAILURE_H

/*
 * How a commit fails, in words that two commits have in common.
 *
 * The titles of crashes are made by the worker (run-console.h). What a compiler or make says has places in it that move with
 * every edit of the file: they are taken out here, so that the database keeps the text as it was.
 */
#include "lib/cleanup.h"

#define FAILURE_EXCERPT_LINES 28

/*
 * A new title. Of failed builds: without line and column numbers and without the way to the folder; "mm/x.c:12:3: error: y" is
 * "mm/x.c: error: y". Other texts stay as they are. NULL text gives "". NULL when out of memory.
 */
char *failure_title(const char *status, const char *text);

/*
 * The lines of a console or a build log that tell of a failure: from a few before the one that its title was made of, else the
 * last ones. Sanitised, at most FAILURE_EXCERPT_LINES. NULL: no such file, nothing in it, or out of memory.
 */
char *failure_excerpt(const char *path, const char *title);

#endif
