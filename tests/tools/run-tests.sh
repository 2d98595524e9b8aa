#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs every test under prove: C programs with sanitizers, scripts, pages in a browser, and unless QUICK=1 the lint of all
# sources and the end-to-end tests on real kernels. prove's closing line is ours.
set -euo pipefail
cd "$(dirname "$0")/../.."
export O=${O:-out/san}

tests=()
while IFS= read -r t; do tests+=("$t"); done < <(
	find "$O/tests" -type f -executable -name 'test-*' | sort
	find tests/lib tests/db tests/daemon tests/workers tests/web tests/demo tests/tools \
		\( -name node_modules -prune \) -o -name 'test-*' \( -name '*.sh' -o -name '*.mjs' \) -print | sort
	[ "${QUICK:-0}" = 1 ] || find tests/lint tests/e2e -name 'test-*.sh' | sort
)
exec prove --timer --failures --comments "${tests[@]}"
