/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_BUILD_VERDICT_H
#define MMB_BUILD_VERDICT_H

/*
 * Why a build failed, from the lines it wrote: is the tree at fault or the host, and in which words?
 *
 * Pure: lines in, a verdict out. Lines are bytes of strangers; the text that comes out is sanitised.
 */
#include "lib/cleanup.h"

struct verdict {
	int rank;	/* of `error`; see build-verdict.c */
	char *error;	/* the first line of the highest rank */
	char *host;	/* first line that only a host in trouble writes: full disk, killed compiler */
	char *missing;	/* first program that was not found */
	bool clock_skew;
	unsigned long n_lines;
};
#define VERDICT_INIT ((struct verdict){ 0 })
void verdict_done(struct verdict *v);
#define _cleanup_verdict_ _cleanup_(verdict_done)

void verdict_line(struct verdict *v, const char *line);

/* The cause, for a build that ended with `status`. *ret_infra: the host's fault. NULL when out of memory. */
char *verdict_text(const struct verdict *v, int status, bool *ret_infra);
/* A compiler or linker named the place in the tree, so the same would happen in an empty build folder. */
bool verdict_is_sure(const struct verdict *v);

#endif
