// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/series-link.h"

#include "lib/str.h"

#include <stdlib.h>

#define NUMBER_MAX 4 /* digits */

/* A message id around the number of its patch. */
struct id {
	const char *start, *number, *rest, *end;
};

/* "-NUMBER-" in front of the last part of what is left of the @: false when there is none. */
static bool split(const char *link, struct id *ret)
{
	const char *slash, *end = link + strcspn(link, " >\r\n"), *at = memchr(link, '@', (size_t)(end - link));
	const char *last, *p;

	if (!at)
		return false;
	while (end > at && end[-1] == '/')
		end--;
	slash = memrchr(link, '/', (size_t)(at - link));
	ret->start = slash ? slash + 1 : link + strspn(link, "<");
	if (ret->start >= at)
		return false;
	last = memrchr(ret->start, '-', (size_t)(at - ret->start));
	if (!last)
		return false;
	for (p = last; p > ret->start && p[-1] >= '0' && p[-1] <= '9';)
		p--;
	if (p == last || last - p > NUMBER_MAX || p == ret->start || p[-1] != '-')
		return false;
	*ret = (struct id){ ret->start, p, last, end };
	return true;
}

static bool same(const char *a, const char *a_end, const char *b, const char *b_end)
{
	return a_end - a == b_end - b && memcmp(a, b, (size_t)(a_end - a)) == 0;
}

enum series_relation series_links(const char *first, const char *second)
{
	struct id a, b;

	if (!split(first, &a) || !split(second, &b))
		return SERIES_UNKNOWN;
	if (!same(a.start, a.number, b.start, b.number) || !same(a.rest, a.end, b.rest, b.end))
		return SERIES_OTHER;
	return strtol(b.number, NULL, 10) > strtol(a.number, NULL, 10) ? SERIES_SAME : SERIES_OTHER;
}
