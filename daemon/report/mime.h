/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_REPORT_MIME_H
#define MMB_REPORT_MIME_H

/* The codings of mail.h; private to it. Text is UTF-8; headers are written with CRLF and folded at 78 columns. */
#include "lib/str.h"

#define MIME_FOLD 78
#define MIME_LINE_MAX 998

/* Plain printable ASCII that no reader takes for an encoded word. */
bool mime_is_plain(const char *text);
/* "Name: text", folded at blanks; as encoded words when it is not plain or has a word that cannot be folded. */
void mime_add_text_header(struct str *out, const char *name, const char *text);
/* "Name: a, b, c" of tokens that are not encoded again, folded between them. */
void mime_add_list_header(struct str *out, const char *name, const struct str *items, size_t n, const char *separator);
/* Encoded words, divided by " " or folds; *column is where the line stands. */
void mime_add_encoded(struct str *out, const char *text, size_t *column);

/* Lines end in LF. Whether the body can go as it is, with lines of at most MIME_LINE_MAX octets. */
bool mime_is_7bit(const char *body);
void mime_add_7bit(struct str *out, const char *body);
void mime_add_quoted_printable(struct str *out, const char *body);

#endif
