// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/build-argv.h"

#include "lib/str.h"

void argv_done(struct argv *argv)
{
	for (size_t i = 0; i < argv->n; i++)
		free(argv->items[i]);
	free(argv->items);
	*argv = ARGV_INIT;
}

void argv_add(struct argv *argv, const char *format, ...)
{
	_cleanup_str_ struct str s = STR_INIT;
	va_list ap;

	va_start(ap, format);
	(void)str_vaddf(&s, format, ap);
	va_end(ap);
	if (grow_array(&argv->items, &argv->capacity, argv->n + 1, sizeof(*argv->items)) < 0) {
		argv->failed = true;
		return;
	}
	argv->items[argv->n] = str_take(&s);
	if (!argv->items[argv->n]) {
		argv->failed = true;
		return;
	}
	argv->items[++argv->n] = NULL;
}

void argv_add_list(struct argv *argv, const char *const *list)
{
	for (; *list; list++)
		argv_add(argv, "%s", *list);
}

const char *const *argv_get(const struct argv *argv)
{
	return argv->failed || !argv->n ? NULL : (const char *const *)argv->items;
}
