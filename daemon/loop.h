/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_LOOP_H
#define MMB_LOOP_H

/* The event loop of a program of ours: SIGINT and SIGTERM come to on_stop, a reader that is gone (SIGPIPE) is an error of write. */
#include "lib/error.h"

#include <systemd/sd-event.h>

/* Blocks the signals and opens the loop; the caller unrefs it. */
int loop_new(sd_event_signal_handler_t on_stop, void *userdata, struct error *err, sd_event **ret);

#endif
