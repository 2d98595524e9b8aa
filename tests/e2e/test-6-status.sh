#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A crash of real kernels is searched for by its title: `mmbisect bisect --metric status` on six commits on the demo's base. The second
# crashes in another way, which the third takes back without building; the fifth is the one: the workload's madvise() hits a BUG_ON().
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
O=${O:-out}
demo=${DEMO_DIR:-$PWD/state/demo}
state=${EXACT_STATE:-$demo/daemon}
repo=$demo/base.git
work=$demo/status
index=$work/index
export HOME=$work/home GIT_CONFIG_GLOBAL=/dev/null GIT_INDEX_FILE=$index
mkdir -p "$work/home" "$state"
bash tests/demo/make-base.sh "$repo" || exit 1
[ -s "$demo/history.json" ] || node tests/demo/make-history.mjs --repo "$repo" --seed 2022 --json "$demo/history.json"
tip=$(node -e 'console.log(JSON.parse(require("fs").readFileSync(process.argv[1])).good)' "$demo/history.json")
g() { git_ --git-dir "$repo" "$@"; }
field() { # field EXPRESSION-OF-d
	node -e 'const d = JSON.parse(require("fs").readFileSync(process.argv[1])); console.log(eval(process.argv[2]))' "$work/out.json" "$1" 2>/dev/null
}
is() { [ "$1" = "$2" ] || { echo "# got '$1', want '$2'" && false; }; }
on_failure() { tail -n 5 "$work/err" | sed 's/^/# /'; }

# commit SUBJECT FILE TEXT-FILE: on $tip, FILE with that content; fixed dates, so that it is the same commit every time.
export GIT_AUTHOR_DATE='2023-01-01T00:00:00Z' GIT_COMMITTER_DATE='2023-01-01T00:00:00Z'
commit() {
	g read-tree "$tip"
	g update-index --add --cacheinfo "100644,$(g hash-object -w --stdin <"$3"),$2"
	tip=$(g commit-tree -p "$tip" -m "$1" "$(g write-tree)")
	g update-ref refs/heads/status "$tip"
}
# edit LINE: do_madvise() with one line more where it knows what is asked for.
edit() {
	awk -v line="$1" '/^int do_madvise\(/ { inside = 1 }
		{ print }
		inside && /start = untagged_addr\(start\);/ { print line; inside = 0 }' "$work/plain" >"$work/edited"
}
g show "$tip:mm/madvise.c" >"$work/plain"
good=$tip
echo 'A page about madvise.' >"$work/page"
commit 'docs: a page' Documentation/mm/madvise-page.rst "$work/page"
edit $'\tif (behavior == MADV_DONTNEED)\n\t\t*(volatile int *)8 = 0;'
commit 'mm/madvise: look at the caller' mm/madvise.c "$work/edited"
edit $'\tif (behaviour == MADV_DONTNEED)\n\t\treturn -EINVAL;'
commit 'mm/madvise: do not look at the caller' mm/madvise.c "$work/edited"
commit 'mm/madvise: build again' mm/madvise.c "$work/plain"
edit $'\tBUG_ON(behavior == MADV_DONTNEED && len_in > PAGE_SIZE);'
commit 'mm/madvise: check the length' mm/madvise.c "$work/edited"
culprit=$tip
echo 'A page about madvise, with more on it.' >"$work/page"
commit 'docs: more on the page' Documentation/mm/madvise-page.rst "$work/page"

unset GIT_INDEX_FILE
"$O/bin/mmbisect" bisect --repo "$repo" --good "$good" --bad "$tip" --workload thread-stack --metric status --state "$state" --quiet \
	--json >"$work/out.json" 2>"$work/err"
ok 'a search for a crash of real kernels ends' [ $? = 0 ]
ok 'it names the commit' is "$(field d.culprit)" "$culprit"
ok 'by the title of its crash' [ "$(field '/kernel BUG at mm.madvise.c/.test(d.failure.title)')" = true ]
ok 'which the console quotes' [ "$(field '/kernel BUG at mm.madvise.c:[0-9]+!/.test(d.failure.console)')" = true ]
ok 'its parent is well, and it is with the commit reverted' is "$(field 'd.verify.filter((r) => r.row !== "series-end").map((r) => r.row + " " + r.status).join(", ")')" \
	'parent ok, culprit crashed, fixed none, reverted ok'
ok 'nothing else was taken for it' [ "$(field 'd.steps.every((s) => s.side !== "bad" || /kernel BUG/.test(s.note))')" = true ]
echo "# $(field 'd.failure.title'); $(field 'd.cost.builds') builds, $(field 'd.cost.boots') boots, $(field 'd.cost.seconds.toFixed(0)') s"
echo "# others: $(field 'd.failure.others.map((o) => o.status + ": " + o.title).join("; ")')"
done_testing
