/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_MAIL_SEND_H
#define MMB_MAIL_SEND_H

/*
 * One mail to one SMTP server, with libcurl.
 *
 * A job is checked first: what could smuggle a command or a header past the server (bare CR or LF, control characters in
 * an address) is -EINVAL with a message and never sent. With tls `starttls` or `smtps` nothing is said in the clear, also
 * when the server stops to offer TLS; a password is only sent over TLS.
 */
#include "lib/error.h"
#include "lib/json.h"

enum mail_tls { MAIL_TLS_NONE, MAIL_TLS_STARTTLS, MAIL_TLS_SMTPS };
enum mail_status { MAIL_SENT, MAIL_RETRY, MAIL_REFUSED };

struct mail_job {
	const char *server, *user, *password, *sender; /* borrowed from the JSON */
	const json_t *recipients;
	const char *message;
	size_t message_len;
	enum mail_tls tls;
	int64_t limit_seconds;
};

/* Reads and checks the job object, which must outlive *ret. */
int mail_job_parse(const json_t *job, struct error *err, struct mail_job *ret);
/* Sends. The status is the answer; *ret_error (sent: NULL) is one line of why, the caller frees it. -ENOMEM otherwise. */
int mail_send(const struct mail_job *job, enum mail_status *ret, char **ret_error);
const char *mail_status_name(enum mail_status status);

#endif
