#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Several changes in one range of an exact metric, through document, text, log, recording and git. Workers of tests/stand-ins.sh.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
. tests/stand-ins.sh

# c0 .. c32: 100, from c5 on 200 (the main one), from c20 on 230; c14 is bad and c15 reverts it, where nobody would look
revert() { git_ commit -q --amend -m "Revert \"commit $2\"" -m "This reverts commit $(oid "$2")." && git_ tag -f "$1" >/dev/null; }
for i in $(seq 0 32); do
	l=100
	[ "$i" -ge 5 ] && l=200
	[ "$i" -ge 20 ] && l=230
	[ "$i" = 14 ] && l=900
	level "c$i" "$l"
	[ "$i" = 15 ] && revert c15 c14
done
bisect several c0 c32 --json --no-verify
cp "$T/out" "$T/answer"
changes() { field "$1" 'd.changes.map(c => [c.kind, c.subject, c.before, c.after, c.main ? "main" : ""].join(" ")).join(";")'; }
ok "an answer" [ "$status" = 0 ]
ok "the culprit is the one with the largest effect that stands" is "$(field "$T/answer" d.culprit)" "$(oid c5)"
ok "all changes are listed" is "$(changes "$T/answer")" "regression commit c5 100 200 main;recovered commit c14 200 900 ;improvement Revert \"commit c14\" 900 200 ;regression commit c20 200 230 "
ok "what recovered it is named" is "$(field "$T/answer" 'd.changes[1].recovered_by')" "$(oid c15)"
ok "it took no more builds than two bisections and a revert" [ "$(field "$T/answer" d.cost.builds)" -le 17 ]
ok "the decisions say what they were for" [ "$(sql several "SELECT count(*) FROM search_log WHERE phase = 'explain'")" -ge 3 ]

field "$T/answer" d.bisect_log >"$T/log"
git_ bisect start --no-checkout >/dev/null 2>&1
git_ bisect replay "$T/log" >"$T/replayed" 2>&1
ok "git takes the log and agrees" is "$(git_ rev-parse refs/bisect/bad)" "$(oid c5)"
git_ bisect reset >/dev/null 2>&1

bisect several c0 c32 --no-verify
ok "as text: the other changes" has "$T/out" "^Other changes in this range"
ok "as text: the recovered one" has "$T/out" "recovered by $(oid c15 | cut -c1-12): 200 to 900"
"$T/bin/mmbisect" log 1 --export --state "$T/several" --configs "$T/configs" >"$T/recording" 2>"$T/err"
ok "the recording tells of the revert" is "$(field "$T/recording" 'd.reverts.join()')" "$(oid c14),$(oid c15)"
"$T/bin/mmbisect" replay --json "$T/recording" >"$T/paper" 2>"$T/err"
ok "a replay comes to the same changes" is "$(field "$T/paper" 'd.changes.map(c => c.kind + c.before + c.after).join()')" \
	"$(field "$T/answer" 'd.changes.map(c => c.kind + c.before + c.after).join()')"
"$T/bin/mmbisect" replay "$T/recording" >"$T/paper" 2>"$T/err"
ok "and prints them" has "$T/paper" "regression, 200 to 230"

# one change: not a build more than without any of this, and no section
bisect plain c0 c12 --json --no-verify
ok "a plain range: one change" is "$(changes "$T/out")" "regression commit c5 100 200 main"
ok "a plain range: at most log2 12 + 3 builds" [ "$(field "$T/out" d.cost.builds)" -le 7 ]
bisect plain c0 c12 --no-verify
ok "a plain range: no section" [ "$(grep -c '^Other changes' "$T/out")" = 0 ]
done_testing
