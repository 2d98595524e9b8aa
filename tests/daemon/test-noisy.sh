#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whole searches among noisy runs: mmbisect bisect --class time with the workers of tests/stand-ins.sh. A search that is killed again
# and again must do what one does that is left alone.
# Environment: O, the build folder (default out); KILLS, how often one is killed (default 8); SEED of the instants.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
. tests/stand-ins.sh
SEED=${SEED:-$RANDOM}
RANDOM=$SEED
echo "# seed $SEED"

# --- a history: the change is commit 9 of 14; 4 does not build, 11 panics ---
for ((i = 0; i < 15; i++)); do
	level=1.0
	((i >= 9)) && level=1.3
	((i == 4)) && level=broken
	((i == 11)) && level=panic
	level "c$i" "$level"
done

# --- one that is left alone ---
bisect whole c0 c14 --class time --times 3 --json
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
bisect whole c0 c14 --class time --times 3
ok 'asked again: a few runs confirm it' [ "$(sql whole 'SELECT count(*) FROM run WHERE id <= (SELECT judged_run FROM search WHERE id = 2)')" -le $((runs + 12)) ]
ok 'no commit is built again' is "$(sql whole 'SELECT count(*) - count(DISTINCT tree_oid) FROM build')" 0
ok 'it is the same commit' has "$T/out" "^  commit  $(oid c9)"
ok 'the text says how much of it the commit makes' has "$T/out" '^This commit makes\|^run. This commit makes'
ok 'the steps have their number of runs, and those of before' has "$T/out" '^  [0-9a-f]\{12\}  good  .* n=[0-9]* *commit c0$'

# --- a proof of many runs: they come after the verdict, which does not change under them ---
bisect whole c0 c14 --class time --times 20 --json
ok 'a long proof ends' [ "$status" = 0 ]
ok 'it has its runs' [ "$(field "$T/out" 'd.verify.filter((r) => r.status === "ok").every((r) => r.metrics.time.sys.n >= 20)')" = true ]
ok 'the verdict is that of before' is "$(field "$T/out" 'd.reason.replace(/; .*/, "")')" \
	"$(sql whole "SELECT reason FROM search_log WHERE search_id = 3 AND action = 'culprit'" | sed 's/; .*//')"
most=$(sql whole "SELECT max(n) FROM (SELECT count(*) n FROM run r JOIN series e ON e.hash = r.series WHERE e.class = 'time'
	AND r.id <= (SELECT judged_run FROM search WHERE id = 3) GROUP BY signature)")
ok 'and the steps have the runs of before' is "$(field "$T/out" 'Math.max(...d.steps.map((s) => s.n))')" "$most"

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
ok 'the log of one has its decisions' has "$T/out" "anchors  measure $(oid c0 | cut -c1-12) to [0-9]* runs*  commit c0"
ok 'their phases' has "$T/out" 'confirm  measure'
ok 'and their reasons' has "$T/out" 'the ends first'
"$T/bin/mmbisect" log "${L[@]}" --json 1 >"$T/out" 2>"$T/err"
ok 'all of them as JSON' is "$(field "$T/out" d.decisions.length)" "$(wc -l <"$T/whole.log")"
"$T/bin/mmbisect" log "${L[@]}" --export 1 >"$T/recording.json" 2>"$T/err"
ok 'the search as a recording' is "$(field "$T/recording.json" 'd.commits.length')" 15
ok 'what does not build or boot is in it' [ "$(field "$T/recording.json" "d.commits.every((c) => d.table[c.id] !== 'skip' || ['commit c4', 'commit c11'].includes(c.subject))")" = true ]
"$T/bin/mmbisect" replay --json "$T/recording.json" >"$T/out" 2>"$T/err"
ok 'on paper it has the same culprit' is "$(field "$T/out" d.culprit)" "$(oid c9)"
"$T/bin/mmbisect" replay "$T/recording.json" >"$T/out" 2>"$T/err"
ok 'and says what it decided' has "$T/out" 'confirm  measure'

# --- small changes: other layouts ---
git_ checkout -q --orphan small
git_ rm -q -r --cached .
rm -f "$R"/text-*
echo 0.005 >"$T/noise"
for ((i = 0; i < 8; i++)); do
	level=1.0
	((i >= 5)) && level=1.03/1.0
	level "s$i" "$level"
done
bisect small s0 s7 --class time --times 3 --json
ok 'a step of 3 % that only one link order has: an answer' [ "$status" = 0 ]
ok 'no commit is named' is "$(field "$T/out" d.verdict) $(field "$T/out" d.culprit)" 'not-reproduced null'
ok 'it says that other link orders were run' has "$T/out" 'link order'
ok 'both ends were run in other layouts' is "$(sql small 'SELECT count(*) FROM (SELECT oid, layout FROM build GROUP BY 1, 2)')" 8
"$T/bin/mmbisect" log --state "$T/small" --configs "$T/configs" 1 >"$T/out" 2>"$T/err"
ok 'the log says which' has "$T/out" "to [0-9]* runs*, layout 2  commit s7"
git_ checkout -q --orphan real
git_ rm -q -r --cached .
rm -f "$R"/text-*
for ((i = 0; i < 8; i++)); do
	level=1.0
	((i >= 3)) && level=1.03/1.0 # as if it were another commit
	((i >= 5)) && level=1.03
	level "r$i" "$level"
done
bisect real r0 r7 --class time --times 3 --json
ok 'a step of 3 % that all link orders have: its commit' is "$(field "$T/out" d.culprit)" "$(oid r5)"
fresh=$(sql real "SELECT count(DISTINCT b.layout) FROM run r JOIN build b USING (signature) WHERE r.oid = '$(oid r5)'
	AND r.id > (SELECT max(run_order) FROM search_mark)")
ok 'in more than one of them' [ "$fresh" -ge 2 ]
"$T/bin/mmbisect" log --state "$T/real" --configs "$T/configs" --export 1 >"$T/recording.json" 2>"$T/err"
ok 'its recording has the layouts' is "$(field "$T/recording.json" 'd.layouts')" 4
"$T/bin/mmbisect" replay --json "$T/recording.json" >"$T/out" 2>"$T/err"
ok 'and the same culprit on paper' is "$(field "$T/out" d.culprit)" "$(oid r5)"
touch "$R/broken-layout-1"
for ((i = 0; i < 4; i++)); do
	level=1.0
	((i >= 2)) && level=1.03
	level "l$i" "$level"
done
bisect linkless l0 l3 --class time --times 3 --json
ok 'a layout that does not link is not the fault of a commit' is "$(field "$T/out" d.culprit)" "$(oid l2)"
ok 'the answer says that it has one layout' has "$T/out" 'in one link order only'
bisect large c0 c14 --class time --times 3 --json
ok 'a large change needs no other layout' is "$(sql large 'SELECT max(layout) FROM build')" 0
rm "$T/noise"

# --- other ends ---
bisect other c0 c3 --class time --times 3
ok 'no change is an answer' [ "$status" = 0 ]
ok 'no change: the text' has "$T/out" 'measured no change for the worse'
bisect other c0 c14 --class time --times 3 --max-runs 8
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
bisect other b1 b4 --class time --times 3
ok 'a change for the better is an answer' [ "$status" = 0 ]
ok 'a change for the better: the text' has "$T/out" 'opposite'
bisect other c0 c14 --class time --times 3 --metric nosuch
ok 'a metric that the workload does not report: no answer' [ "$status" = 1 ]
ok 'a metric that the workload does not report: the text' has "$T/out" "no metric 'nosuch'"

done_testing
