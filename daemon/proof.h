/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_PROOF_H
#define MMB_PROOF_H

/*
 * Does the proof show the change? Culprit against each of its parents, by the metric that was searched. Exact: above the metric's
 * floor. Among noise: fresh runs, made after the verdict, in turns, until judge_sequential() answers; it wants half of what
 * the search says that the culprit makes, with an error of one percent. A finding is mailed only when its proof shows it.
 */
#include <stdbool.h>

enum proof_state {
	PROOF_NOT_MEASURED, /* nobody asked for it, or no parent can be measured */
	PROOF_SHOWN,
	PROOF_NOT_SHOWN,
};

/* A plain value. */
struct proof {
	enum proof_state state;
	char reason[240];
	unsigned pairs;		 /* fresh ones, class time */
	double ratio, low, high; /* of the parent that says least, class time; NAN: not known */
};

const char *proof_state_name(enum proof_state state); /* not-measured, shown, not-shown */

#endif
