#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What one decision costs, in CPU time: a repository of mainline's size (1.2 million commits, a merge in every 15, the last 15 000 of them
# in range), searched by the code that the daemon has, beside `git rev-list --bisect` of the same ranges. Both have git's commit-graph.
# Environment: O, the build folder (default out); BENCH_DIR (default state/bench), where the repository stays; COMMITS; SEED.
set -eu
cd "$(dirname "$0")/../.."
work=${BENCH_DIR:-$PWD/state/bench}
commits=${COMMITS:-1200000}
repo=$work/decision-$commits.git
mkdir -p "$work"

# Seven commits on the line, seven on a branch that left it up to 40 commits ago, and their merge. Empty trees: only the graph counts.
history() {
	awk -v n="$commits" 'BEGIN {
		srand(1)
		for (i = 1; i <= n; i++) {
			k = i % 15
			printf "commit refs/heads/main\nmark :%d\ncommitter T <t@example.org> %d +0000\ndata 1\nc\n", i, 1000000000 + i
			if (k == 0 && tip) {
				printf "from :%d\nmerge :%d\n", line, tip
				line = i; tip = 0
			} else if (k > 7) {
				from = tip ? tip : (n_line > 40 ? back[(n_line - int(rand() * 40)) % 64] : line)
				if (from) printf "from :%d\n", from
				tip = i
			} else {
				if (line) printf "from :%d\n", line
				line = i
			}
			if (line == i) back[++n_line % 64] = i
			print ""
		}
	}'
}

if [ ! -e "$repo/objects/info/commit-graph" ]; then
	rm -rf "$repo"
	git init -q --bare -b main "$repo"
	history | git --git-dir "$repo" fast-import --quiet --force
	git --git-dir "$repo" commit-graph write --reachable
fi
exec nice "${O:-out}/tests/bench/decision" "$repo" "${SEED:-1}"
