/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_WEB_GATHER_H
#define MMB_WEB_GATHER_H

/* Putting an API's object together from views. All return 0 or negative errno. */
#include "db/view.h"

/* object[key] = all rows of the view. */
int gather_rows(json_t *object, const char *key, struct db *db, enum view view, int64_t id);
/* object[key] = its only row; -ENOENT when there is none. */
int gather_row(json_t *object, const char *key, struct db *db, enum view view, int64_t id);
/* object["typical_seconds"] = {class: how long such a job took of late}, for classes that have a
 * past. */
int gather_typical(json_t *object, struct db *db);

#endif
