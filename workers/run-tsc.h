/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_RUN_TSC_H
#define MMB_RUN_TSC_H

/*
 * The rate of this host's time stamp counter, which is the guest's under KVM and under TCG without instruction counting. A guest
 * with several vCPUs cannot find it out itself without ACPI's PM timer: the PIT's ticks come too unevenly.
 */

/* kHz, within some 1e-5. Takes 20 ms the first time. -EOPNOTSUPP when the host is not x86: the guest then lives by its jiffies. */
int run_tsc_khz(unsigned *ret);

#endif
