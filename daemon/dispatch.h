/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_DISPATCH_H
#define MMB_DISPATCH_H

/*
 * From queued jobs to results. Leases what may run now, starts it on the executor, and records what comes back: the result and
 * the end of the job in one transaction.
 *
 * What may overlap is the executor's to say: builds and `exact` runs on this host; `time` runs with nothing but each other.
 * Infra results are retried with growing pauses and then end the job as failed; they say nothing about a commit.
 */
#include "daemon/engine.h"

/* Starts what may be started. */
int dispatch_start(struct engine *engine, struct error *err);
/* The executor's notify: userdata is the engine. */
void dispatch_notify(uint64_t handle, void *userdata);
/* Ends all running jobs; they stay queued. */
void dispatch_stop(struct engine *engine);

#endif
