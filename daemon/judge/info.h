/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much a measurement is expected to tell. Private to this room.
 */
#ifndef MMB_JUDGE_INFO_H
#define MMB_JUDGE_INFO_H

/* Bits of one yes-or-no that is true with probability p. */
double judge_entropy(double p);

#define INFO_P_STEPS 24
#define INFO_SIGNAL_STEPS 48

/* The integral of judge_information() on a grid; a plain value, some 5 ms to make. */
struct info_table {
	double bits[INFO_SIGNAL_STEPS + 1][INFO_P_STEPS + 1];
};
void info_table_make(struct info_table *ret);

/*
 * Mutual information, in bits, of a yes-or-no with prior p and one normal observation whose means lie
 * `signal` standard deviations apart. r observations of signal d tell what one of d sqrt(r) does.
 */
double judge_information(const struct info_table *table, double p, double signal);

#endif
