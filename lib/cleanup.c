// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/cleanup.h"

int grow_array(void *items, size_t *capacity, size_t used, size_t item_size)
{
	void **array = items;
	void *bigger;
	size_t n;

	if (used < *capacity)
		return 0;
	n = *capacity ? *capacity * 2 : 8;
	bigger = reallocarray(*array, n, item_size);
	if (!bigger)
		return -ENOMEM;
	*array = bigger;
	*capacity = n;
	return 0;
}
