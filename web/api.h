/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_WEB_API_H
#define MMB_WEB_API_H

/*
 * The functions behind the routes, a file each: web/api-<name>.c. What they answer is described
 * there, at "API:". They hold no state and no SQL: they put views (db/view.h) together.
 */
#include "web/route.h"

int page_app(const struct request *request, struct reply *reply);
int api_status(const struct request *request, struct reply *reply);
int api_findings(const struct request *request, struct reply *reply);
int api_finding(const struct request *request, struct reply *reply);
int api_searches(const struct request *request, struct reply *reply);
int api_search(const struct request *request, struct reply *reply);

#endif
