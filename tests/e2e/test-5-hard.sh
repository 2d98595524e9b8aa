#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `mmbisect bisect` on the hard history (tests/demo/make-hard-history.mjs), real kernels: two regressions, the revert of one, an octopus
# of neutral branches, a commit that does not build right beside the other culprit. Every one must be named, and what the search
# cost is printed. Uses the base, the slot and the images of the demo. SEED=n: which history.
set -u
cd "$(dirname "$0")/../.." || exit 1
O=${O:-out}
demo=${DEMO_DIR:-$PWD/state/demo}
state=${EXACT_STATE:-$demo/daemon}
seed=${SEED:-1}
work=$demo/hard
. tests/tap.sh
said() { "$@" >"$work/said" 2>&1; }
on_failure() { tail -20 "$work/said" | sed 's/^/# /'; }
field() { node -e 'console.log(JSON.parse(require("fs").readFileSync(process.argv[1]))[process.argv[2]])' "$work/history.json" "$1"; }
# Is the expression true of the answer d, its changes by commit, and the history h?
holds() { # holds FILE EXPRESSION
	node -e '
		const read = f => JSON.parse(require("fs").readFileSync(f));
		const d = read(process.argv[1]), h = read(process.argv[2]);
		const at = oid => (d.changes ?? []).find(c => c.commit === oid);
		const set = c => (c?.candidates ?? []).map(x => x.commit).sort().join();
		const good = eval(process.argv[3]);
		if (!good)
			console.log(JSON.stringify({ verdict: d.verdict, culprit: d.culprit, candidates: d.candidates, changes: d.changes }, null, 1));
		process.exit(good ? 0 : 1);
	' "$1" "$work/history.json" "$2"
}
bisect() { # bisect NAME OPTION...
	"$O/bin/mmbisect" bisect --repo "$demo/base.git" --good "$(field good)" --bad "$(field bad)" --workload thread-stack --no-verify \
		--state "$state" --quiet "${@:2}" >"$work/$1" 2>"$work/$1.err"
}
cost() {
	node -e '
		const d = JSON.parse(require("fs").readFileSync(process.argv[1]));
		const tested = d.steps.filter(s => s.side !== "unknown").length;
		console.log(`# seed ${process.argv[2]}: ${d.steps.length} commits looked at (${tested} told a side), ${d.cost.builds} builds, ` +
			`${d.cost.boots} boots, ${d.cost.seconds.toFixed(0)} s`);
	' "$work/answer.json" "$seed"
}

rm -rf "$work"
mkdir -p "$work"
ok "a hard history from seed $seed" said node tests/demo/make-hard-history.mjs --repo "$demo/base.git" --seed "$seed" --json "$work/history.json"
range=$(git --git-dir "$demo/base.git" rev-list --count "$(field good)..$(field bad)")
ok "it has $range commits, an octopus among them" said sh -c '
	[ "$1" -ge 12 ] && [ "$(git --git-dir "$2" rev-list --parents -1 "$3" | wc -w)" -ge 4 ]' sh "$range" "$demo/base.git" "$(field octopus)"
ok "bisect: exit 0" said bisect answer.json --json
cost
ok "the main one is a set of two: the culprit and the hole beside it" said holds "$work/answer.json" '
	d.verdict === "set" && d.candidates.map(c => c.commit).sort().join() === [h.hole, h.culprit].sort().join()'
ok "among the changes it is the regression, and the main one" said holds "$work/answer.json" '
	d.changes.some(c => c.main && c.kind === "regression" && c.first_bad === h.culprit && set(c) === [h.hole, h.culprit].sort().join())'
ok "the other regression is named, as recovered by its revert" said holds "$work/answer.json" '
	at(h.second)?.kind === "recovered" && at(h.second).recovered_by === h.revert && at(h.second).after > at(h.second).before'
ok "the revert is named, as an improvement" said holds "$work/answer.json" 'at(h.revert)?.kind === "improvement"'
ok "nothing else is" said holds "$work/answer.json" 'd.changes.length === 3'
ok "again, as text: exit 0" said bisect answer.txt
ok "the text has the section of other changes" said sh -c '
	grep -q "^Other changes in this range" "$1" && grep -q "^  $(echo "$2" | cut -c1-12)  " "$1" && grep -q "recovered by $(echo "$3" | cut -c1-12)" "$1"' \
	sh "$work/answer.txt" "$(field second)" "$(field revert)"
id=$(sqlite3 -readonly "$state/mmbisect.db" "SELECT max(id) FROM search WHERE good = '$(field good)' AND bad = '$(field bad)'")
ok "the log can be printed" said "$O/bin/mmbisect" log "$id" --state "$state"
ok "the search can be exported" said sh -c '"$1" log "$2" --export --state "$3" >"$4"' sh "$O/bin/mmbisect" "$id" "$state" "$work/recording.json"
ok "and replayed" said sh -c '"$1" replay --json "$2" >"$3"' sh "$O/bin/mmbisect" "$work/recording.json" "$work/replay.json"
ok "which comes to the same changes" said node -e '
	const read = f => JSON.parse(require("fs").readFileSync(f));
	const list = (d, key) => d.changes.map(c => [c.kind, c.before, c.after, c.recovered_by, ...c[key].map(x => x.commit ?? x)].join()).join("\n");
	process.exit(list(read(process.argv[1]), "candidates") === list(read(process.argv[2]), "commits") ? 0 : 1);
' "$work/answer.json" "$work/replay.json"
done_testing
