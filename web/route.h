/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_WEB_ROUTE_H
#define MMB_WEB_ROUTE_H

/*
 * Which function answers which path: one static table in route.c. In a pattern '#' stands for a
 * decimal id.
 *
 * To add a page or an API: write its function (web/api.h), add a line to the table.
 */
#include "web/reply.h"
#include "db/db.h"

struct request {
	struct db *db; /* readable, at one instant for the whole request */
	int64_t id;    /* the number in the path, else 0 */
	const char *static_dir;
};

/* Fills the reply. 0, -ENOENT: nothing of that id; other errors are ours. */
typedef int (*route_fn)(const struct request *request, struct reply *reply);

struct route {
	const char *method, *pattern;
	route_fn fn;
};

/* The route of a path, whatever the method; ret_id gets the number. NULL: none. */
const struct route *route_find(const char *path, int64_t *ret_id);
/* Is the text a path of this pattern? */
bool route_match(const char *pattern, const char *path, int64_t *ret_id);
bool route_is_api(const char *path);

#endif
