#!/bin/sh
# Makes a bare git repository from a Debian kernel source tarball: one commit with every file of the tarball and, where
# mm/huge_memory.c has it, a second one that takes the early return out of deferred_split_huge_page(). Branch: base.
#
#   make-base.sh DIR [TARBALL]        default: /usr/src/linux-source-6.1.tar.xz
#
# Nothing is done when DIR was made from the same tarball already. DIR appears only when complete (made as DIR.new, renamed). Authors
# and dates are fixed: the same tarball gives the same object ids on every machine.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 1 ] || [ $# -gt 2 ] || [ -z "$1" ]; then
	echo "usage: make-base.sh DIR [TARBALL]" >&2
	exit 2
fi
dir=${1%/}
tarball=${2:-/usr/src/linux-source-6.1.tar.xz}
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY

die() {
	echo "make-base: $*" >&2
	exit "${status:-1}"
}

[ -f "$tarball" ] || status=2 die "no tarball: $tarball (Debian package $(basename "$tarball" .tar.xz))"
for tool in git node xz flock; do
	command -v "$tool" >/dev/null || status=2 die "program not found: $tool"
done

# What DIR is made from. The importer counts too: a change of it may change the ids.
mark="$(basename "$tarball") $(stat -Lc %s "$tarball") $(cksum <"$here/tar-to-fast-import.mjs" | cut -d' ' -f1)"

mkdir -p "$(dirname "$dir")"
exec 9>"$dir.lock"
if ! flock -n 9; then
	echo "make-base: another one is at work on $dir, waiting" >&2
	flock 9
fi

if [ -e "$dir" ]; then
	have=$(git --git-dir="$dir" config --get demo.madefrom 2>/dev/null) || die "$dir exists and was not made by this program"
	if [ "$have" = "$mark" ]; then
		exit 0
	fi
	echo "make-base: $dir is from another tarball ($have), making it again" >&2
fi

rm -rf "$dir.new" "$dir.old"
trap 'rm -rf "$dir.new"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

git init --quiet --bare --initial-branch=base "$dir.new"
g() { git --git-dir="$dir.new" "$@"; }
g config demo.madefrom "$mark"
g config gc.auto 0                # a repack in the middle of a demo helps nobody
g config core.compression 1       # most of the time goes into zlib
g config pack.compression 1
# The importer ends its stream with "done": without it, fast-import fails, so that a broken tarball cannot go unseen.
xz -dcT0 -- "$tarball" |
	node "$here/tar-to-fast-import.mjs" --counts "$dir.new/counts.json" |
	g fast-import --quiet --done --depth=0 ||
	die "the import of $tarball failed"

want=$(sed 's/.*"files":\([0-9]*\),"symlinks":\([0-9]*\).*/\1 \2/' "$dir.new/counts.json")
for commit in $(g rev-list base); do
	got=$(g ls-tree -r "$commit" | awk '$1 == "120000" { l++; next } $2 == "blob" { f++ } END { print f + 0, l + 0 }')
	[ "$got" = "$want" ] || die "commit $commit holds \"$got\" files and symlinks, the tarball \"$want\""
done

if [ -e "$dir" ]; then
	mv "$dir" "$dir.old"
fi
mv "$dir.new" "$dir"
rm -rf "$dir.old"
