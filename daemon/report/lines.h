/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_REPORT_LINES_H
#define MMB_REPORT_LINES_H

/*
 * Lines of plain text: strangers' words made harmless, widths in columns, wrapping.
 *
 * Widths are those of a terminal with a fixed font, whatever the locale: wide characters count two, combining ones none.
 * Writers add to a `struct str`, which remembers when memory ran out; the last one to write checks that once.
 */
#include "lib/str.h"

#define REPORT_PROSE_COLUMNS 78
#define REPORT_TABLE_COLUMNS 100
/* RFC 5322 allows 998 octets a line; room is left for indents. */
#define REPORT_LINE_OCTETS 900

/*
 * A new string on one line: valid UTF-8 without control characters, line separators and direction marks (which can make
 * a line read as what it is not), no longer than REPORT_LINE_OCTETS. NULL text gives "". NULL when out of memory.
 */
char *report_line(const char *text);

size_t report_width(const char *text);
/* Adds text, cut with "..." where it is wider than `columns`. */
void report_add_clipped(struct str *out, const char *text, size_t columns);
/* Adds text cleaned by report_line() and cut as above. */
void report_add_line(struct str *out, const char *text, size_t columns);
/* Adds clean text, wrapped at blanks, but not inside of "5 709", "5 %" or "and 5"; ends with a newline. */
void report_add_wrapped(struct str *out, const char *first_indent, const char *indent, const char *text);

#endif
