#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The sources: clang-tidy, cppcheck and shellcheck have nothing to say.
set -u
cd "$(dirname "$0")/../.." || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if make --no-print-directory -k -j"$(nproc)" O=out lint >"$log" 2>&1; then
	echo "ok 1 - clang-tidy, cppcheck and shellcheck are clean"
else
	echo "not ok 1 - clang-tidy, cppcheck and shellcheck are clean"
	grep -vE '^  (TIDY|CPPCHECK|SHELL) ' "$log" | head -60 | sed 's/^/# /'
fi
echo 1..1
