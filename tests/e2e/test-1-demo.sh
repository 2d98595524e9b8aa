#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole way on real kernels: `make demo` itself, with the daemon killed three times on the way. What is checked is what a
# person would check: the verdict, the mail, the log that git takes, the page, and that no sample was lost or made up.
set -u
cd "$(dirname "$0")/../.." || exit 1
O=${O:-out}
demo=${DEMO_DIR:-$PWD/state/demo}
n=0
failed=0

check() { # check TITLE COMMAND...
	local title=$1
	n=$((n + 1))
	shift
	if "$@" >"$demo/check.out" 2>&1; then
		echo "ok $n - $title"
	else
		echo "not ok $n - $title"
		tail -20 "$demo/check.out" | sed 's/^/# /'
		failed=1
	fi
}

mkdir -p "$demo"
O=$O KILL=${KILL:-3} VERIFY_RUNS=${VERIFY_RUNS:-2} DEMO_DIR=$demo bash tests/demo/demo.sh >"$demo/demo.out" 2>"$demo/demo.err" </dev/null
status=$?
last=$(tail -1 "$demo/demo.out")
db=$demo/daemon/mmbisect.db
history=$demo/history.json
mail=$(find "$demo/run/mails" -name '*.eml' | sort | tail -1)
sql() { sqlite3 -readonly "$db" "$1"; }
field() { node -e 'console.log(JSON.parse(require("fs").readFileSync(process.argv[1]))[process.argv[2]])' "$history" "$1"; }

[ "$status" = 0 ] || { tail -5 "$demo/demo.out"; tail -40 "$demo/demo.err"; } | sed 's/^/# /'
check "the demo ends well (status $status)" [ "$status" = 0 ]
check "its last line: $last" grep -Eqx "culprit $(field culprit) planted $(field culprit): right" <<<"$last"
check "exactly one mail" [ "$(find "$demo/run/mails" -name '*.eml' | wc -l)" = 1 ]
check "the mail is ASCII with CRLF and has what it needs" sh -c '
	! LC_ALL=C grep -q "[^ -~	
]" "$1" &&
	grep -q "^From: mmbisect@example.org" "$1" && grep -q "^To: linux-mm@example.org" "$1" &&
	grep -q "^Subject: \[mmbisect\]" "$1" && grep -q "^Message-ID: <" "$1" && grep -q "^Date: " "$1"' sh "$mail"
for row in 'parent of the culprit' culprit 'culprit + fix' 'culprit reverted'; do
	check "the table has a row: $row" grep -q "$row" "$mail"
done
for column in real user sys madvise_call; do
	check "the table has a column: $column" grep -q "$column" "$mail"
done
check "the fix was found by its trailer" sh -c 'sqlite3 -readonly "$1" "SELECT fix FROM finding" | grep -qx "$2"' sh "$db" "$(field fix)"
check "the unbuildable commit was never blamed" sh -c '! sqlite3 -readonly "$1" "SELECT culprit FROM finding" | grep -q "$2"' sh "$db" "$(field unbuildable)"

# The log is one that git takes, and git then agrees about the first bad commit.
replay() {
	local dir=$demo/replay
	rm -rf "$dir"
	git clone -q --shared --no-checkout "$demo/base.git" "$dir" || return 1
	sql "SELECT json_extract(document, '\$.bisect_log') FROM search WHERE verdict = 'culprit'" >"$demo/bisect.log"
	(cd "$dir" && git -c advice.detachedHead=false bisect start --no-checkout && git bisect replay ../bisect.log) 2>&1 | tee "$demo/replay.out"
	git -C "$dir" bisect log | grep -q "first bad commit: \[$(field culprit)\]"
}
check "git bisect replay takes the log and agrees" replay

check "B is at least 20 times A in madvise_call" node -e '
	const d = JSON.parse(process.argv[1]);
	const v = Object.fromEntries(d.verify.map((r) => [r.row, r.metrics.exact && r.metrics.exact.madvise_call.median]));
	console.log(v);
	process.exit(v.culprit >= 20 * v.parent && v.fixed <= 0.95 * v.culprit && v.reverted <= 1.01 * v.parent ? 0 : 1);
' "$(sql "SELECT document FROM search WHERE verdict = 'culprit'")"

# Nothing lost, doubled or made up, whatever was killed.
check "every finished run job has exactly one run" [ "$(sql "SELECT count(*) FROM job WHERE kind = 'run' AND state = 'done'")" = "$(sql "SELECT count(*) FROM run")" ]
check "every ok run has all its samples" [ "$(sql "SELECT count(DISTINCT c) FROM (SELECT count(*) AS c FROM run JOIN sample ON run_id = id JOIN series s ON s.hash = series WHERE status = 'ok' GROUP BY id, s.class) ")" -le 2 ]
check "no ok run without samples" [ "$(sql "SELECT count(*) FROM run WHERE status = 'ok' AND id NOT IN (SELECT run_id FROM sample)")" = 0 ]
check "no image was measured more often than asked" [ "$(sql "SELECT count(*) FROM (SELECT count(*) AS c, s.class AS class FROM run JOIN series s ON s.hash = series WHERE status = 'ok' GROUP BY series, signature) WHERE (class = 'exact' AND c > 1) OR (class = 'time' AND c > ${VERIFY_RUNS:-2})")" = 0 ]
check "no job is left over" [ "$(sql "SELECT count(*) FROM job WHERE state IN ('queued', 'leased')")" = 0 ]
check "the daemon was killed ${KILL:-3} times" [ "$(grep -c 'daemon killed' "$demo/demo.out")" = "${KILL:-3}" ]
check "nothing is left running" sh -c '! pgrep -f "$1/" ' sh "$demo"
echo "1..$n"
exit $failed
