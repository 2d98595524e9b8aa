/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_REPORT_ADDRESS_H
#define MMB_REPORT_ADDRESS_H

/* Addresses and message ids of mail headers; private to mail.c. All are checked: -EINVAL with a message. */
#include "lib/error.h"
#include "lib/str.h"

/* Adds "a@b" or "Name <a@b>" as it stands in a header whose line is at `column`; the name is quoted or encoded when needed. */
int address_add(const char *text, size_t column, struct error *err, struct str *out);
/* "<left@right>" of printable ASCII. */
int message_id_check(const char *id, struct error *err);

#endif
