/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_PATHS_H
#define MMB_PATHS_H

/*
 * Where things are: the state folder with all that we make, the folder of our programs, the guests and the configs. All
 * absolute, all owned by the struct.
 */
#include "lib/error.h"

struct paths {
	char *state;   /* everything below it is ours */
	char *db;      /* state/mmbisect.db */
	char *mirror;  /* state/mirror.git: bare; every commit we measure is reachable here */
	char *slots;   /* state/slots: source and O= trees */
	char *images;  /* state/images: what builds give */
	char *logs;    /* state/logs */
	char *socket;  /* state/control.sock */
	char *bin;     /* mmbisect-build and its kind */
	char *guest;   /* guest/<arch>/initramfs.cpio */
	char *configs; /* kernel/, machines/, workloads/ */
};
#define PATHS_INIT ((struct paths){ 0 })

/* state NULL: $XDG_STATE_HOME/mmbisect or ~/.local/state/mmbisect; configs NULL: found from our own place, or
 * $MMBISECT_CONFIGS. Creates nothing. */
int paths_init(const char *state, const char *configs, struct error *err, struct paths *ret);
/* Makes the state folders. */
int paths_create(const struct paths *paths, struct error *err);
void paths_done(struct paths *paths);

#endif
