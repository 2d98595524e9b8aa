#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Searches for a failure: mmbisect bisect --metric status and mmbisectd on a small repository that is no kernel. Its workers are
# stand-ins: how a commit builds and ends is what its tree says, by a function of image and run, so that a search that is killed again
# and again must do what one does that is left alone.
# Environment: O, the build folder (default out); KILLS, how often one is killed (default 5); SEED of the instants.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
BIN=$(realpath "${O:-out}/bin") || exit 1
T=$(mktemp -d)
child=
SEED=${SEED:-$RANDOM}
RANDOM=$SEED
echo "# seed $SEED"

cleanup() {
	[ -z "$child" ] || kill -KILL "$child" 2>/dev/null
	[ -z "$daemon" ] || kill -KILL "$daemon" 2>/dev/null
	rm -rf "$T"
}
trap cleanup EXIT
export HOME=$T/home GIT_CONFIG_GLOBAL=/dev/null

on_failure() { tail -n 15 "$T/err" | sed 's/^/# /'; }
sql() { sqlite3 -readonly -cmd '.timeout 2000' "$T/$1/mmbisect.db" "$2" 2>/dev/null; }
# field FILE EXPRESSION-OF-d: a value of a JSON document.
field() {
	node -e 'const d = JSON.parse(require("fs").readFileSync(process.argv[1])); console.log(eval(process.argv[2]))' "$1" "$2"
}
is() { [ "$1" = "$2" ] || { echo "# got '$1', want '$2'" && false; }; }
has() { grep -q -- "$2" "$1" || { sed 's/^/# /' "$1" && false; }; }
hasnt() { ! grep -q -- "$2" "$1"; }

# --- programs and definitions ---
mkdir -p "$T/bin" "$T/guest/x86_64"
cp "$BIN/mmbisect" "$BIN/mmbisectd" "$T/bin/"
echo guest >"$T/guest/x86_64/initramfs.cpio"
cp -r configs "$T/configs"
chmod -R u+w "$T/configs"
sed -i 's/^accel = .*/accel = tcg/' "$T/configs/machines/time-x86_64.conf"
# how: "ok"; "broken LINE TEXT" does not build; "STATUS SHARE TITLE" ends so in SHARE % of its runs. Another line: what it builds like.
cat >"$T/bin/mmbisect-build" <<'SH'
#!/bin/bash
job=$(cat)
get() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" <<<"$job"; }
how=$(git --git-dir "$(get repo)" show "$(get commit):how") || exit 1
tree=$(git --git-dir "$(get repo)" rev-parse "$(get commit)^{tree}") || exit 1
read -r word line text <<<"$how"
if [ "$word" = broken ]; then
	printf '  CC      mm/x.o\n/src/mm/x.c:%s:3: error: %s\n  some source\n' "$line" "$text" >"$(get log)"
	printf '{"result":{"status":"build-failed","error":"mm/x.c:%s:3: error: %s","seconds":3}}\n' "$line" "$text"
	exit
fi
sig=$(printf '%s' "$tree" | sha256sum | cut -d' ' -f1)
mkdir -p "$(get out)" && echo "$sig $how" >"$(get out)/kernel"
printf '{"result":{"status":"ok","signature":"%s","kernel":"%s/kernel","config_hash":"%s","toolchain":"t","unknown_options":[],"seconds":9,"cached":false}}\n' \
	"$sig" "$(get out)" "$sig"
SH
cat >"$T/bin/mmbisect-run" <<'SH'
#!/bin/bash
job=$(cat)
get() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" <<<"$job"; }
kernel=$(get kernel)
read -r sig status share title <"$kernel"
[[ $job == *'"class":"time"'* ]] && class=time || class=exact
db=$(dirname "$kernel")/../../mmbisect.db
k=$(sqlite3 -readonly -cmd '.timeout 2000' "$db" "SELECT count(*) FROM run WHERE signature = '$sig'") || exit 1
hash=$(printf '%s %s' "$sig" "$k" | sha256sum)
dice=$((16#${hash:0:6} % 100))
if [ "$status" != ok ] && [ "$dice" -lt "$share" ]; then
	{
		echo '[    0.000000] Linux version 6.1.0'
		for ((i = 0; i < 40; i++)); do echo "[    1.0000$i] line $i"; done
		printf '[    2.000000] %s\r\n[    2.000001] RIP: 0010:f+0x1/0x2 \x1b[31m\xff\n' "$title"
	} >"$(get console)"
	[ "$status" = timeout ] && text="\"title\":null,\"error\":\"no end within 120 s\"" || text="\"title\":\"$title\",\"error\":null"
	printf '{"result":{"status":"%s",%s,"samples":[],"seconds":1,"boot_seconds":1}}\n' "$status" "$text"
	exit
fi
[ $class = exact ] && metric=madvise_call || metric=sys
printf '{"result":{"status":"ok","title":null,"error":null,"samples":[{"metric":"%s","value":1.0,"unit":"s","better":"lower","class":"%s"}],"seconds":3,"boot_seconds":1}}\n' \
	"$metric" "$class"
SH
printf '#!/bin/bash\ncat >/dev/null\n' >"$T/bin/mmbisect-mail" # never sends: mails stay queued
chmod +x "$T"/bin/*

# --- a history ---
R=$T/repo
git_ init -q "$R"
touch "$R/Makefile" "$R/Kconfig"
# history NAME HOW...: commits on a branch of that name, tagged NAME0, NAME1, ...
history() {
	local name=$1 i=0 how
	shift
	git_ -C "$R" checkout -q --orphan "$name"
	for how; do
		echo "$how" >"$R/how"
		echo "$name $i" >"$R/text$i"
		[ "$i" -gt 0 ] || rm -f "$R"/text[1-9]*
		git_ -C "$R" add -A
		git_ -C "$R" commit -q -m "$name $i"
		git_ -C "$R" tag "$name$i"
		i=$((i + 1))
	done
}
oid() { git -C "$R" rev-parse "$1"; }
B='crashed 100 kernel BUG at mm/madvise.c:NUM!'
O='crashed 100 BUG: other one'

# bisect STATE GOOD BAD OPTIONS...: to the end; status, $T/out, $T/err.
bisect() {
	local state=$1 good=$2 bad=$3
	shift 3
	timeout 300 "$T/bin/mmbisect" bisect --repo "$R" --good "$good" --bad "$bad" --workload thread-stack --metric status \
		--state "$T/$state" --configs "$T/configs" --quiet "$@" >"$T/out" 2>"$T/err" </dev/null
	status=$?
}

# --- a crash, with another crash in between and a commit that does not build ---
history c ok ok ok "$O" ok 'broken 12 expected x' ok ok "$B" "$B" "$B" "$B"
bisect crash c0 c11 --json
ok 'a search for a crash ends' [ "$status" = 0 ]
ok 'it has the commit' is "$(field "$T/out" d.culprit)" "$(oid c8)"
ok 'what is searched' is "$(field "$T/out" '[d.metric, d.failure.status, d.failure.title, d.failure.seen, d.failure.runs].join("|")')" \
	'status|crashed|kernel BUG at mm/madvise.c:NUM!|2|2'
ok 'no change of a value' is "$(field "$T/out" d.change)" null
ok 'what the console says of it, and harmless' is \
	"$(field "$T/out" '/kernel BUG at/.test(d.failure.console) && !/[\x1b\xff]/.test(d.failure.console) && !/line 3\n/.test(d.failure.console)')" true
ok 'rows of the proof' is "$(field "$T/out" 'd.verify.filter((r) => r.row !== "series-end").map((r) => r.row + " " + r.status).join(", ")')" \
	'parent ok, culprit crashed, fixed none, reverted ok'
ok 'sides of the steps' is "$(field "$T/out" 'd.steps.every((s) => s.side === (/BUG: other|error/.test(s.note) ? "skip" : /crashed/.test(s.note) ? "bad" : "good"))')" true
ok 'few runs' [ "$(sql crash 'SELECT max(n) FROM (SELECT count(*) AS n FROM run GROUP BY signature)')" -le 2 ]
ok 'no job is left' is "$(sql crash "SELECT count(*) FROM job WHERE state IN ('queued', 'leased')")" 0
bisect crash c0 c11
ok 'the text: what' has "$T/out" 'noticed that the kernel crashes on x86_64 with the workload'
ok 'the text: the title' has "$T/out" 'kernel BUG at mm/madvise.c:NUM!'
ok 'the text: the proof' has "$T/out" '^  revert  *D: ends well'
ok 'the text: no numbers that are none' hasnt "$T/out" 'nan\|null\|went from'
ok 'asked again it costs no build and no boot' has "$T/out" '0 builds (.*), 0 boots'
cp "$T/out" "$T/crash.text"
bisect mask c0 c11 --json
ok 'next to each other' is "$(field "$T/out" d.verdict)" culprit

history s ok ok ok "$O" "$O" "$B" "$B"
bisect set s0 s6 --json
ok 'behind another crash it is a set' is "$(field "$T/out" 'd.verdict + d.candidates.length')" set3
ok 'that failure is named' is "$(field "$T/out" 'd.failure.others.map((o) => o.title + " " + o.commits).join()')" 'BUG: other one 2'

# --- a build failure: the same error on another line; no run of anything ---
history b ok ok ok 'broken 12 no x' ok ok 'broken 99 unknown y' 'broken 104 unknown y' 'broken 110 unknown y'
bisect build b0 b8 --json
ok 'a search for a failed build' is "$(field "$T/out" d.culprit)" "$(oid b6)"
ok 'its title has no line' is "$(field "$T/out" d.failure.title)" 'mm/x.c: error: unknown y'
ok 'and needs no run' is "$(sql build 'SELECT count(*) FROM run')" 0
ok 'the log of the build is quoted' is "$(field "$T/out" '/CC +mm.x.o\n.*unknown y\n/.test(d.failure.console)')" true
ok 'rows of that' is "$(field "$T/out" 'd.verify.filter((r) => r.row !== "series-end").map((r) => r.row + " " + r.status).join(", ")')" \
	'parent ok, culprit build-failed, fixed none, reverted does-not-revert'
bisect build b0 b8
ok 'the text of that' has "$T/out" 'noticed that the kernel does not build on x86_64'

# --- boot failures and time-outs ---
history t ok ok ok 'timeout 100 x' 'timeout 100 x'
bisect timeout t0 t4 --json
ok 'a time-out' is "$(field "$T/out" 'd.culprit + d.failure.status')" "$(oid t3)timeout"
history p ok ok 'boot-failed 100 Kernel panic - not syncing: VFS' 'boot-failed 100 Kernel panic - not syncing: VFS'
bisect boot p0 p3
ok 'a boot that fails' has "$T/out" 'the kernel does not boot on x86_64'
ok 'and its commit' has "$T/out" "^  commit  $(oid p2)"

# --- ends that are none ---
bisect ends c0 c2 --json
ok 'nothing fails: an answer' [ "$status" = 0 ]
ok 'nothing fails: why' is "$(field "$T/out" d.reason)" 'the bad end ends well: no failure in 2 runs'
bisect ends c9 c11 --json
ok 'the good end fails, too' is "$(field "$T/out" d.reason)" 'the good end fails in the same way (2 of 2 runs)'
bisect ends c3 c11 --json
ok 'the good end fails otherwise: no answer' [ "$status" = 1 ]
ok 'the good end fails otherwise: why' is "$(field "$T/out" d.reason)" 'the good end fails, too, in another way: nothing to compare with'

# --- one run in two, on a machine of class time, and killed ---
F='crashed 50 BUG: flaky'
history f ok ok ok 'crashed 5 BUG: stray' ok ok ok "$F" "$F" "$F" "$F" "$F"
bisect whole f0 f11 --class time --json
cp "$T/out" "$T/whole.json"
ok 'a crash of every second run' is "$(field "$T/out" d.culprit)" "$(oid f7)"
ok 'how often it comes is measured' [ "$(field "$T/out" 'd.failure.runs >= 10 && d.failure.seen >= 3 && d.failure.seen < d.failure.runs')" = true ]
ok 'and how sure it is' [ "$(field "$T/out" 'd.failure.error > 0 && d.failure.error < 0.01')" = true ]
ok 'the parent had its runs twice' [ "$(sql whole "SELECT count(*) FROM run WHERE oid = '$(oid f6)' AND status = 'ok'")" -ge "$(field "$T/out" '2 * d.failure.good_runs')" ]
ok 'rows of a flaky one' is "$(field "$T/out" 'd.verify.filter((r) => r.row !== "series-end").map((r) => r.row + " " + r.status).join(", ")')" \
	'parent ok, culprit crashed, fixed none, reverted ok'
trace='SELECT oid, status, title FROM run ORDER BY id'
log='SELECT action, phase, oid, runs, reason FROM search_log WHERE search_id = 1 ORDER BY id'
sql whole "$trace" >"$T/whole.trace"
sql whole "$log" >"$T/whole.log"
kills=0
for ((round = 0; round < 200; round++)); do
	"$T/bin/mmbisect" bisect --repo "$R" --good f0 --bad f11 --workload thread-stack --metric status --class time --state "$T/killed" \
		--configs "$T/configs" --quiet --json >"$T/out" 2>"$T/err" </dev/null &
	child=$!
	if ((kills < ${KILLS:-5})); then
		sleep "0.$((RANDOM % 9 + 1))$((RANDOM % 10))"
		kill -KILL $child 2>/dev/null && kills=$((kills + 1))
		wait $child 2>/dev/null
		[ $? = 137 ] && continue
	fi
	wait $child 2>/dev/null
	status=$?
	break
done
child=
echo "# killed $kills times"
ok 'a search that is killed again and again ends' [ "$status" = 0 ]
for what in trace log; do
	sql killed "${!what}" >"$T/killed.$what"
done
ok 'with the same runs in the same order' cmp "$T/whole.trace" "$T/killed.trace"
ok 'and the same decisions' cmp "$T/whole.log" "$T/killed.log"
bisect whole f0 f11 --class time --max-runs 30
ok 'a budget that is too small: no answer' [ "$status" = 1 ]
ok 'a budget that is too small: how many boots it needs' has "$T/out" 'would need up to'
"$T/bin/mmbisect" log --state "$T/whole" --configs "$T/configs" --export 1 >"$T/out" 2>"$T/err"
ok 'there is no recording of it' has "$T/err" 'no recording'
"$T/bin/mmbisect" bisect --repo "$R" --good c0 --bad c2 --workload thread-stack --metric nosuch --state "$T/nosuch" \
	--configs "$T/configs" --quiet >"$T/out" 2>"$T/err"
ok 'a metric that there is not' has "$T/out" "no metric 'nosuch'"

# --- the daemon ---
W=$T/watched
git_ init -q "$W"
tip_() { # HOW
	echo "$1" >"$W/how"
	date +%N >"$W/text"
	git_ -C "$W" add -A
	git_ -C "$W" commit -q -m "${2:-$1}"
	git -C "$W" rev-parse HEAD
}
{
	printf '[daemon]\nstate = %s\nconfigs = %s\nverify_runs = 0\n' "$T/daemon" "$T/configs"
	printf '[mail]\nserver = smtp://127.0.0.1:1\nfrom = a@example.org\nto = b@example.org\n'
	printf '[tree t]\nurl = %s\nbranches = refs/heads/main\nworkloads = thread-stack\narches = x86_64\npoll_seconds = 1\n' "$W"
} >"$T/mmbisect.conf"
tip() { is "$(sql daemon "SELECT state FROM tip WHERE oid = '$1' ORDER BY id DESC LIMIT 1")" "$2" >/dev/null; }
q() { is "$(sql daemon "$1")" "$2" >/dev/null; }
first=$(tip_ ok)
start() {
	"$T/bin/mmbisectd" --config "$T/mmbisect.conf" >>"$T/err" 2>&1 </dev/null &
	daemon=$!
}
: >"$T/err"
start
ok 'daemon: the first tip' until_ tip "$first" accepted
git_ -C "$W" checkout -q -b work
tip_ ok >/dev/null
culprit=$(tip_ "$B" 'mm/x: do it another way')
tip_ "$B" >/dev/null
bad=$(tip_ "$B")
git_ -C "$W" checkout -q main
git_ -C "$W" merge -q --ff-only work
ok 'daemon: a tip that crashes is searched' until_ q "SELECT metric || class FROM search WHERE bad = '$bad'" statusexact
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null
start
ok 'daemon: its commit is found, killed or not' until_ q "SELECT verdict || culprit FROM search WHERE bad = '$bad'" "culprit$culprit"
ok 'daemon: a finding' until_ q "SELECT subject FROM finding WHERE culprit = '$culprit'" 'mm/x: do it another way'
ok 'daemon: with a mail' q "SELECT count(*) FROM mail" 1
sql daemon 'SELECT message FROM mail' >"$T/out"
ok 'daemon: its subject' has "$T/out" '^Subject: .*thread-stack on x86_64: crashes since'
ok 'daemon: and what it says' has "$T/out" 'kernel BUG at mm/madvise.c'
ok 'daemon: a tip that fails is no level' until_ tip "$bad" failed
more=$(tip_ "$B")
ok 'daemon: one more that fails in the same way' until_ tip "$more" failed
ok 'daemon: is the same finding' until_ q 'SELECT count(*) FROM finding_search' 2
ok 'daemon: without another mail' q 'SELECT count(*) FROM mail' 1
well=$(tip_ ok)
ok 'daemon: a tip that is well again' until_ tip "$well" accepted
broken=$(tip_ 'broken 7 no semicolon')
ok 'daemon: a tip that does not build' until_ q "SELECT culprit FROM finding WHERE culprit = '$broken'" "$broken"
ok 'daemon: is one finding more' q 'SELECT count(*) FROM mail' 2

done_testing
