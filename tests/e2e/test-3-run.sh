#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The run worker's own tests once more, with the real kernels that the tests before this one have built.
set -u
cd "$(dirname "$0")/../.." || exit 1
O=${O:-out}
state=${EXACT_STATE:-${DEMO_DIR:-$PWD/state/demo}/daemon}
kernel() {
	sqlite3 -readonly "$state/mmbisect.db" "SELECT kernel FROM build WHERE arch = '$1' AND status = 'ok' ORDER BY id DESC LIMIT 1"
}
MMB_KERNEL_X86_64=$(kernel x86_64) MMB_KERNEL_ARM64=$(kernel arm64)
if ! [ -s "$MMB_KERNEL_X86_64" ] || ! [ -s "$MMB_KERNEL_ARM64" ]; then
	echo "Bail out! no kernels in $state: test-2-exact.sh makes them"
	exit 1
fi
export MMB_KERNEL_X86_64 MMB_KERNEL_ARM64
export MMB_INITRAMFS_X86_64=$PWD/$O/guest/x86_64/initramfs.cpio MMB_INITRAMFS_ARM64=$PWD/$O/guest/arm64/initramfs.cpio
exec bash tests/workers/test-run.sh
