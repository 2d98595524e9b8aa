#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whole searches among noisy runs: mmbisect bisect --class time on a small repository that is no kernel. Its workers are
# stand-ins: a build that copies the level that the tree holds, and a run that adds noise to it. The noise is a function of image
# and run, so that a search that is killed again and again must do what one does that is left alone.
# Environment: O, the build folder (default out); KILLS, how often one is killed (default 8); SEED of the instants.
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
sig=$(printf '%s' "$tree" | sha256sum | cut -d' ' -f1)
mkdir -p "$(get out)" && echo "$level $sig" >"$(get out)/kernel"
printf '{"result":{"status":"ok","signature":"%s","kernel":"%s/kernel","config_hash":"%s","toolchain":"t","unknown_options":[],"seconds":9,"cached":false}}\n' \
	"$sig" "$(get out)" "$sig"
SH
cat >"$T/bin/mmbisect-run" <<'SH'
#!/bin/bash
job=$(cat)
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
hash=$(printf '%s %s' "$sig" "$k" | sha256sum)
[ $class = time ] || hash=80000000800000008000000080000000
value=$(awk -v a="$((16#${hash:0:8}))" -v b="$((16#${hash:8:8}))" -v level="$level" \
	'BEGIN { printf "%.6f", level * (1 + 0.06 * sqrt(-2 * log((a + 1) / 4294967297)) * cos(6.2831853 * b / 4294967296)) }')
[ $class = time ] || value=$level
printf '{"result":{"status":"ok","title":null,"error":null,"samples":[{"metric":"sys","value":%s,"unit":"s","better":"lower","class":"%s"}],"seconds":3,"boot_seconds":1}}\n' \
	"$value" "$class"
SH
chmod +x "$T"/bin/*

# --- a history: the change is commit 9 of 14; 4 does not build, 11 panics ---
R=$T/repo
git_() { git -C "$R" -c user.name=T -c user.email=t@example.org "$@"; }
mkdir "$R"
git_ init -q -b main
for ((i = 0; i < 15; i++)); do
	level=1.0
	((i >= 9)) && level=1.3
	((i == 4)) && level=broken
	((i == 11)) && level=panic
	echo "$level" >"$R/level"
	echo "commit $i" >"$R/text$i"
	git_ add -A
	git_ commit -q -m "commit $i"
	git_ tag "c$i"
done
oid() { git -C "$R" rev-parse "$1"; }

# bisect STATE GOOD BAD OPTIONS...: to the end; status, $T/out, $T/err.
bisect() {
	local state=$1 good=$2 bad=$3
	shift 3
	timeout 300 "$T/bin/mmbisect" bisect --repo "$R" --good "$good" --bad "$bad" --workload thread-stack --class time \
		--state "$T/$state" --configs "$T/configs" --times 3 --quiet "$@" >"$T/out" 2>"$T/err" </dev/null
	status=$?
}

# --- one that is left alone ---
bisect whole c0 c14 --json
cp "$T/out" "$T/whole.json"
ok 'a search among noisy runs ends' [ "$status" = 0 ]
ok 'it has a culprit' is "$(field "$T/out" d.verdict)" culprit
ok 'the right one' is "$(field "$T/out" d.culprit)" "$(oid c9)"
ok 'its metric is the time driver of the workload' is "$(field "$T/out" d.metric)" sys
ok 'more than one run of a commit' [ "$(field "$T/out" 'Math.max(...d.steps.map((s) => s.n))')" -gt 5 ]
ok 'how much it explains' [ "$(field "$T/out" 'd.explained.low < 1 && d.explained.high > 1 && d.explained.value > 0.6')" = true ]
ok 'the change in spreads of a run' [ "$(field "$T/out" 'd.effect > 2 && d.effect < 8')" = true ]
ok 'sides that fit the culprit' [ "$(field "$T/out" 'd.steps.every((s) => s.n === 0 || s.side === "skip" || (s.value < 1.15 ? "good" : "bad") === s.side)')" = true ]
ok 'the command to have it again has the class' has "$T/out" '--metric sys --class time'
ok 'a mark was kept' [ "$(sql whole 'SELECT count(*) FROM search_mark')" -ge 1 ]
mark=$(sql whole 'SELECT max(run_order) FROM search_mark')
pairs=$(sql whole "SELECT group_concat(CASE oid WHEN '$(oid c8)' THEN 'p' WHEN '$(oid c9)' THEN 'c' ELSE '?' END, '') FROM
	(SELECT oid FROM run WHERE id > $mark ORDER BY id LIMIT 6)")
ok 'fresh pairs of parent and culprit take turns' is "$pairs" pccppc
ok 'no commit that panics has more than two boots' [ "$(sql whole "SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM run WHERE status = 'crashed' GROUP BY signature)")" -le 2 ]
ok 'no job is left' is "$(sql whole "SELECT count(*) FROM job WHERE state IN ('queued', 'leased')")" 0

# exact runs of the proof may overlap
trace="SELECT r.oid, s.value FROM run r JOIN sample s ON s.run_id = r.id JOIN series e ON e.hash = r.series WHERE e.class = 'time' ORDER BY r.id"
log='SELECT action, phase, oid, runs, reason FROM search_log WHERE search_id = 1 ORDER BY id'
marks='SELECT oid, run_order FROM search_mark WHERE search_id = 1 ORDER BY id'
sql whole "$trace" >"$T/whole.trace"
sql whole "$log" >"$T/whole.log"
sql whole "$marks" >"$T/whole.marks"

# --- the same question again: the samples are there, but a fresh look is fresh ---
runs=$(sql whole 'SELECT count(*) FROM run')
bisect whole c0 c14
ok 'asked again: a few runs confirm it' [ "$(sql whole 'SELECT count(*) FROM run')" -le $((runs + 12)) ]
ok 'no commit is built again' is "$(sql whole 'SELECT count(*) - count(DISTINCT tree_oid) FROM build')" 0
ok 'it is the same commit' has "$T/out" "^  commit  $(oid c9)"
ok 'the text says how much of it the commit makes' has "$T/out" '^This commit makes\|^run. This commit makes'
ok 'the steps have their number of runs, and those of before' has "$T/out" '^  [0-9a-f]\{12\}  good  .* n=[0-9]* *commit 0$'

# --- a proof of many runs: they come after the verdict, which does not change under them ---
bisect whole c0 c14 --times 20 --json
ok 'a long proof ends' [ "$status" = 0 ]
ok 'it has its runs' [ "$(field "$T/out" 'd.verify.filter((r) => r.status === "ok").every((r) => r.metrics.time.sys.n >= 20)')" = true ]
ok 'the verdict is that of before' is "$(field "$T/out" 'd.reason.replace(/; .*/, "")')" \
	"$(sql whole "SELECT reason FROM search_log WHERE search_id = 3 AND action = 'culprit'" | sed 's/; .*//')"
ok 'and the steps have the runs of before' [ "$(field "$T/out" 'd.steps.every((s) => s.n < 20)')" = true ]

# --- one that is killed ---
kills=0
for ((round = 0; round < 400; round++)); do
	"$T/bin/mmbisect" bisect --repo "$R" --good c0 --bad c14 --workload thread-stack --class time --state "$T/killed" \
		--configs "$T/configs" --times 3 --quiet --json >"$T/out" 2>"$T/err" </dev/null &
	child=$!
	if ((kills < ${KILLS:-8})); then
		sleep "0.$((RANDOM % 9 + 1))$((RANDOM % 10))"
		kill -KILL $child 2>/dev/null && kills=$((kills + 1))
		wait $child 2>/dev/null
		status=$?
		[ $status = 137 ] && continue
	fi
	wait $child 2>/dev/null
	status=$?
	break
done
child=
echo "# killed $kills times"
ok 'a search that is killed again and again ends' [ "$status" = 0 ]
for what in trace log marks; do
	sql killed "${!what}" >"$T/killed.$what"
done
ok 'with the same runs in the same order' cmp "$T/whole.trace" "$T/killed.trace"
ok 'the same decisions for the same reasons' cmp "$T/whole.log" "$T/killed.log"
ok 'and the same marks' cmp "$T/whole.marks" "$T/killed.marks"

# --- its log, and on paper ---
L=(--state "$T/whole" --configs "$T/configs")
"$T/bin/mmbisect" log "${L[@]}" >"$T/out" 2>"$T/err"
ok 'mmbisect log lists searches' has "$T/out" '^ *1  20.*culprit .*thread-stack x86_64 time sys'
"$T/bin/mmbisect" log "${L[@]}" 1 >"$T/out" 2>"$T/err"
ok 'the log of one has its decisions' has "$T/out" "anchors  measure $(oid c0 | cut -c1-12) to [0-9]* runs*  commit 0"
ok 'their phases' has "$T/out" 'confirm  measure'
ok 'and their reasons' has "$T/out" 'the ends first'
"$T/bin/mmbisect" log "${L[@]}" --json 1 >"$T/out" 2>"$T/err"
ok 'all of them as JSON' is "$(field "$T/out" d.decisions.length)" "$(wc -l <"$T/whole.log")"
"$T/bin/mmbisect" log "${L[@]}" --export 1 >"$T/recording.json" 2>"$T/err"
ok 'the search as a recording' is "$(field "$T/recording.json" 'd.commits.length')" 15
ok 'what does not build or boot is in it' [ "$(field "$T/recording.json" "d.commits.every((c) => d.table[c.id] !== 'skip' || ['commit 4', 'commit 11'].includes(c.subject))")" = true ]
"$T/bin/mmbisect" replay --json "$T/recording.json" >"$T/out" 2>"$T/err"
ok 'on paper it has the same culprit' is "$(field "$T/out" d.culprit)" "$(oid c9)"
"$T/bin/mmbisect" replay "$T/recording.json" >"$T/out" 2>"$T/err"
ok 'and says what it decided' has "$T/out" 'confirm  measure'

# --- other ends ---
bisect other c0 c3
ok 'no change is an answer' [ "$status" = 0 ]
ok 'no change: the text' has "$T/out" 'measured no change for the worse'
bisect other c0 c14 --max-runs 8
ok 'a budget that is too small: no answer' [ "$status" = 1 ]
ok 'a budget that is too small: the text' has "$T/out" 'gave up'
git_ checkout -q --orphan better
better=0
for level in 1.3 1.3 1.0 1.0; do
	echo $level >"$R/level"
	echo "better $((++better))" >"$R/text"
	git_ add -A
	git_ commit -q -m "better $better"
	git_ tag "b$better"
done
bisect other b1 b4
ok 'a change for the better is an answer' [ "$status" = 0 ]
ok 'a change for the better: the text' has "$T/out" 'opposite'
bisect other c0 c14 --metric nosuch
ok 'a metric that the workload does not report: no answer' [ "$status" = 1 ]
ok 'a metric that the workload does not report: the text' has "$T/out" "no metric 'nosuch'"

done_testing
