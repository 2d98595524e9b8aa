/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_PROGRESS_H
#define MMB_PROGRESS_H

/* What is being done now, for which commit, and how long it will still take: one line, from the engine and typical times. */
#include "daemon/engine.h"
#include "lib/str.h"

/* search_id 0: no search. */
int progress_text(struct engine *engine, int64_t search_id, struct str *out);
void progress_show(struct engine *engine, int64_t search_id);

#endif
