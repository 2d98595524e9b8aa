// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/names.h"

#include "lib/str.h"

#include <stdlib.h>
#include <string.h>

static int compare_texts(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

static int compare_names(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	int r = compare_texts(x, y);

	return r ? r : (x->node > y->node) - (x->node < y->node);
}

void names_sort(struct name *names, size_t n)
{
	if (n > 1)
		qsort(names, n, sizeof(*names), compare_names);
}

int names_find(const struct name *names, size_t n, const char *text)
{
	const struct name key = { .text = text };
	const struct name *found = n ? bsearch(&key, names, n, sizeof(*names), compare_texts) : NULL;

	return found ? found->node : -1;
}

void names_group(struct name *names, size_t n, int *ret_first)
{
	names_sort(names, n);
	for (size_t i = 0; i < n; i++) {
		bool same = i && str_eq(names[i].text, names[i - 1].text);

		ret_first[names[i].node] = same ? ret_first[names[i - 1].node] : names[i].node;
	}
}
