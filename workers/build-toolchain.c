// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/build-toolchain.h"

#include "lib/clock.h"
#include "lib/fs.h"
#include "lib/spawn.h"
#include "lib/str.h"

static const struct tool {
	const char *name;
	bool inside;	       /* runs in the sandbox, which shows /usr only */
	const char *version;   /* text before the number in the first line of --version; NULL: not recorded */
} tools[] = {
	{ "clang", true, "version " },
	{ "ld.lld", true, "LLD " },
	{ "make", true, "Make " },
	{ "llvm-ar", true, NULL },
	{ "llvm-nm", true, NULL },
	{ "llvm-objcopy", true, NULL },
	{ "llvm-objdump", true, NULL },
	{ "llvm-readelf", true, NULL },
	{ "llvm-strip", true, NULL },
	{ "ccache", true, NULL },
	{ "flex", true, NULL },
	{ "bison", true, NULL },
	{ "bc", true, NULL },
	{ "git", false, NULL },
	{ "bwrap", false, NULL },
};

static bool seen_inside(const char *path)
{
	return str_starts(path, "/usr/") || str_starts(path, "/bin") || str_starts(path, "/sbin");
}

static int find(const struct tool *tool, struct error *err)
{
	_cleanup_free_ char *path = NULL, *real = NULL;
	int r;

	r = fs_find_program(tool->name, &path);
	if (r < 0)
		return error_set(err, r, "%s not found", tool->name);
	if (!tool->inside)
		return 0;
	r = fs_realpath(path, &real);
	if (r < 0)
		return error_errno(err, r, "%s", path);
	if (!seen_inside(real))
		return error_set(err, -EXDEV, "%s is %s, which the sandbox does not show: only /usr", tool->name, real);
	return 0;
}

static int add_version(const struct tool *tool, struct str *into, struct error *err)
{
	const char *argv[] = { tool->name, "--version", NULL };
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	_cleanup_free_ char *text = NULL;
	const char *number;
	int r, status;

	o.argv = argv;
	r = spawn_capture(&o, 65536, 30 * NSEC_PER_SEC, err, &status, &text, NULL, NULL);
	if (r < 0)
		return r;
	text[strcspn(text, "\n")] = '\0';
	number = strstr(text, tool->version);
	if (status || !number)
		return error_set(err, -EPROTO, "%s --version says \"%s\"", tool->name, text);
	number += strlen(tool->version);
	(void)str_addf(into, "%s%s %.*s", into->len ? ", " : "", tool->name, (int)strcspn(number, " \t"), number);
	return into->failed ? error_errno(err, -ENOMEM, "%s", tool->name) : 0;
}

int toolchain_probe(struct error *err, char **ret)
{
	_cleanup_str_ struct str text = STR_INIT;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		r = find(&tools[i], err);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		r = tools[i].version ? add_version(&tools[i], &text, err) : 0;
		if (r < 0)
			return r;
	}
	*ret = str_take(&text);
	return *ret ? 0 : error_errno(err, -ENOMEM, "toolchain");
}

char *toolchain_sandbox_path(void)
{
	_cleanup_str_ struct str s = STR_INIT;
	const char *p = getenv("PATH");

	while (p && *p) {
		size_t len = strcspn(p, ":");

		if (seen_inside(p))
			(void)str_addf(&s, "%.*s:", (int)len, p);
		p += len + (p[len] == ':');
	}
	(void)str_add(&s, "/usr/bin:/bin");
	return str_take(&s);
}
