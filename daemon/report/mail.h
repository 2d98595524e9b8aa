/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_REPORT_MAIL_H
#define MMB_REPORT_MAIL_H

/*
 * A mail as the octets that an SMTP server gets (RFC 5322, 2045 to 2047): one part of text/plain, ASCII only, CRLF, no
 * line over 998 octets, so any server takes it and no relay changes it. Lists refuse HTML, base64 and multipart.
 *
 * Addresses, message ids and the order of headers are checked: what could become another header line is an error for an
 * address and harmless text in a subject. Headers are borrowed.
 */
#include "lib/error.h"
#include "lib/str.h"

struct mail_headers {
	const char *from;	/* "a@b" or "Name <a@b>"; names may be UTF-8, addresses are ASCII */
	const char *const *to;	/* at least one; NULL ends the list */
	const char *const *cc;	/* or NULL */
	const char *subject;	/* UTF-8 of strangers */
	const char *message_id; /* "<left@right>" */
	const char *in_reply_to; /* or NULL */
	const char *const *references; /* or NULL; first and last ones are kept when there are many */
	const char *mailer;	/* X-Mailer; NULL: "mmbisect" */
	uint64_t date_ns;	/* wall clock */
};

/* Appends to *ret, which is as before on failure. -EINVAL with a message for a bad header, -ENOMEM. */
int mail_compose(const struct mail_headers *h, const char *body, struct error *err, struct str *ret);

/*
 * "<mmbisect.3f2a….token@host>": `identity` says what the mail is about (hashed), `token` is unique to the mail, `host` is
 * ours. The same input gives the same id. The caller frees *ret.
 */
int mail_message_id(const char *identity, const char *token, const char *host, char **ret);

/* The bare address of "a@b" or "Name <a@b>", for the envelope. -EINVAL when it is none. The caller frees *ret. */
int mail_address(const char *text, struct error *err, char **ret);

#endif
