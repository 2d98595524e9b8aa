// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/build-layout.h"

#include "lib/fs.h"
#include "lib/str.h"

#include <sys/stat.h>

/* What a link makes that a later make would take for done. System.map and images are made anew with vmlinux. */
static const char *const linked[] = { "vmlinux", "vmlinux.unstripped" };

static const char linker[] = "#!/bin/sh\n"
			     "# The next ld.lld of PATH; kernels get their functions in another order.\n"
			     "PATH=${PATH#*:}\n"
			     "before=\n"
			     "out=\n"
			     "for word; do\n"
			     "\t[ \"$before\" != -o ] || out=$word\n"
			     "\tbefore=$word\n"
			     "done\n"
			     "case ${out##*/} in\n"
			     "vmlinux | vmlinux.unstripped | .tmp_vmlinux*)\n"
			     "\tcase ${out##*.} in o | a) ;; *) set -- \"--shuffle-sections=.text=%u\" \"$@\" ;; esac ;;\n"
			     "esac\n"
			     "exec ld.lld \"$@\"\n";

static unsigned long before(const struct slot *slot)
{
	_cleanup_free_ char *text = NULL;

	return slot_obj_recall(slot, "layout", &text) < 0 ? 0 : strtoul(text, NULL, 10);
}

static int write_linker(const struct slot *slot, unsigned layout, struct error *err)
{
	_cleanup_free_ char *path = str_format("%s/ld.lld", slot->linker);
	_cleanup_free_ char *text = str_format(linker, layout);
	int r = path && text ? fs_mkdir_p(slot->linker, 0755) : -ENOMEM;

	if (r >= 0)
		r = fs_write_atomic(path, text, strlen(text));
	if (r >= 0 && chmod(path, 0755) < 0)
		r = -errno;
	return r < 0 ? error_errno(err, r, "cannot write %s/ld.lld", slot->linker) : 0;
}

int layout_prepare(struct slot *slot, unsigned layout, struct error *err)
{
	_cleanup_free_ char *note = str_format("%u\n", layout);
	int r = note ? 0 : -ENOMEM;

	slot->relink = layout != 0;
	if (layout) {
		r = write_linker(slot, layout, err);
		if (r < 0)
			return r;
	}
	if (before(slot) == layout)
		return 0;
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(linked); i++)
		r = slot_obj_unlink(slot, linked[i]);
	if (r >= 0)
		r = slot_obj_remember(slot, "layout", note);
	return r < 0 ? error_errno(err, r, "cannot relink in %s", slot->obj) : 0;
}
