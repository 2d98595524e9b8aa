# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Whole searches without kernels; to be sourced after tap.sh. Sets up $T (with bin/, guest/ and configs/) and $R, a repository that is no
# kernel. Its workers are stand-ins: a build that copies the level that the tree holds, and a run that adds noise to it on machines of
# class time. The noise is a function of image and run, so that a search that is killed must do what one does that is left alone.
# A level "1.03/1.0" is 1.03 as the tree links itself, and 1.0 in other layouts; $T/noise has another spread of a run than 0.06.
# Where a folder $T/running is, a run takes a while and notes in $T/at-once how many there are.
BIN=$(realpath "${O:-out}/bin") || exit 1
T=$(mktemp -d)
child=

cleanup() {
	[ -z "$child" ] || kill -KILL "$child" 2>/dev/null
	rm -rf "$T"
}
trap cleanup EXIT
export HOME=$T/home GIT_CONFIG_GLOBAL=/dev/null

on_failure() { tail -n 15 "$T/err" | sed 's/^/# /'; }
sql() { sqlite3 -readonly "$T/$1/mmbisect.db" "$2"; }
# field FILE EXPRESSION-OF-d: a value of a JSON document.
field() {
	node -e 'const d = JSON.parse(require("fs").readFileSync(process.argv[1])); console.log(eval(process.argv[2]))' "$1" "$2"
}
is() { [ "$1" = "$2" ] || { echo "# got '$1', want '$2'" && false; }; }
has() { grep -q -- "$2" "$1" || { sed 's/^/# /' "$1" && false; }; }

# --- programs and definitions ---
mkdir -p "$T/bin" "$T/guest/x86_64"
cp "$BIN/mmbisect" "$T/bin/"
echo guest >"$T/guest/x86_64/initramfs.cpio"
cp -r configs "$T/configs"
chmod -R u+w "$T/configs"
sed -i 's/^accel = .*/accel = tcg/' "$T/configs/machines/time-x86_64.conf"
cat >"$T/bin/mmbisect-build" <<'SH'
#!/bin/bash
job=$(cat)
get() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" <<<"$job"; }
level=$(git --git-dir "$(get repo)" show "$(get commit):level") || exit 1
tree=$(git --git-dir "$(get repo)" rev-parse "$(get commit)^{tree}") || exit 1
if [ "$level" = broken ]; then
	echo '{"result":{"status":"build-failed","error":"level:1:1: error: broken","seconds":3}}'
	exit
fi
# "1.03/1.0": 1.0 in all layouts but the first; layout n "broken" where a file says so. One layout of a level with none is like the other.
layout=$(sed -n 's/.*"layout": *\([0-9]*\).*/\1/p' <<<"$job")
[ "${layout:-0}" = 0 ] || level=${level#*/}
level=${level%/*}
if git --git-dir "$(get repo)" cat-file -e "$(get commit):broken-layout-${layout:-0}" 2>/dev/null; then
	echo '{"result":{"status":"build-failed","error":"ld.lld: error: broken","seconds":1}}'
	exit
fi
sig=$(printf '%s%s' "$tree" "${layout#0}" | sha256sum | cut -d' ' -f1)
mkdir -p "$(get out)" && echo "$level $sig" >"$(get out)/kernel"
printf '{"result":{"status":"ok","signature":"%s","kernel":"%s/kernel","config_hash":"%s","toolchain":"t","unknown_options":[],"seconds":9,"cached":false}}\n' \
	"$sig" "$(get out)" "$sig"
SH
cat >"$T/bin/mmbisect-run" <<'SH'
#!/bin/bash
job=$(cat)
top=$(dirname "$0")/..
salt=
if [ -d "$top/running" ]; then # those at once find the same number of runs in the database
	touch "$top/running/$$"
	ls "$top/running" | wc -l >>"$top/at-once"
	sleep 0.1
	rm -f "$top/running/$$"
	salt=$(sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' <<<"$job")
fi
get() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" <<<"$job"; }
kernel=$(get kernel)
read -r level sig <"$kernel"
[[ $job == *'"class":"time"'* ]] && class=time || class=exact
if [ "$level" = panic ]; then
	echo '{"result":{"status":"crashed","title":"Kernel panic - not syncing","error":null,"samples":[],"seconds":1,"boot_seconds":1}}'
	exit
fi
db=$(dirname "$kernel")/../../mmbisect.db
k=$(sqlite3 -readonly "$db" "SELECT count(*) FROM run WHERE signature = '$sig'") || exit 1
hash=$(printf '%s %s%s' "$sig" "$k" "${salt:+ $salt}" | sha256sum)
[ $class = time ] || hash=80000000800000008000000080000000
noise=$(cat "$top/noise" 2>/dev/null)
value=$(awk -v noise="${noise:-0.06}" -v a="$((16#${hash:0:8}))" -v b="$((16#${hash:8:8}))" -v level="$level" \
	'BEGIN { printf "%.6f", level * (1 + noise * sqrt(-2 * log((a + 1) / 4294967297)) * cos(6.2831853 * b / 4294967296)) }')
[ $class = time ] || value=$level
printf '{"result":{"status":"ok","title":null,"error":null,"samples":[{"metric":"madvise_call","value":%s,"unit":"ns","better":"lower","class":"%s"},{"metric":"sys","value":%s,"unit":"s","better":"lower","class":"%s"}],"seconds":3,"boot_seconds":1}}\n' \
	"$value" "$class" "$value" "$class"
SH
chmod +x "$T"/bin/*

R=$T/repo
git_() { git -C "$R" -c user.name=T -c user.email=t@example.org "$@"; }
mkdir "$R"
git_ init -q -b main
touch "$R/Makefile" "$R/Kconfig" # what has none is refused as no kernel
oid() { git -C "$R" rev-parse "$1"; }
# level NAME LEVEL: a commit of this level, with a tag.
level() {
	echo "$2" >"$R/level"
	echo "commit $1" >"$R/text-$1"
	git_ add -A
	git_ commit -q -m "commit $1"
	git_ tag "$1"
}

# bisect STATE GOOD BAD OPTIONS...: to the end; $status, $T/out, $T/err.
bisect() {
	local state=$1 good=$2 bad=$3
	shift 3
	timeout 300 "$T/bin/mmbisect" bisect --repo "$R" --good "$good" --bad "$bad" --workload thread-stack \
		--state "$T/$state" --configs "$T/configs" --quiet "$@" >"$T/out" 2>"$T/err" </dev/null
	# shellcheck disable=SC2034 # for those who ask
	status=$?
}
