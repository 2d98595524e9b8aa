# SPDX-License-Identifier: GPL-2.0-or-later
# The guest's program and initramfs, for each arch; included by the Makefile.
# Equal sources give equal bytes, whatever the folder, the time and the user.

O ?= out
GUEST_ARCHES ?= x86_64 arm64
GUEST_CC ?= clang

guest_dir := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
guest_src := $(sort $(wildcard $(guest_dir)/*.c))
guest_hdr := $(wildcard $(guest_dir)/*.h)

guest_target_x86_64 := x86_64-linux-gnu
guest_target_arm64 := aarch64-linux-gnu

guest_cflags := -std=gnu17 -D_GNU_SOURCE -O2 -g0 -Wall -Wextra -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Wformat=2 -Werror -fno-pie
guest_ldflags := -static -fuse-ld=lld -pthread -Wl,--build-id=none -Wl,-s

.PHONY: guest guest-clean
guest: $(foreach a,$(GUEST_ARCHES),$(O)/guest/$(a)/initramfs.cpio)

guest-clean:
	rm -rf $(O)/guest

# One step a program: it is small, and no object file can be stale.
$(O)/guest/%/init: $(guest_src) $(guest_hdr) $(guest_dir)/guest.mk
	@mkdir -p $(@D)
	$(GUEST_CC) --target=$(guest_target_$*) $(guest_cflags) $(guest_ldflags) -o $@ $(guest_src)

# /dev/console is in every kernel's built-in initramfs: no node to make, no root needed.
$(O)/guest/%/initramfs.cpio: $(O)/guest/%/init
	@rm -rf $(@D)/root
	@mkdir -p $(@D)/root/dev $(@D)/root/proc $(@D)/root/sys
	@cp $< $(@D)/root/init
	@chmod 0755 $(@D)/root $(@D)/root/*
	@touch -d @0 $(@D)/root $(@D)/root/*
	cd $(@D)/root && find . -mindepth 1 | LC_ALL=C sort | \
		cpio --quiet --reproducible -R 0:0 -H newc -o > ../initramfs.cpio.tmp
	@mv $@.tmp $@
	@rm -rf $(@D)/root

.PRECIOUS: $(O)/guest/%/init
