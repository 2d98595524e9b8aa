// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/loop.h"

#include <signal.h>

int loop_new(sd_event_signal_handler_t on_stop, void *userdata, struct error *err, sd_event **ret)
{
	static const int stops[] = { SIGINT, SIGTERM };
	sd_event *loop = NULL;
	sigset_t signals;
	int r = sd_event_new(&loop);

	(void)sigemptyset(&signals);
	for (size_t i = 0; i < ARRAY_SIZE(stops); i++)
		(void)sigaddset(&signals, stops[i]);
	(void)sigprocmask(SIG_BLOCK, &signals, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(stops); i++)
		r = sd_event_add_signal(loop, NULL, stops[i], on_stop, userdata);
	if (r < 0) {
		(void)sd_event_unref(loop);
		return error_errno(err, r, "event loop");
	}
	*ret = loop;
	return 0;
}
