#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a person does wrong with mmbisect and mmbisectd: one clear line on stderr, exit 2, nothing written. Builds nothing.
# Environment: O, the build folder (default out).
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
BIN=$(realpath "${O:-out}/bin") || exit 1
CONFIGS=$(realpath configs)
T=$(mktemp -d)

cleanup() {
	[ -z "$daemon" ] || kill -KILL "$daemon" 2>/dev/null
	umount "$T/full" 2>/dev/null
	rm -rf "$T"
}
trap cleanup EXIT
# libgit2 1.5 leaks where it asks whether an unknown revision is the output of git describe
echo leak:libpcre2 >"$T/lsan"
export LSAN_OPTIONS=suppressions=$T/lsan:print_suppressions=0
export HOME=$T/home XDG_STATE_HOME=$T/xdg GIT_CONFIG_GLOBAL=/dev/null

on_failure() {
	sed 's/^/# out: /' "$T/stdout"
	sed 's/^/# err: /' "$T/stderr"
	echo "# status: $status"
}

# run PROGRAM ARGS...: keeps stdout, stderr and status.
run() {
	local program=$1
	shift
	timeout 120 "$BIN/$program" "$@" >"$T/stdout" 2>"$T/stderr" </dev/null
	status=$?
}
nothing_written() { [ ! -e "$T/state" ] && [ ! -e "$T/xdg" ] && [ ! -e "$T/home" ]; }
refused() { # PATTERN
	[ "$status" = 2 ] && [ ! -s "$T/stdout" ] && [ "$(wc -l <"$T/stderr")" = 1 ] && grep -q -- "$1" "$T/stderr"
}
# wrong TITLE PATTERN ARGS...: mmbisect says the pattern in one line, exits 2 and writes nothing.
wrong() {
	local title=$1 pattern=$2
	shift 2
	run mmbisect "$@"
	ok "$title" refused "$pattern"
	ok "$title: nothing is written" nothing_written
}

# --- a repository ---
R=$T/repo
git_ init -q "$R"
git_ -C "$R" commit -q --allow-empty -m 'no kernel'
git_ -C "$R" tag empty
touch "$R/Makefile" "$R/Kconfig"
for i in one two three; do
	echo $i >"$R/file"
	git_ -C "$R" add file Makefile Kconfig
	git_ -C "$R" commit -q -m $i
	git_ -C "$R" tag $i
done
git_ -C "$R" checkout -q --orphan alone
git_ -C "$R" commit -q --allow-empty -m alone
git_ -C "$R" checkout -q main
before=$(find "$R" -type f -exec sha256sum {} + | sort)
S=(--state "$T/state" --workload thread-stack)
B=(bisect "${S[@]}" --repo "$R")

# --- the question ---
wrong 'no repository' "no git repository at $T/nowhere" bisect "${S[@]}" --repo "$T/nowhere" --good one --bad two
wrong 'a folder that is no repository' "no git repository at $T" bisect "${S[@]}" --repo "$T" --good one --bad two
wrong 'unknown good' "unknown revision 'nosuch'" "${B[@]}" --good nosuch --bad two
wrong 'unknown bad' "unknown revision 'nosuch'" "${B[@]}" --good one --bad nosuch
wrong 'an empty revision' "unknown revision ''" "${B[@]}" --good '' --bad two
wrong 'a revision like an option' "unknown revision '--bad'" "${B[@]}" --good --bad --bad two
wrong 'a revision with a newline' 'unknown revision' "${B[@]}" --good $'one\ntwo' --bad two
wrong 'a revision of strange bytes' 'unknown revision' "${B[@]}" --good $'\xff\x1b[31m' --bad two
wrong 'good and bad swapped' 'is not older than bad .*swapped' "${B[@]}" --good two --bad one
wrong 'good and bad without a common history' 'have no common history' "${B[@]}" --good alone --bad three
wrong 'a commit that is no kernel' 'is no kernel' "${B[@]}" --good empty --bad two
wrong 'run of a commit that is no kernel' 'is no kernel' run "${S[@]}" --repo "$R" empty
wrong 'good is bad' 'the same commit' "${B[@]}" --good one --bad one
wrong 'good is bad by another name' 'the same commit' "${B[@]}" --good three --bad HEAD
wrong 'unknown workload' "unknown workload 'nosuch' (known: .*thread-stack" \
	bisect --state "$T/state" --workload nosuch --repo "$R" --good one --bad two
wrong 'a workload that is a path' "unknown workload '../machines/exact-x86_64'" \
	bisect --state "$T/state" --workload ../machines/exact-x86_64 --repo "$R" --good one --bad two
wrong 'unknown arch' "unknown arch 'vax' (known: .*x86_64" "${B[@]}" --good one --bad two --arch vax
wrong 'unknown class' '--class takes' "${B[@]}" --good one --bad two --class fast
wrong 'bisect of all classes' '--class exact or --class time' "${B[@]}" --good one --bad two --class all
for times in 0 -1 many 1001 99999999999999999999 '' 1.5; do
	wrong "--times '$times'" '--times takes a number' "${B[@]}" --good one --bad two --times "$times"
done
for runs in 0 -1 many 1000001 ''; do
	wrong "--max-runs '$runs'" '--max-runs takes a number' "${B[@]}" --good one --bad two --max-runs "$runs"
done
wrong 'unknown option' 'unknown option --fast' "${B[@]}" --good one --bad two --fast
wrong 'unknown letter' 'unknown option -x' "${B[@]}" --good one --bad two -x
wrong 'an option of another command' 'unknown option --good' run "${S[@]}" --repo "$R" --good one one
wrong 'an argument to a flag' 'unknown option --json=yes' "${B[@]}" --good one --bad two --json=yes
wrong 'a missing argument' 'an argument is missing behind --bad' "${B[@]}" --good one --bad
wrong 'no --repo' '--repo is needed' bisect "${S[@]}" --good one --bad two
wrong 'no --workload' '--workload is needed' bisect --state "$T/state" --repo "$R" --good one --bad two
wrong 'no --good' '--good is needed' "${B[@]}" --bad two
wrong 'no --bad' '--bad is needed' "${B[@]}" --good one
wrong 'something behind the options' "what is 'extra'" "${B[@]}" --good one --bad two extra
wrong 'unknown command' "unknown command 'frobnicate'" frobnicate
wrong 'compare of one revision' 'two revisions or more' compare "${S[@]}" --repo "$R" one
wrong 'compare of none' 'two revisions or more' compare "${S[@]}" --repo "$R"
wrong 'compare of patches without a base' 'two revisions or more' \
	compare "${S[@]}" --repo "$R" --patch "$R/file" --patch "$R/file"
wrong 'compare with a patch that is not there' "$T/none.patch" compare "${S[@]}" --repo "$R" --patch "$T/none.patch" one
wrong 'compare with a folder for a patch' "$T" compare "${S[@]}" --repo "$R" --patch "$T" one
wrong 'compare of an unknown revision' "unknown revision 'nosuch'" compare "${S[@]}" --repo "$R" one nosuch
wrong 'run of two revisions' 'give one revision' run "${S[@]}" --repo "$R" one two
wrong 'run of none' 'give one revision' run "${S[@]}" --repo "$R"
wrong 'run of an unknown revision' "unknown revision 'nosuch'" run "${S[@]}" --repo "$R" nosuch
wrong 'doctor of something' "what is 'me'" doctor --state "$T/state" me
wrong 'log without a state' "there is no state at $T/state yet" log --state "$T/state"
wrong 'log of a search without a state' "there is no state at $T/state yet" log --state "$T/state" 1
wrong 'a state where nothing can be kept' 'nothing can be kept there' run --repo "$R" --workload thread-stack --state /proc/x one
wrong 'a table of one scenario' '--scenario does not go with it' simulate --table --scenario B1
run mmbisect doctor --state /nonexistent/state --configs "$CONFIGS"
ok 'doctor of a state that is not there has its disk' grep -q '^[a-z]*  *disk .*free at /' "$T/stdout"
run mmbisect --version
ok 'mmbisect --version' grep -qx 'mmbisect [0-9.]*' "$T/stdout"
run mmbisect help bisect
ok 'help of a verb' grep -q '^  --good REV ' "$T/stdout"
run mmbisect help nosuch
ok 'help of no verb' [ "$status" = 2 ]
run mmbisect known --help
ok 'known does not refer to another' grep -q '^tell the daemon that .* known' "$T/stdout"
run mmbisect simulate --help
ok 'simulate does not promise to go on' grep -q 'all bars were met' "$T/stdout"
ok 'simulate does not promise to go on, nor that anything is kept' bash -c "! grep -q 'same command' '$T/stdout'"
wrong 'log of two searches' 'give the number of one search' log --state "$T/state" 1 2
wrong 'log of no number' 'give the number of one search' log --state "$T/state" first
wrong 'export of no search' 'give the number of one search' log --state "$T/state" --export
wrong 'replay of nothing' 'give one file' replay
wrong 'replay of two files' 'give one file' replay "$R/file" "$R/file"
wrong 'replay of a file that is not there' "$T/none.json" replay "$T/none.json"
wrong 'replay of a folder' "$T" replay "$T"
wrong 'replay of a file that is no JSON' "$R/file:1: " replay "$R/file"
echo '{"class":"time","commits":[],"table":{}}' >"$T/empty.json"
wrong 'replay of a recording without commits' "$T/empty.json: recording: commits" replay "$T/empty.json"
wrong 'a word without a reason' '--reason is needed' known --state "$T/state" 1
wrong 'a word on nothing' 'give one finding' accept --state "$T/state" --reason x
wrong '--reason in another command' 'unknown option --reason' doctor --reason x
wrong 'no such configs' "$T/noconfigs" "${B[@]}" --good one --bad two --configs "$T/noconfigs"

# --- the host ---
mkdir "$T/path"
for tool in git make ld.lld qemu-system-x86_64 qemu-system-aarch64; do
	where=$(command -v $tool) && ln -s "$where" "$T/path/$tool"
done
without() { # TITLE PATTERN
	env PATH="$T/path" "$BIN/mmbisect" "${B[@]}" --good one --bad two >"$T/stdout" 2>"$T/stderr"
	status=$?
	ok "$1" refused "$2"
	ok "$1: nothing is written" nothing_written
}
without 'no clang' 'clang: program not found'
ln -s "$(type -P true)" "$T/path/clang"
rm -f "$T/path/ld.lld"
without 'no ld.lld' 'ld.lld: program not found'
rm -f "$T/path/qemu-system-x86_64"
without 'no qemu' 'qemu-system-x86_64: program not found'
mkdir "$T/full"
if mount -t tmpfs -o size=1m tmpfs "$T/full" 2>/dev/null; then
	run mmbisect bisect --workload thread-stack --repo "$R" --good one --bad two --state "$T/full/state"
	ok 'a full disk' refused "the disk of $T/full/state is full: . MiB free"
	ok 'a full disk: nothing is written' [ ! -e "$T/full/state" ]
	umount "$T/full"
else
	skip 'a full disk needs a mount'
fi
echo data >"$T/plain"
run mmbisect bisect --workload thread-stack --repo "$R" --good one --bad two --state "$T/plain"
ok 'a state folder that is a file' refused "$T/plain"

# --- configs ---
cp -r "$CONFIGS" "$T/configs"
chmod -R u+w "$T/configs"
C=("${B[@]}" --good one --bad two --configs "$T/configs")
W=$T/configs/workloads/thread-stack.conf
line=$(grep -n '^driver = ' "$W" | cut -d: -f1)
typo() { # TITLE FILE SED PATTERN
	cp "$2" "$T/saved"
	sed -i "$3" "$2"
	wrong "$1" "$4" "${C[@]}"
	cp "$T/saved" "$2"
}
typo 'a key with a typo in a workload' "$W" 's/^driver = /dirver = /' "$W:$line: unknown key 'dirver' in \[workload\]"
typo 'a section with a typo' "$W" 's/^\[floor\]/[flor]/' "$W:[0-9]*: unknown section \[flor\]"
typo 'a number with a typo' "$W" 's/^limit_seconds = .*/limit_seconds = 12O/' "$W:[0-9]*: 'limit_seconds' is no whole number"
typo 'a floor with a typo' "$W" 's/^default = .*/default = 0.oo5/' "$W:[0-9]*: .*0.oo5"
typo 'a missing key' "$W" '/^driver = /d' "$W: .*driver"
typo 'a machine with a typo' "$T/configs/machines/exact-x86_64.conf" 's/^vcpus = /vcpu = /' \
	"exact-x86_64.conf:[0-9]*: unknown key 'vcpu'"
typo 'an exact machine of two processors' "$T/configs/machines/exact-x86_64.conf" 's/^vcpus = .*/vcpus = 2/' \
	'exact-x86_64.conf.*one vcpu'

# --- the service ---
D=$T/mmbisect.conf
service() { # LINES: with a good [daemon] in front
	printf '%s\n' '[daemon]' "state = $T/state" "configs = $T/configs" "$@" >"$D"
}
tree=('[tree t]' "url = $R" 'branches = refs/heads/nosuch' 'workloads = thread-stack' 'arches = x86_64' 'poll_seconds = 3600')
badservice() { # TITLE PATTERN
	run mmbisectd --config "$D"
	ok "$1" refused "$2"
	ok "$1: nothing is written" nothing_written
}
service "${tree[@]}" 'poll_secs = 3'
badservice 'a key with a typo' "$D:10: unknown key 'poll_secs' in \[tree t\]"
service "${tree[@]}" '[mial]' 'to = x@y'
badservice 'a section with a typo' "$D:11: unknown section \[mial\]"
service "${tree[@]}" 'nonsense'
badservice 'a garbage line' "$D:10: no 'key = value'"
service "${tree[@]:0:5}" 'poll_seconds = soon'
badservice 'a bad number' "$D:9: 'poll_seconds' is no whole number: soon"
service "${tree[@]}" 'url = again'
badservice 'a doubled key' "$D:10: key 'url' given twice"
service '[tree ../x]' "url = $R"
badservice 'a tree with a name of dots' "$D:5: a tree's name has letters"
service "${tree[@]:0:2}" 'branches = master' "${tree[@]:3}"
badservice 'a short branch name' 'branches are full names'
service
badservice 'nothing to watch' 'nothing to watch'
service "${tree[@]:0:3}" 'workloads = nosuch' "${tree[@]:4}"
badservice 'an unknown workload' "\[tree t\]: unknown workload 'nosuch'"
service "${tree[@]:0:4}" 'arches = vax' 'poll_seconds = 5'
badservice 'an unknown arch' "\[tree t\]: unknown arch 'vax'"
service "${tree[@]}" '[mail]' 'server = smtp://localhost'
badservice 'mail to nobody' '\[mail\] needs from and to'
rm "$D"
badservice 'no config file' "$D"
run mmbisectd
ok 'mmbisectd without a config' refused '--config'
run mmbisectd --frob
ok 'mmbisectd with an unknown option' refused 'frob'
run mmbisectd --config "$D" extra
ok 'mmbisectd with something behind' refused 'extra\|--config'

# --- two of them on one state ---
service "${tree[@]}"
"$BIN/mmbisectd" --config "$D" >"$T/d.out" 2>"$T/d.err" </dev/null &
daemon=$!
for ((i = 0; i < 600; i++)); do
	grep -q 'watching tree t' "$T/d.err" && break
	kill -0 $daemon 2>/dev/null || break
	sleep 0.1
done
status=running
cp "$T/d.out" "$T/stdout"
cp "$T/d.err" "$T/stderr"
ok 'a daemon runs' kill -0 $daemon
run mmbisectd --config "$D"
ok 'a second daemon on the same database' refused 'in use by another mmbisect'
run mmbisect "${B[@]}" --good one --bad two
ok 'a one-shot command on the same database' refused 'in use by another mmbisect'
run mmbisect doctor --state "$T/state"
ok 'doctor may look beside it' [ "$status" -le 1 ]
kill -TERM $daemon
wait $daemon
status=$?
cp "$T/d.err" "$T/stderr"
ok 'SIGTERM ends the daemon with 0' [ $status = 0 ]
rm -rf "$T/state"

# --- on paper ---
culprit=f35b5d7d676e59e401690b678cd3cfec5e785c23
for recording in tests/daemon/data/*.json; do
	run mmbisect replay --json "$recording"
	ok "$recording: the culprit that it had" node -e '
		const d = JSON.parse(require("fs").readFileSync(process.argv[1]));
		process.exit(d.verdict === "culprit" && d.culprit === process.argv[2] && d.decisions.every((x) => x.reason) ? 0 : 1)' \
		"$T/stdout" $culprit
	cp "$T/stdout" "$T/first"
	run mmbisect replay --json "$recording"
	ok "$recording: the same again" cmp -s "$T/stdout" "$T/first"
	run mmbisect replay "$recording"
	ok "$recording: in words" grep -q "100.0 %  ${culprit:0:12}  mm: align" "$T/stdout"
	ok "$recording: nothing is written" nothing_written
done
sed '/"9d0d94684007[^"]*": {"mean"/d' tests/daemon/data/perf-bisect-6.1-noisy.json >"$T/gap.json"
run mmbisect replay "$T/gap.json"
ok 'a recording with a gap: no answer' [ "$status" = 1 ]
ok 'a recording with a gap: what was decided until then' grep -q 'the ends first' "$T/stdout"
ok 'a recording with a gap: which it is' grep -q 'asks for 9d0d946840075e0268f4f77fe39ba0f53e84c7c4' "$T/stderr"

# --- help and JSON ---
for verb in '' bisect compare run log replay accept known wrong doctor; do
	run mmbisect $verb --help
	ok "mmbisect $verb --help" [ "$status" = 0 -a -s "$T/stdout" -a ! -s "$T/stderr" ]
done
run mmbisect help
ok 'mmbisect help' [ "$status" = 0 -a -s "$T/stdout" -a ! -s "$T/stderr" ]
run mmbisectd --help
ok 'mmbisectd --help' [ "$status" = 0 -a -s "$T/stdout" -a ! -s "$T/stderr" ]
run mmbisect
ok 'mmbisect alone says how' [ "$status" = 2 ]
run mmbisect doctor --json --state "$T/state"
ok 'doctor --json prints one document' node -e '
	const d = JSON.parse(require("fs").readFileSync(process.argv[1]));
	process.exit(d.kind === "doctor" && d.checks.length > 5 ? 0 : 1)' "$T/stdout"
ok 'doctor answers 0 or 1' [ "$status" -le 1 ]
ok 'doctor writes nothing' nothing_written
run mmbisect "${B[@]}" --good nosuch --bad two --json
ok '--json and an error: nothing on stdout' refused "unknown revision 'nosuch'"
if [ -e /dev/full ]; then
	"$BIN/mmbisect" doctor --json --state "$T/state" >/dev/full 2>"$T/stderr"
	status=$?
	: >"$T/stdout"
	ok 'a document that cannot be written is told' [ $status = 3 -a "$(wc -l <"$T/stderr")" = 1 ]
fi
ok "the person's repository is as it was" [ "$before" = "$(find "$R" -type f -exec sha256sum {} + | sort)" ]

done_testing
