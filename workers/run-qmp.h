/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_RUN_QMP_H
#define MMB_RUN_QMP_H

/*
 * The little of QMP that a run needs: negotiate, then listen to events. It sends nothing once the guest runs.
 */
#include "lib/json.h"

struct run_qmp {
	struct json_lines lines;
	bool negotiated; /* QEMU has answered: the machine is built and started */
	bool panicked;	 /* pvpanic told of a panic */
	char *version;	 /* "7.2.22", from the greeting */
	char *shutdown;	 /* the reason of the SHUTDOWN event: "guest-reset", "guest-panic", ... */
};
#define RUN_QMP_INIT ((struct run_qmp){ .lines = JSON_LINES_INIT(65536) })
void run_qmp_done(struct run_qmp *qmp);
#define _cleanup_run_qmp_ _cleanup_(run_qmp_done)

/* Takes bytes from QEMU; may answer on fd. 0 or negative errno. */
int run_qmp_feed(struct run_qmp *qmp, int fd, const char *data, size_t len);

#endif
