/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_BUILD_SANDBOX_H
#define MMB_BUILD_SANDBOX_H

/*
 * Runs programs of a tree, which is code of strangers, in a bubblewrap sandbox: no network, no other processes, as nobody, read-only /usr and
 * the tree at /src, and to write only /obj (the O= tree) and /ccache; /tmp is a small memory file system. The request
 * of the config is at /request.config, the linker of another layout in /layout. Everything in it dies when we do.
 *
 * Started by root, bubblewrap itself runs as nobody too, so that even a way out of the namespaces leads nowhere.
 */
#include "workers/build-slot.h"

/* The user that owns what the build writes: nobody, or 0 when we are not root and keep our own. */
uid_t sandbox_uid(void);

/* Once, before the first run: makes the slot reachable for nobody when a parent folder is closed to others. */
int sandbox_prepare(struct slot *slot, struct error *err);

/* Runs argv in /obj; output as of build_run(). */
int sandbox_run(const struct slot *slot, struct build_run *run, const char *const *argv, build_line_fn line,
		void *userdata, struct error *err, int *ret_status);

#endif
