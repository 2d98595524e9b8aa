#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs every test under prove: first what needs no kernel (C programs with sanitizers, scripts, pages in a browser, the lint
# of all sources), two at a time; then, unless QUICK=1, the end-to-end tests on real kernels, alone. prove's closing line is ours.
set -euo pipefail
cd "$(dirname "$0")/../.."
export O=${O:-out/san}

mapfile -t quick < <(
	find "$O/tests" -type f -executable -name 'test-*' | sort
	find tests/lib tests/db tests/daemon tests/workers tests/web tests/demo \
		\( -name node_modules -prune \) -o -name 'test-*' \( -name '*.sh' -o -name '*.mjs' \) -print | sort
)
[ "${QUICK:-0}" = 1 ] || quick=(tests/lint/test-lint.sh "${quick[@]}")
prove -j2 --timer --failures "${quick[@]}"
[ "${QUICK:-0}" != 1 ] || exit 0
exec prove --timer --failures --comments tests/e2e/test-*.sh
