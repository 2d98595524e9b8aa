/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_BUILD_LAYOUT_H
#define MMB_BUILD_LAYOUT_H

/*
 * The same objects linked in another order: layout 0 is the tree's own, any other number is the seed of a shuffle.
 *
 * An ld.lld of ours stands first in the sandbox's PATH and adds --shuffle-sections to the links of vmlinux and .tmp_vmlinux*, so
 * no command that make remembers changes, nothing is compiled again, and all passes of one link agree. Only input sections whose name is
 * .text are shuffled: of others (.head.text, .init.*, initcalls, exception tables) the order may mean something. A
 * tree that links vmlinux from one vmlinux.o (LTO, IBT) has one .text, and all its layouts are one image.
 */
#include "workers/build-slot.h"

/*
 * Between slot_obj_begin() and make: a vmlinux of another layout is removed, for make would take it for done. What layout the O= tree has is
 * remembered with it; a build that is killed leaves the tree dirty, and it is wiped.
 */
int layout_prepare(struct slot *slot, unsigned layout, struct error *err);

#endif
