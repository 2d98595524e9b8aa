/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_SERIES_LINK_H
#define MMB_SERIES_LINK_H

/*
 * Message ids of patches that were sent as one series have a number each, and are equal but for it:
 *
 *   20220914102033.123456-3-author@example.org      git send-email
 *   20240101-topic-v2-3-0123456789ab@example.org     b4
 *
 * Pure text; nothing fails.
 */
enum series_relation {
	SERIES_UNKNOWN, /* one of them has no such number: says nothing */
	SERIES_SAME,	/* one thread, and the second has the larger number */
	SERIES_OTHER,
};

/* Of two links, or bare message ids. */
enum series_relation series_links(const char *first, const char *second);

#endif
