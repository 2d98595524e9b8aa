/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_CONTROL_INTERNAL_H
#define MMB_CONTROL_INTERNAL_H

/* What both ends of the control socket share. */
#include <sys/socket.h>
#include <sys/un.h>

/*
 * An address of sun_path's 108 bytes holds no deep state folder: *ret_dir is an open folder, and the address names the
 * socket through it, as long as it stays open.
 */
int control_address(const char *path, int *ret_dir, struct sockaddr_un *ret);

#endif
