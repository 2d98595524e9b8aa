#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# From noisy times alone: `mmbisect bisect --class time` beside a scripted `git bisect run` that takes five runs of each commit and their
# median, on the same histories of some 64 commits, same machine, config and warm O= trees, each with a state of its own.
# SEEDS="1 2 3" (default 1). Prints one line for each way and seed, the ratio, and the sum. Nothing else may run on the machine.
set -eu
cd "$(dirname "$0")/../.."
seeds=${SEEDS:-1}
work=${BENCH_DIR:-$PWD/state/bench}
mmbisect=$PWD/out/bin/mmbisect
mkdir -p "$work"
export work mmbisect

field() { node -p 'JSON.parse(require("fs").readFileSync(process.argv[1]))[process.argv[2]]' "$1" "$2"; }
now() { date +%s.%N; }
# What a state has built and booted so far.
count() { sqlite3 -readonly "$work/$1/mmbisect.db" "SELECT (SELECT count(*) FROM build WHERE cached = 0), (SELECT count(*) FROM run)" | tr '|' ' '; }
# Median sys time of five runs; the state keeps what was built. A program: git bisect run hands no functions on.
cat >"$work/median" <<'SH'
#!/bin/bash
"$mmbisect" run --repo "$work/base.git" --workload thread-stack --class time --times 5 --state "$work/git" --quiet --json "$1" |
	node -p 'const m = JSON.parse(require("fs").readFileSync(0)).rows[0].metrics.time; m ? m.sys.median : "none"'
SH
cat >"$work/step" <<'SH'
#!/bin/bash
value=$("$work/median" "$(git rev-parse BISECT_HEAD)") || exit 125
[ "$value" != none ] || exit 125
echo "sys $value"
[ "$(echo "$value < $threshold" | bc -l)" = 1 ]
SH
chmod +x "$work/median" "$work/step"

bash tests/demo/make-base.sh "$work/base.git"
total_ours=0 total_theirs=0 n=0 right_ours=0 right_theirs=0
for seed in $seeds; do
	history=$work/history-$seed.json
	node tests/demo/make-history.mjs --repo "$work/base.git" --seed "$seed" --commits 70 --json "$history"
	good=$(field "$history" good) bad=$(field "$history" bad) culprit=$(field "$history" culprit)
	for state in judge git; do # both begin warm, with the good end built and run once
		"$mmbisect" run --repo "$work/base.git" --workload thread-stack --class time --times 1 --state "$work/$state" --quiet "$good" >/dev/null
	done

	begin=$(now)
	"$mmbisect" bisect --repo "$work/base.git" --good "$good" --bad "$bad" --workload thread-stack --class time --no-verify \
		--state "$work/judge" --quiet --json >"$work/judge-$seed.json" 2>"$work/judge-$seed.err" || true
	ours=$(echo "$(now) - $begin" | bc)
	node -e '
		const d = JSON.parse(require("fs").readFileSync(process.argv[1]));
		console.log(`seed ${process.argv[2]}  mmbisect        ${d.culprit === process.argv[3] ? "right" : "WRONG"}  ` +
			`${d.cost.builds} builds, ${d.cost.boots} boots, ${Number(process.argv[4]).toFixed(0)} s  (${d.verdict}: ${d.reason})`);
	' "$work/judge-$seed.json" "$seed" "$culprit" "$ours"

	read -r builds_before boots_before <<<"$(count git)"
	begin=$(now)
	threshold=$(echo "($("$work/median" "$good") + $("$work/median" "$bad")) / 2" | bc -l)
	export threshold
	rm -rf "$work/clone"
	git clone -q --shared --no-checkout "$work/base.git" "$work/clone"
	(
		cd "$work/clone"
		git bisect start --no-checkout "$bad" "$good"
		git bisect run "$work/step"
	) >"$work/git-$seed.log" 2>&1 || true
	theirs=$(echo "$(now) - $begin" | bc)
	answer=$(git -C "$work/clone" bisect log | sed -n 's/^# first bad commit: \[\([0-9a-f]*\)\].*/\1/p')
	read -r builds boots <<<"$(count git)"
	printf 'seed %s  git bisect run  %s  %d builds, %d boots, %.0f s\n' "$seed" \
		"$([ "$answer" = "$culprit" ] && echo right || echo WRONG)" $((builds - builds_before)) $((boots - boots_before)) "$theirs"
	printf 'seed %s  ratio           %.2f\n' "$seed" "$(echo "$ours / $theirs" | bc -l)"
	n=$((n + 1))
	[ "$(field "$work/judge-$seed.json" culprit)" != "$culprit" ] || right_ours=$((right_ours + 1))
	[ "$answer" != "$culprit" ] || right_theirs=$((right_theirs + 1))
	total_ours=$(echo "$total_ours + $ours" | bc) total_theirs=$(echo "$total_theirs + $theirs" | bc)
done
printf 'all     mmbisect right %d of %d, git bisect run %d of %d, ratio %.2f\n' "$right_ours" "$n" "$right_theirs" "$n" \
	"$(echo "$total_ours / $total_theirs" | bc -l)"
