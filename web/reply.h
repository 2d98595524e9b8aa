/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_WEB_REPLY_H
#define MMB_WEB_REPLY_H

/*
 * An answer under construction: status, type and body. A value, released by reply_done(); nothing
 * here knows of HTTP's wire. Text that goes into HTML passes html_txt(), always: there is no other
 * way in.
 */
#include "lib/json.h"

struct reply {
	unsigned status;
	const char *type;  /* static text */
	const char *fixed; /* the body is static memory, or */
	char *owned;	   /* it is ours */
	size_t len;
	unsigned retry_seconds; /* Retry-After, 0: none */
	bool close;		/* the connection ends with it */
};
#define REPLY_INIT ((struct reply){.status = 200})
#define _cleanup_reply_ _cleanup_(reply_done)
void reply_done(struct reply *reply);

/* Adds text to HTML, escaped. */
int html_txt(struct str *out, const char *text);

/* 200 with a JSON object. 0 or -ENOMEM. */
int reply_json(struct reply *reply, const json_t *object);
/* An error: {"error": text} for the API, a small page otherwise. 0 or -ENOMEM. */
int reply_error(struct reply *reply, bool api, unsigned status, const char *text);

#endif
