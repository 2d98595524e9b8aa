/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The port that results leave by: a serial device, or a virtio port by its name. */
#ifndef MMB_GUEST_PORT_H
#define MMB_GUEST_PORT_H

/*
 * Opens `port`, "/dev/ttyS1" or "name:results.0", with nothing between what is
 * written and what the host reads. Returns a descriptor, or -errno.
 */
int port_open(const char *port);

#endif
