#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Mailed patches in every shape that git itself takes (real-cases.md C-51 to C-62): each must give the tree that git makes of
# the commits it came from. Runs the test program test-patch-apply (tests/daemon/test-patch-apply.c) on each.
# Environment: O, the build folder (default out).
set -u
cd "$(dirname "$0")/../.." || exit 1
APPLY=$(realpath "${O:-out}/tests/daemon/test-patch-apply") || exit 1
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null HOME=$T
n=0 failed=0

git_() { git -c user.name='José T' -c user.email=t@example.org -c init.defaultBranch=main "$@"; }
R="$T/a repo"
git_ init -q "$R"
cd "$R" || exit 1
mkdir mm
seq 1 60 | sed 's/$/\tline/' >mm/mmap.c
sed -i '30s/.*//' mm/mmap.c
git_ add -f . && git_ commit -q -m base && git tag base
sed -i '20s/.*/\ttwenty = é;/' mm/mmap.c && git_ commit -q -am 'mm: change twenty — naïvely'
sed -i '33s/.*/\tthirty-three/' mm/mmap.c && git_ commit -q -am 'mm: change 33'
echo new >'mm/new file.c' && git_ add -f . && git_ commit -q -m 'mm: add a file' && git tag tip
one=$(git rev-parse 'tip~2^{tree}') all=$(git rev-parse 'tip^{tree}')

P=$T/patches
mkdir "$P"
git_ format-patch -q -1 --stdout tip~2 >"$P/plain"
git_ format-patch -q --stdout base..tip >"$P/series"
git_ format-patch -q --stdout --cover-letter base..tip >"$P/cover"
git_ format-patch -q --stdout --cover-letter -1 tip~2 | sed '/^-- $/q' >"$P/cover-only"
git_ format-patch -q --attach -1 --stdout tip~2 >"$P/attached"
git_ diff base tip~2 >"$P/raw"
git_ diff --no-prefix base tip~2 | sed -n '/^--- /,$p' | sed 's|^--- |&a/|; s|^+++ |&b/|' >"$P/raw-bare"
sed '1d' "$P/plain" >"$P/saved" # as a mail program saves it: no "From " line
{ printf 'Return-Path: <x@y>\nReceived: from z\n'; cat "$P/saved"; } >"$P/received"
sed 's/$/\r/' "$P/plain" >"$P/crlf"
sed 's/$/\r/' "$P/saved" >"$P/crlf-saved"
encode() { # MAIL ENCODING: the body in another transfer encoding
	sed '/^$/q' "$1" | sed '/^Content-Transfer-Encoding:/d; $d'
	printf 'Content-Transfer-Encoding: %s\n\n' "${2%-crlf}"
	sed '1,/^$/d' "$1" | case $2 in
	base64) base64 ;;
	base64-crlf) sed 's/$/\r/' | base64 ;;
	quoted-printable) perl -MMIME::QuotedPrint -0777 -ne 'print encode_qp($_)' ;;
	esac
}
encode "$P/plain" base64 >"$P/base64"
encode "$P/plain" base64-crlf >"$P/base64-crlf"
encode "$P/plain" quoted-printable >"$P/qp"
sed 's/^ $//' "$P/plain" >"$P/stripped" # a mailer that takes the blank of empty context lines
awk '1; /^---$/ && !done { print "v2: said so\n---\nv1: first"; done = 1 }' "$P/plain" >"$P/dashes"
{ sed '/^$/q' "$P/plain"; printf 'From: Somebody Else <e@f>\nSubject: another\n\n'; sed '1,/^$/d' "$P/plain"; } >"$P/inbody"
sed 's/twenty/Twenty/; s/^-20/-21/' "$P/plain" >"$P/conflict"
sed 's/\t/    /' "$P/plain" >"$P/blanks"
sed '/^@@/,$d' "$P/plain" >"$P/cut"
printf 'Dear all,\nthis is no patch.\n' >"$P/letter"
: >"$P/empty"
head -c 3000 /dev/urandom >"$P/noise"
sed 's|mm/mmap.c|../../escape.c|g' "$P/raw" >"$P/escape"

# gives NAME TREE: the commit has that tree, and is the same when asked again.
gives() {
	local got again
	n=$((n + 1))
	got=$("$APPLY" "$T/mirror.git" "$R" "$P/$1" base 2>"$T/err")
	again=$("$APPLY" "$T/mirror.git" "$R" "$P/$1" base 2>/dev/null)
	if [ -n "$got" ] && [ "$got" = "$again" ] && [ "${got#* }" = "$2" ]; then
		echo "ok $n - $1 applies"
	else
		failed=$((failed + 1))
		echo "not ok $n - $1 applies"
		echo "# got '$got' and '$again', want tree $2"
		sed 's/^/# /' "$T/err"
	fi
}
# refuses NAME PATTERN
refuses() {
	local got
	n=$((n + 1))
	got=$("$APPLY" "$T/mirror.git" "$R" "$P/$1" base 2>"$T/err")
	if [ -z "$got" ] && [ "$(wc -l <"$T/err")" = 1 ] && grep -q -- "$2" "$T/err"; then
		echo "ok $n - $1 is refused: $2"
	else
		failed=$((failed + 1))
		echo "not ok $n - $1 is refused: $2"
		echo "# got '$got'"
		sed 's/^/# /' "$T/err"
	fi
}

before=$(find "$R" -type f -exec sha256sum {} + | sort)
for p in plain attached raw raw-bare saved received crlf crlf-saved base64 base64-crlf qp stripped dashes inbody; do
	gives $p "$one"
done
for p in series cover; do gives $p "$all"; done
refuses conflict '^-EDOM .*mm/mmap.c'
refuses blanks '^-EDOM .*mm/mmap.c'
refuses cover-only '^-EDOM .*holds no patch'
refuses letter '^-EDOM '
refuses empty '^-EDOM '
refuses noise '^-EDOM '
refuses cut '^-EDOM '
refuses escape '^-EDOM '
refuses absent 'No such file'
n=$((n + 1))
if [ ! -e "$T/escape.c" ] && [ ! -e "$T/../escape.c" ] && [ "$before" = "$(find "$R" -type f -exec sha256sum {} + | sort)" ]; then
	echo "ok $n - nothing is written but to the mirror"
else
	failed=$((failed + 1))
	echo "not ok $n - nothing is written but to the mirror"
fi

echo "1..$n"
[ $failed = 0 ]
