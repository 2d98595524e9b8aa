/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_NAMES_H
#define MMB_NAMES_H

/* Texts that nodes of a graph bear: which node has this one, and which nodes have the same. Plain functions; the texts are borrowed. */
#include <stddef.h>

struct name {
	const char *text;
	int node;
};

/* By text, equal ones by node. */
void names_sort(struct name *names, size_t n);
/* Of sorted names: a node that bears the text, -1 none. */
int names_find(const struct name *names, size_t n, const char *text);
/* Sorts. ret_first[node] = the first node that bears the same text, for each node that has a name. */
void names_group(struct name *names, size_t n, int *ret_first);

#endif
