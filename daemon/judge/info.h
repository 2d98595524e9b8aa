/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much a measurement is expected to tell. Private to this room.
 */
#ifndef MMB_JUDGE_INFO_H
#define MMB_JUDGE_INFO_H

/* Bits of one yes-or-no that is true with probability p. */
double judge_entropy(double p);

/*
 * Mutual information, in bits, of a yes-or-no with prior p and one normal observation whose means lie
 * `signal` standard deviations apart. r observations of signal d tell what one of d sqrt(r) does.
 * From a table that is made once; within 1 % of the integral.
 */
double judge_information(double p, double signal);

#endif
