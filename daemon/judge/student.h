/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Student's t distribution, for any df > 0, also a broken number.
 *
 * Source: DLMF 8.17, the regularised incomplete beta function, by its continued fraction 8.17.22
 * (modified Lentz). Nothing fails; NAN in, NAN out.
 */
#ifndef MMB_JUDGE_STUDENT_H
#define MMB_JUDGE_STUDENT_H

/* P(|T| >= |t|). t infinite: 0. */
double judge_student_p(double t, double df);

/* The t with P(|T| >= t) = p, 0 < p < 1. */
double judge_student_quantile(double p, double df);

#endif
