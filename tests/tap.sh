# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What shell tests share; to be sourced at the top of the tree, first. A test may define on_failure, which says more after a `not ok`,
# and ends with done_testing.
n=0 failed=0
# until_() waits for this process's work, so many fifths of a second.
daemon='' UNTIL_TRIES=300

on_failure() { :; }

# ok TITLE COMMAND...: one line of TAP.
ok() {
	local title=$1
	shift
	n=$((n + 1))
	if "$@"; then
		echo "ok $n - $title"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $n - $title"
	on_failure
}

skip() { # skip WHY
	n=$((n + 1))
	echo "ok $n # SKIP $1"
}

# until_ COMMAND...: waits for it to become true, no longer than $daemon lives.
until_() {
	for ((i = 0; i < UNTIL_TRIES; i++)); do
		"$@" && return 0
		kill -0 "$daemon" 2>/dev/null || return 1
		sleep 0.2
	done
	return 1
}

git_() { git -c user.name=T -c user.email=t@example.org -c init.defaultBranch=main "$@"; }

done_testing() {
	echo "1..$n"
	[ "$failed" = 0 ]
}
