/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scratch memory of the judge that frees itself at the end of its scope. Private to this room.
 * The pointer belongs to the variable; nothing here can fail.
 */
#ifndef MMB_JUDGE_MEM_H
#define MMB_JUDGE_MEM_H

#include <stdlib.h>

static inline void judge_free_ints(int **p)
{
	free(*p);
}

static inline void judge_free_doubles(double **p)
{
	free(*p);
}

static inline void judge_free_bytes(unsigned char **p)
{
	free(*p);
}

#define JUDGE_INTS __attribute__((cleanup(judge_free_ints))) int *
#define JUDGE_DOUBLES __attribute__((cleanup(judge_free_doubles))) double *
#define JUDGE_BYTES __attribute__((cleanup(judge_free_bytes))) unsigned char *

#endif
