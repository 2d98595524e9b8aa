/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The asker of the simulation: keeps what a caller of judge_next() keeps, marks and a memo, and
 * does what a decision wants. Private to this room and its tests.
 *
 * An asker owns its marks and its memo, and borrows the world. -ENOMEM, and judge_next()'s -EINVAL.
 */
#ifndef MMB_SIMULATE_ASK_H
#define MMB_SIMULATE_ASK_H

#include "daemon/simulate/trial.h"

struct asker {
	struct world *w;
	struct judge_options options;
	struct judge_mark *marks;
	size_t marks_capacity;
	struct rng rng; /* of the restarts */
};

int asker_init(struct asker *a, struct world *w);
void asker_done(struct asker *a);

/* Asks, and remembers a mark. The decision is the caller's. */
int asker_next(struct asker *a, struct judge_decision *ret);
/* What a caller that was killed does: reads all observations back into new memory and asks. */
int asker_restart(struct asker *a, struct judge_decision *ret);
/* Do both say the same in every respect? */
bool asker_same(const struct judge_decision *a, const struct judge_decision *b);

/* Builds and runs. ret_done: how many of both; 0: all was there already. */
int asker_meet(struct asker *a, const struct judge_decision *d, bool eager, double *ret_wall,
	       unsigned *ret_done);

#endif
