/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_REPLAY_H
#define MMB_REPLAY_H

/*
 * A recorded search once more, on paper: the judge decides, the table of the recording answers. As in a real search, the
 * images of a decision come before its runs. Samples are given out in their order; a commit that has no more of them begins
 * again with its first, which is counted.
 *
 * -ENODATA: the judge asked for a commit that the table does not have (in err's words); what it decided until then was told.
 */
#include "daemon/recording.h"

struct replay {
	unsigned builds, runs;
	unsigned again; /* runs whose sample had been given out before */
};

/* A decision, in order; one that asking again has not changed is told once. The last one is the verdict. Negative: stops. */
typedef int (*replay_fn)(const struct recording *recording, const struct judge_decision *decision, void *userdata);

int replay_run(const struct recording *recording, replay_fn fn, void *userdata, struct error *err, struct replay *ret);

#endif
