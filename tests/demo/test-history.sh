#!/bin/sh
# The demo history: made from a seed, the same everywhere, and what it says about itself is true. Runs on a small base that holds
# the files that are edited (taken from the tarball); nothing is compiled here. TAP.
#
#   test-history.sh [TARBALL]         default: /usr/src/linux-source-6.1.tar.xz; SEEDS="1 2 3" for other seeds
#
# shellcheck disable=SC2317,SC2154,SC2016     # functions are called by ok, fields() sets the variables, programs of node
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tarball=${1:-/usr/src/linux-source-6.1.tar.xz}
seeds=${SEEDS:-1 2 3 4 5 6 7 8}
if [ ! -f "$tarball" ]; then
	echo "1..0 # SKIP no $(basename "$tarball")"
	exit 0
fi
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY
GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org
export GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
number=0
failed=0

# ok TITLE COMMAND...: one TAP line; what the command said follows as a comment when it failed.
ok() {
	title=$1
	shift
	number=$((number + 1))
	if "$@" >"$top/said" 2>&1; then
		echo "ok $number - $title"
	else
		echo "not ok $number - $title"
		sed 's/^/# /' "$top/said"
		failed=1
	fi
}
not() { ! "$@"; }
# fields JSON: sets one shell variable for each of its plain fields, and some that are worked out. All are numbers, hex or words.
fields() {
	eval "$(node -e '
		const d = JSON.parse(require("fs").readFileSync(process.argv[1]));
		const out = { ...d, repair: d.commits.find(c => c.kind === "repair").oid, oids: d.commits.map(c => c.oid).sort().join(" "),
			broken: d.unbuildable_all.length, place: d.in_side_branch ? "side" : d.first_parent_position };
		for (const [k, v] of Object.entries(out))
			if (typeof v !== "object" && /^[\w\/ -]*$/.test(v))
				console.log(`${k}="${v}"`);
	' "$1")"
}

# ---- a small tarball, and make-base.sh on it

mkdir -p "$top/tree/linux" "$top/path with a space"
node --input-type=module -e '
	const E = await import(process.argv[1]);
	const files = [E.CULPRIT, E.FIX, ...E.COMPILED_EDITS].map(e => e.file)
		.concat([E.DOCUMENTS, E.ARCH_FILES, E.DRIVER_FILES, E.COMPILED_FILES].flat().map(([f]) => f));
	console.log([...new Set(["Makefile", ".gitignore", ".clang-format", ...files])].map(f => "*/" + f).join("\n"));
' "$here/edits.mjs" >"$top/wanted"
xz -dcT0 "$tarball" | tar -x -C "$top/tree/linux" --strip-components=1 --wildcards -T "$top/wanted" 2>/dev/null || true
long=$(printf 'a%.0s' $(seq 90))
mkdir -p "$top/tree/linux/$long/$long"
echo deep >"$top/tree/linux/$long/$long/$long"
echo object >"$top/tree/linux/ignored.o"
printf '/*\n!/debian/\n' >"$top/tree/linux/.gitignore"
printf 'x' >"$top/tree/linux/a \"quoted\" name"
ln -s "../$long/$long/$long/$long/target" "$top/tree/linux/link"
chmod 755 "$top/tree/linux/ignored.o"
tar -C "$top/tree" -cJf "$top/small.tar.xz" linux
repo="$top/path with a space/base.git"

ok "make-base" "$here/make-base.sh" "$repo" "$top/small.tar.xz"
git init -q "$top/tree/linux"
git -C "$top/tree/linux" add -f -A .
git -C "$top/tree/linux" commit -q -m by-hand
first=$(git -C "$repo" rev-list --max-parents=0 base)
ok "the first commit is the tree that git add -f makes" \
	test "$(git -C "$repo" rev-parse "$first^{tree}")" = "$(git -C "$top/tree/linux" rev-parse 'HEAD^{tree}')"
ok "the second takes three lines out of one file" \
	test "$(git -C "$repo" diff --numstat "$first" base | tr '\t' ' ')" = "0 3 mm/huge_memory.c"
tip=$(git -C "$repo" rev-parse base)
stamp=$(stat -c %i "$repo")
ok "make-base again" "$here/make-base.sh" "$repo" "$top/small.tar.xz"
ok "... did nothing" test "$(stat -c %i "$repo")" = "$stamp"
rm -rf "$repo"
"$here/make-base.sh" "$repo" "$top/small.tar.xz"
ok "made anew, the ids are the same" test "$(git -C "$repo" rev-parse base)" = "$tip"
head -c 100000 "$top/small.tar.xz" >"$top/short.tar.xz"
ok "a tarball cut short is an error" not "$here/make-base.sh" "$top/short.git" "$top/short.tar.xz"
ok "... and leaves nothing" test ! -e "$top/short.git" -a ! -e "$top/short.git.new"
mkdir "$top/foreign"
ok "a folder that somebody else made is left alone" not "$here/make-base.sh" "$top/foreign" "$top/small.tar.xz"
ok "git fsck" git -C "$repo" fsck --strict --no-dangling

# ---- histories

make_history() { node "$here/make-history.mjs" --repo "$repo" "$@"; }
g() { git -C "$repo" "$@"; }

wrong() {
	echo "wrong: $*"
	return 1
}

check_history() { # everything a history promises; its fields are set
	[ "$(g rev-parse demo-good demo-bad demo-fix | tr '\n' ' ')" = "$good $bad $fix " ] || wrong refs || return
	[ "$(g rev-list "base..$bad" | sort | paste -sd ' ')" = "$oids" ] || wrong commits || return
	[ "$(g rev-list --count "base..$bad")" = 40 ] || wrong number of commits || return
	[ "$(g rev-list --merges "base..$bad")" = "$merge" ] || wrong merges || return
	[ "$(g rev-parse "$culprit^")" = "$parent" ] || wrong parent || return
	[ "$(g rev-parse "$repair^")" = "$unbuildable" ] || wrong repair || return
	g merge-base --is-ancestor "$good" "$bad" || wrong good is no ancestor of bad || return
	g rev-list "$good..$bad" | grep -q "$culprit" || wrong culprit not in good..bad || return
	g rev-list --first-parent "$good..$bad" | grep -q "$unbuildable" || wrong unbuildable not in good..bad || return
	! g merge-base --is-ancestor "$fix" "$bad" || wrong the fix is in the tip || return
	g show -s --format=%B "$fix" | grep -qFx "Fixes: $(echo "$culprit" | cut -c1-12) (\"$(g show -s --format=%s "$culprit")\")" ||
		wrong Fixes: || return

	# The unbuildable one is not next to the culprit or, when that came by the merge, to the merge.
	enters=$culprit
	[ "$in_side_branch" = false ] || enters=$merge
	[ "$(g rev-parse "$enters^")" != "$unbuildable" ] || wrong unbuildable before the culprit || return
	[ "$(g rev-parse "$unbuildable^")" != "$enters" ] || wrong unbuildable after the culprit || return

	# Nothing else touches the lines of culprit and fix.
	w checkout -qf "$bad" || return
	w revert -n "$culprit" || wrong revert || return
	[ "$(w diff --cached --numstat "$bad" | tr '\t' ' ')" = "0 3 mm/mmap.c" ] || wrong what the revert did || return
	w reset -q --hard "$culprit" || return
	w cherry-pick "$fix" || wrong cherry-pick || return
	[ "$(w diff --numstat "$culprit" HEAD | tr '\t' ' ')" = "3 0 mm/huge_memory.c" ] || wrong what the cherry-pick did || return

	# Names: one in UTF-8, one in Latin-1 with its header, one that is no UTF-8 and says nothing. Dates differ, but in the merge.
	g rev-list "base..$bad" | g cat-file --batch >"$top/raw"
	LC_ALL=C grep -qa "^author Bj$(printf '\303\266')rn" "$top/raw" || wrong UTF-8 name || return
	[ "$(LC_ALL=C grep -ca '^encoding ISO-8859-1$' "$top/raw")" = 1 ] || wrong encoding header || return
	[ "$(LC_ALL=C grep -ca "^author [A-Z][a-z]*$(printf '\351') " "$top/raw")" = 2 ] || wrong bytes that are no UTF-8 || return
	[ "$(g log --no-merges --format='%at %ct' "base..$bad" | awk '$1 == $2' | wc -l)" = 0 ] || wrong dates || return
}

git clone -q --shared -b base "$repo" "$top/work"
w() { git -C "$top/work" "$@"; }
positions=
for seed in $seeds; do
	make_history --seed "$seed" --json "$top/$seed.json"
	fields "$top/$seed.json"
	ok "seed $seed" check_history
	positions="$positions$place
"
done
echo "# culprit at: $(printf '%s' "$positions" | paste -sd ' ')"
if [ -z "${SEEDS:-}" ]; then
	ok "the place of the culprit varies" test "$(printf '%s' "$positions" | sort -u | wc -l)" -ge 5
	ok "... and is inside the side branch now and then" test "$(printf '%s' "$positions" | grep -c side)" -gt 0
fi

one=${seeds%% *}
make_history --seed "$one" --json "$top/again.json"
ok "the same seed gives the same ids, after other seeds" cmp "$top/$one.json" "$top/again.json"
"$here/make-base.sh" "$top/second.git" "$top/small.tar.xz"
node "$here/make-history.mjs" --repo "$top/second.git" --seed "$one" >"$top/second.json"
ok "... and in another repository, on stdout" cmp "$top/$one.json" "$top/second.json"
fields "$top/again.json"
first_culprit=$culprit
make_history --seed "$((one + 100))" --json "$top/other.json"
fields "$top/other.json"
ok "another seed gives other ids" test "$culprit" != "$first_culprit"
make_history --seed 5 --broken-span 3 --json "$top/span.json"
fields "$top/span.json"
ok "--broken-span 3" test "$broken" = 3

# The hard history: what it says of itself, read back from git.
check_hard() {
	eval "$(node -e 'for (const [k, v] of Object.entries(JSON.parse(require("fs").readFileSync(process.argv[1])))) if (/^[0-9a-f]+$/.test(v)) console.log(`${k}=${v}`)' "$1")"
	[ "$(g rev-parse hard-good hard-bad | tr '\n' ' ')" = "$good $bad " ] || wrong refs || return
	[ "$(g rev-list --count "$good..$bad")" -ge 12 ] || wrong number of commits || return
	[ "$(g rev-parse "$culprit^")" = "$hole" ] || wrong the hole is not beside the culprit || return
	[ "$(g rev-list --first-parent --reverse "$good..$bad" | grep -nE "$culprit|$second|$revert" | cut -d: -f2 | tr '\n' ' ')" = "$culprit $second $revert " ] || wrong order || return
	g log -1 --format=%b "$revert" | grep -q "^This reverts commit $second" || wrong message of the revert || return
	[ "$(g rev-parse "$revert:mm/huge_memory.c")" = "$(g rev-parse "$second^:mm/huge_memory.c")" ] || wrong content of the revert || return
	[ "$(g rev-list --parents -1 "$octopus" | wc -w)" -ge 4 ] || wrong octopus || return
	[ -z "$(g diff --name-only "$octopus^1" "$octopus" -- mm/mmap.c mm/huge_memory.c)" ] || wrong the octopus is not neutral
}
for seed in $seeds; do
	node "$here/make-hard-history.mjs" --repo "$repo" --seed "$seed" --json "$top/hard.json"
	ok "hard history, seed $seed" check_hard "$top/hard.json"
done
node "$here/make-hard-history.mjs" --repo "$repo" --seed "$seed" >"$top/hard-again.json"
ok "the same seed, the same hard history" cmp "$top/hard.json" "$top/hard-again.json"

ok "git fsck after all" git -C "$repo" fsck --no-dangling

status_of() { want=$1; shift; "$@" && r=0 || r=$?; [ "$r" = "$want" ]; }
ok "no seed: status 2" status_of 2 node "$here/make-history.mjs" --repo "$repo"
ok "a base with the fix in it: status 2" status_of 2 node "$here/make-history.mjs" --repo "$repo" --seed 1 --base "$first"
ok "no such base: status 2" status_of 2 node "$here/make-history.mjs" --repo "$repo" --seed 1 --base nowhere
ok "no repository: status 2" status_of 2 node "$here/make-history.mjs" --repo "$top/nowhere" --seed 1
echo "1..$number"
exit "$failed"
