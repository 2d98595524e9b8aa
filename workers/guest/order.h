/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The orders of this boot: the mmb.* words of the kernel command line. All that
 * is not nonce, port or workload is a parameter of the workload, which knows
 * whether it has such a one.
 */
#ifndef MMB_GUEST_ORDER_H
#define MMB_GUEST_ORDER_H

#define ORDER_PARAMS_MAX 32
#define ORDER_TEXT_MAX 4096

struct order_param {
	const char *name;
	const char *value;
};

struct order {
	const char *nonce; /* "" when not given */
	const char *port;
	const char *workload;
	struct order_param params[ORDER_PARAMS_MAX];
	int n_params;
	char text[ORDER_TEXT_MAX]; /* what the pointers point into */
};

/* Reads the orders from `path`. Returns 0 or -errno; -E2BIG for too many. */
int order_read(struct order *o, const char *path);

#endif
