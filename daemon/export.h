/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_EXPORT_H
#define MMB_EXPORT_H

/*
 * A search of the database as a recording (recording.h), running or over. Only reads: the database may be another process's.
 * Samples are those of the series in which the search had its last run. -EDOM and the like when the history is gone.
 */
#include "daemon/paths.h"
#include "daemon/repo.h"
#include "db/search.h"
#include "lib/json.h"

int export_search(struct db *db, struct repo *repo, const struct paths *paths, const struct search *search, struct error *err,
		  json_t **ret);

#endif
