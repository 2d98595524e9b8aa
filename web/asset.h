/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_WEB_ASSET_H
#define MMB_WEB_ASSET_H

/*
 * The static front end. The files of web/static/ are part of the program, so that it runs from
 * anywhere; with a folder
 * (--static, for work on the pages) they are read from there at every request. Only the names in
 * the table exist: a path of a visitor never reaches the file system.
 *
 * To add a file: put it into web/static/ and a line into the table of asset.c.
 */
#include "web/reply.h"

/* 0, or -ENOENT when the table has no such name. `dir` may be NULL. */
int asset_get(const char *dir, const char *name, struct reply *reply);

#endif
