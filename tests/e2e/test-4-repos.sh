#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `mmbisect bisect --json` on repositories as people have them: a bare clone with packed refs below a path with a space, and a
# worktree. The answer and the document's shape are the same, the repository is not changed, and the second costs no build.
set -u
cd "$(dirname "$0")/../.." || exit 1
O=${O:-out}
demo=${DEMO_DIR:-$PWD/state/demo}
state=${EXACT_STATE:-$demo/daemon}
work=$demo/repos
n=0
failed=0
field() { node -e 'console.log(JSON.parse(require("fs").readFileSync(process.argv[1]))[process.argv[2]])' "$demo/history.json" "$1"; }
tap() { # tap TITLE COMMAND...
	n=$((n + 1))
	if "${@:2}"; then echo "ok $n - $1"; else echo "not ok $n - $1"; failed=1; fi
}

rm -rf "$work"
mkdir -p "$work/a folder"
bare="$work/a folder/linux.git"
git clone -q --bare --shared "$demo/base.git" "$bare"
git --git-dir "$bare" pack-refs --all
git --git-dir "$bare" worktree add -q --no-checkout --detach "$work/tree" "$(field bad)"
before=$(cd "$bare" && find . -type f -exec sha256sum {} + | sort | sha256sum)

ask() { # ask REPO NAME
	"$O/bin/mmbisect" bisect --repo "$1" --good "$(field good)" --bad "$(field bad)" --workload thread-stack --no-verify \
		--state "$state" --quiet --json >"$work/$2.json" 2>"$work/$2.err"
	local status=$?
	[ "$status" = 0 ] || tail -3 "$work/$2.err" | sed 's/^/# /'
	return "$status"
}
shape() {
	node -e '
		const d = JSON.parse(require("fs").readFileSync(process.argv[1]));
		const keys = ["verdict", "culprit", "candidates", "range", "workload", "arch", "metric", "change", "verify", "cost", "status"];
		const missing = keys.filter((k) => !(k in d));
		console.log(`# culprit ${d.culprit}, ${d.cost.builds} builds, ${d.cost.boots} boots`);
		process.exit(missing.length || d.culprit !== process.argv[2] || (process.argv[3] && d.cost.builds + d.cost.boots > 0) ? 1 : 0);
	' "$@"
}
tap "a bare clone, refs packed, a path with a space: exit 0" ask "$bare" bare
tap "its document has all keys and the planted culprit" shape "$work/bare.json" "$(field culprit)"
tap "a worktree: exit 0" ask "$work/tree" tree
tap "the same answer, without a build and a boot" shape "$work/tree.json" "$(field culprit)" cached
tap "the repository was not changed" [ "$before" = "$(cd "$bare" && find . -type f -exec sha256sum {} + | sort | sha256sum)" ]
echo "1..$n"
exit $failed
