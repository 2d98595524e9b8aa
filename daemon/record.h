/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_RECORD_H
#define MMB_RECORD_H

/*
 * Puts a worker's result into the database together with the end of its job. The result was made by a program that ran
 * strangers' code: it is checked here; -EBADMSG when it is not what the contract says (nothing is stored then).
 */
#include "daemon/engine.h"

int record_build(struct engine *engine, const struct running *run, const json_t *result);
int record_run(struct engine *engine, const struct running *run, const json_t *result);

#endif
