/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_REPORT_TEXT_H
#define MMB_REPORT_TEXT_H

/*
 * The document of an answer (docs/architecture.md) as a text for people: the body of the mail of a finding, and what the
 * commands print without --json. Plain UTF-8, LF, no line over 998 octets.
 *
 * Every string of the document is a stranger's: one line stays one line, control characters and direction marks are
 * dropped. Members may be missing or of the wrong type. `reporter` ("Name <a@b>") is an optional member for the
 * Reported-by line. Both append to *out; 0 or -ENOMEM.
 */
#include "lib/json.h"

int report_text(const json_t *document, struct str *out);
/* One line without newline for the Subject of a mail. */
int report_subject(const json_t *document, struct str *out);

#endif
