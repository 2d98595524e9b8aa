// SPDX-License-Identifier: GPL-2.0-or-later
#include "web/route.h"

#include "web/api.h"

#define ID_DIGITS 18 /* fits int64_t */

static const struct route routes[] = {
	{"GET", "/", page_app},
	{"GET", "/searches", page_app},
	{"GET", "/finding/#", page_app},
	{"GET", "/search/#", page_app},
	{"GET", "/api/status.json", api_status},
	{"GET", "/api/findings.json", api_findings},
	{"GET", "/api/finding/#.json", api_finding},
	{"GET", "/api/searches.json", api_searches},
	{"GET", "/api/search/#.json", api_search},
};

/* Reads the digits of an id, without leading zeros: one path a thing. Returns how many, 0: none. */
static size_t read_id(const char *text, int64_t *ret)
{
	size_t n = strspn(text, "0123456789");
	int64_t id = 0;

	if (n == 0 || n > ID_DIGITS || text[0] == '0')
		return 0;
	for (size_t i = 0; i < n; i++)
		id = id * 10 + (text[i] - '0');
	*ret = id;
	return n;
}

bool route_match(const char *pattern, const char *path, int64_t *ret_id)
{
	size_t before = strcspn(pattern, "#"), n;
	int64_t id = 0;

	if (pattern[before] == '\0')
		return str_eq(pattern, path);
	if (strncmp(pattern, path, before) != 0)
		return false;
	n = read_id(path + before, &id);
	if (n == 0 || !str_eq(pattern + before + 1, path + before + n))
		return false;
	*ret_id = id;
	return true;
}

const struct route *route_find(const char *path, int64_t *ret_id)
{
	*ret_id = 0;
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
		if (route_match(routes[i].pattern, path, ret_id))
			return &routes[i];
	return NULL;
}

bool route_is_api(const char *path)
{
	return str_starts(path, "/api/");
}
