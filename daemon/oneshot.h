/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_ONESHOT_H
#define MMB_ONESHOT_H

/*
 * Work in the foreground with the daemon's own engine: state folder, loop, signals, progress line. What is asked is checked
 * before anything is written; what was measured stays in the state folder, so the same command goes on after Ctrl-C or a kill.
 */
#include "daemon/cli.h"

struct oneshot {
	const struct cli *cli;
	struct engine *engine;
	sd_event *loop;
	bool finished, interrupted;
	int64_t search_id; /* 0: none; for progress */
	/* Called after every change: sets finished when there is nothing left to wait for. */
	int (*step)(struct oneshot *shot, struct error *err);
	void *userdata;
};

/* Repository, revisions, workload and machines: everything that can be wrong with the question. Writes nothing. */
int oneshot_check(const struct cli *cli, const char *const revs[], size_t n_revs, const char *const classes[],
		  struct error *err, char **ret_oids /* n_revs, each new */);
/* Opens everything and loops until step() has finished. Leaves the engine open for the answer: oneshot_done(). */
int oneshot_run(struct oneshot *shot, struct error *err);
void oneshot_done(struct oneshot *shot);

#endif
