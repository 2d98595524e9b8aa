#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Good that is no ancestor of bad: the merge bases are measured first. Workers of tests/stand-ins.sh.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
. tests/stand-ins.sh

# base - b1 - b2 (slow) - b3 - b4         base (1.0) is like g2
#     \- g1 - g2
level base 1.0
for i in 1 2 3 4 5; do level "b$i" "$([ $i -ge 3 ] && echo 1.3 || echo 1.0)"; done
git_ checkout -q -b side base
level g1 1.0
level g2 1.0
# slowbase (1.3) - s1; fixed on its other side: - f1 - f2 (1.0) - f3
git_ checkout -q -b slow b5
level s1 1.3
git_ checkout -q -b fixed b5
level f1 1.3
level f2 1.0
level f3 1.0
# a base that does not build: hole - h1, h2 (slow); hole - i1
git_ checkout -q -b holes base
level hole broken
level h1 1.0
level h2 1.3
git_ checkout -q -b besides tags/hole
level i1 1.0
# criss-cross: two bases, x and y; bad has x, y and then a change
git_ checkout -q -b cross base
level x 1.0
git_ checkout -q -b other base
level y 1.0
git_ checkout -q -b left x
git_ merge -q -m left y
level l1 1.0
git_ checkout -q -b right y
git_ merge -q -m right x
level r1 1.0
level r2 1.3
level r3 1.3
# and one of two bases slow: p (1.0) and q (1.3)
git_ checkout -q -b qq base
level q 1.3
git_ checkout -q -b lefter x
git_ merge -q -X ours -m lefter q
level m1 1.0
git_ checkout -q -b righter q
git_ merge -q -X ours -m righter x
level n1 1.3
git_ checkout -q --orphan alone
level alone 1.3

reason() { field "$T/out" d.reason; }
for class in exact time; do
	Q=(--class "$class" --json --no-verify)
	bisect "$class" g2 b5 "${Q[@]}"
	ok "$class: base like good: an answer" [ "$status" = 0 ]
	ok "$class: base like good: the culprit on bad's side" is "$(field "$T/out" d.culprit)" "$(oid b3)"
	ok "$class: base like good: searched from the base" is "$(field "$T/out" 'd.range.good + d.side')" "$(oid base)bad"
	ok "$class: base like good: the command has the ends" is "$(field "$T/out" "d.reproduce.includes('--good $(oid g2)')")" true
	ok "$class: base like good: the log says why" [ "$(sql "$class" "SELECT count(*) FROM search_log WHERE action = 'base' AND oid = '$(oid base)'")" = 1 ]
	bisect "$class" f3 s1 "${Q[@]}"
	ok "$class: base like bad: an answer" [ "$status" = 0 ]
	ok "$class: base like bad: the verdict" is "$(field "$T/out" 'd.verdict + d.culprit')" not-reproducednull
	ok "$class: base like bad: the side" is "$(field "$T/out" 'd.side + d.base')" "good$(oid b5)"
	ok "$class: base like bad: the range to look in" is "$(field "$T/out" 'd.range.good + d.range.bad')" "$(oid b5)$(oid f3)"
	ok "$class: base like bad: the reason" grep -q '^changed on the good side' <<<"$(reason)"
	bisect "$class" l1 r3 "${Q[@]}"
	ok "$class: a criss-cross: the culprit" is "$(field "$T/out" d.culprit)" "$(oid r2)"
	ok "$class: a criss-cross: both bases were measured" is "$(sql "$class" "SELECT count(DISTINCT oid) FROM search_log l JOIN search s ON s.id = search_id
		WHERE s.bad = '$(oid r3)' AND action = 'measure' AND oid IN ('$(oid x)', '$(oid y)')")" 2
	bisect "$class" m1 n1 "${Q[@]}"
	ok "$class: one of two bases is like bad: the good side" is "$(field "$T/out" 'd.side + d.base')" "good$(oid q)"
	bisect "$class" i1 h2 "${Q[@]}"
	ok "$class: a base that does not build is taken for good" is "$(field "$T/out" d.culprit)" "$(oid h2)"
	bisect "$class" g2 i1 "${Q[@]}"
	ok "$class: ends that are alike: not reproduced" is "$(field "$T/out" 'd.verdict + d.side')" not-reproducedundefined
done
ok 'exact: the bases cost no more than a run each' is "$(sql exact "SELECT max(n) FROM (SELECT count(*) AS n FROM run GROUP BY signature)")" 1

bisect text f3 s1
ok 'the text says which side' has "$T/out" 'found the change on the good side'
bisect text g2 b5 --no-verify
ok 'the text says where it started' has "$T/out" 'from the merge$\|from the merge base of\|merge base of good and bad'
"$T/bin/mmbisect" log --state "$T/text" --configs "$T/configs" --export 2 >"$T/recording.json" 2>"$T/err"
ok 'its recording is the range from the base' is "$(field "$T/recording.json" 'd.commits.length')" 6

bisect none alone b5
ok 'no common history: refused' [ "$status" = 2 ]
ok 'no common history: said' has "$T/err" 'no common history'
ok 'no common history: nothing is written' [ ! -e "$T/none" ]
bisect none b5 base
ok 'swapped ends: refused' [ "$status" = 2 ]
ok 'swapped ends: said' has "$T/err" 'are they swapped'

# killed at any time, the same answer and the same decisions
log='SELECT action, phase, oid, runs, reason FROM search_log ORDER BY id'
bisect whole g2 b5 --class time --json --times 3
cp "$T/out" "$T/whole.json"
kills=0
while :; do
	"$T/bin/mmbisect" bisect --repo "$R" --good g2 --bad b5 --workload thread-stack --state "$T/killed" --configs "$T/configs" --quiet \
		--class time --json --times 3 >"$T/out" 2>"$T/err" </dev/null &
	child=$!
	[ $kills -ge "${KILLS:-8}" ] && break
	sleep "0.$((RANDOM % 5 + 2))"
	kill -KILL $child 2>/dev/null && kills=$((kills + 1))
	wait $child 2>/dev/null
	[ $? = 137 ] || break
done
wait $child 2>/dev/null
child=
sql whole "$log" >"$T/whole.log"
sql killed "$log" >"$T/killed.log"
ok "killed $kills times: the same decisions" cmp "$T/whole.log" "$T/killed.log"
ok 'and the same answer' is "$(sql killed 'SELECT verdict, culprit, base FROM search')" "$(sql whole 'SELECT verdict, culprit, base FROM search')"

done_testing
