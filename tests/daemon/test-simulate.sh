#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# mmbisect simulate as a person uses it: lines, documents, one trial again, exit statuses. What it simulates is tested in
# tests/judge/test-simulate.c. Environment: O, the build folder (default out).
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
BIN=$(realpath "${O:-out}/bin/mmbisect") || exit 1
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
export HOME=$T/home XDG_STATE_HOME=$T/xdg

on_failure() {
	sed 's/^/# out: /' stdout
	sed 's/^/# err: /' stderr
	echo "# status: $status"
}
simulate() {
	"$BIN" simulate "$@" >stdout 2>stderr
	status=$?
}
# json EXPRESSION: is it true of the document `d`?
json() { node -e 'const d = JSON.parse(require("fs").readFileSync("stdout")); process.exit(eval(process.argv[1]) ? 0 : 1)' "$1"; }

simulate --quiet --scenario B6-64 --trials 10
ok 'a bar that is met: exit 0' [ $status = 0 ]
ok 'one line says so' grep -Eq '^B6-64 +10 trials +right 100\.0 % .* met$' stdout
ok 'nothing on stderr' [ ! -s stderr ]

simulate --quiet --scenario B6 --trials 2 --json
ok 'a bar of parts: all of them, in one document' json \
	'd.kind == "simulate" && d.rows.map(r => r.scenario).join() == "B6-64,B6-1000,B6-15000" && d.rows.every(r => r.met && r.right == 100)'
simulate --quiet --scenario B16 --trials 1 --json
ok 'a bar that others ask for too' json 'd.rows.map(r => r.scenario).join() == "B1,B2,B3,B5"'

simulate --quiet --scenario small --method bis1 --trials 60 --seed 3
ok 'a rival has no bar: exit 0 though it is mostly wrong' [ $status = 0 ]
cp stdout first
simulate --quiet --scenario small --method bis1 --trials 60 --seed 3 --jobs 1
ok 'the same seed says the same, on any number of processes' \
	cmp -s <(sed 's/[0-9.]* ms.*//' first) <(sed 's/[0-9.]* ms.*//' stdout)
simulate --quiet --scenario small --method bis1 --trials 60 --seed 4
ok 'another seed does not' [ "$(sed 's/[0-9.]* ms.*//' first)" != "$(sed 's/[0-9.]* ms.*//' stdout)" ]

simulate --scenario B3 --trial 5
ok 'one trial: its decisions and the outcome' grep -Eq '^right: [0-9]+ s .*, [0-9]+ builds, [0-9]+ runs, [0-9]+ decisions' stdout
ok 'the ends come first' grep -Eq '^ +1 +0 s anchors +0:1 1000:1 .*the ends first' stdout
ok 'and a mark before the fresh runs' grep -Eq '^ *[0-9]+ +[0-9]+ s confirm .* mark ' stdout

simulate --quiet --power --trials 1 --method bis1 --json
ok 'a power curve is ten rows' json \
	'd.shows == "power" && d.rows.length == 10 && d.rows.every((r, i) => r.commits == 1000 && (i == 0 || r.effect > d.rows[i - 1].effect))'
simulate --quiet --power --trials 1 --method bis3
ok 'or a table' [ "$(grep -Ec '^ *[0-9.]+( +[0-9.]+){7}$' stdout)" = 10 ]

# Two rows of real-looking runs, far apart.
pool() { # BETTER GOOD BAD > FILE
	node -e '
		const row = (name, m, better) => ({ row: name, metrics: { time: { sys: { better, values: Array.from({ length: 20 },
			(_, i) => better === "higher" ? 1 / (m * (1 + (i * 7 % 20 - 9.5) / 300)) : m * (1 + (i * 7 % 20 - 9.5) / 300)) } } } });
		const [better, ...m] = process.argv.slice(1);
		console.log(JSON.stringify({ kind: "compare", metric: "sys", rows: m.map((v, i) => row("AB"[i], +v, better)) }))' "$@"
}
pool lower 2 2.4 >pool.json
simulate --quiet --pool pool.json --trials 4 --json
ok 'real runs: every method at two lengths, and where nothing changed' json \
	'd.shows == "pool" && d.rows.length == 24 && d.rows.filter(r => !r.changed).length == 2'
ok 'the judge finds the commit in them' json 'd.rows.filter(r => r.method == "judge" && r.changed).every(r => r.right == 100)'
ok 'and accuses nobody where there is nothing' json 'd.rows.filter(r => !r.changed).every(r => r.wrong == 0)'
ok 'the change and the spread are those of the runs' json \
	'd.rows[0].change > 0.19 && d.rows[0].change < 0.21 && d.rows[0].spread > 0.01 && d.rows[0].spread < 0.04'
pool higher 2 2.4 >pool.json
simulate --quiet --pool pool.json --trials 4 --json
ok 'more is better: its reciprocal is what grows' json \
	'd.rows[0].change > 0.19 && d.rows[0].change < 0.21 && d.rows.find(r => r.method == "judge").right == 100'
pool lower 2 >pool.json
simulate --quiet --pool pool.json --trials 4 --json
ok 'one row: only that nothing changed' json 'd.rows.length == 2 && d.rows.every(r => !r.changed && r.wrong == 0)'
pool lower 2 1.6 >better.json
echo '{"kind":"compare","metric":"sys","rows":[{"row":"A","metrics":{"time":{"sys":{"values":[1,2,3]}}}}]}' >few.json
echo '{"kind":"compare","metric":"sys","rows":[{"row":"A","metrics":{"time":{"sys":{"values":[1,2,3,0,5]}}}}]}' >zero.json
echo '{' >broken.json
touch first

while IFS='|' read -r title arguments; do
	# shellcheck disable=SC2086
	simulate $arguments
	ok "$title: exit 2, one line" [ $status = 2 -a ! -s stdout -a "$(wc -l <stderr)" = 1 ]
done <<'EOF'
no such scenario|--scenario B99
no such method|--method magic
a trial of many worlds|--trial 3
a document of one trial|--scenario B1 --trial 3 --json
no number of trials|--trials none
no trials|--trials 0
a word too many|B1
a pool that gets better|--pool better.json
a pool of three runs|--pool few.json
a run that took no time|--pool zero.json
a metric that the pool has not|--pool pool.json --metric real
a pool that is no JSON|--pool broken.json
a pool that is not there|--pool none.json
EOF
ok 'nothing was written' [ -z "$(find . -newer first -type f ! -name stdout ! -name stderr)" -a ! -e "$HOME" -a ! -e "$XDG_STATE_HOME" ]

done_testing
