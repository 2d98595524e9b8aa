#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The main job, with nothing prepared and nobody asked: a history is pushed to a watched tree, the daemon finds the commit that
# made it slower, proves it and mails it.
#
#   SEED=n       which history (default 2022)
#   DEMO_DIR=…   where everything is kept between runs (default state/demo)
#   O=out        where the programs are
#   KILL=n       SIGKILL the daemon n times at random instants and start it again (for tests)
# Last line: culprit OID planted OID: right     (or WRONG, exit 1)
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
O=${O:-out}
case $O in /*) ;; *) O=$top/$O ;; esac
bin=$O/bin
seed=${SEED:-2022}
demo=${DEMO_DIR:-$top/state/demo}
kills=${KILL:-0}
limit_s=${DEMO_LIMIT:-3000}
mkdir -p "$demo"
demo=$(cd "$demo" && pwd)
base=$demo/base.git
tree=$demo/tree.git
work=$demo/run
log=$work/daemon.log
pids=()
start_s=$(date +%s)

say() { printf '\n== %s (%d s)\n' "$*" $(($(date +%s) - start_s)); }
die() { printf 'demo: %s\n' "$*" >&2; exit 1; }

stop_all() {
	for pid in "${pids[@]}" ${daemon_pid:+"$daemon_pid"}; do kill "$pid" 2>/dev/null || true; done
	wait 2>/dev/null || true
}
trap stop_all EXIT
trap 'exit 130' INT TERM

exec 9>"$demo/lock"
flock -n 9 || die "another demo is running in $demo"

start_daemon() {
	"$bin/mmbisectd" --config "$work/mmbisect.conf" 2> >(tee -a "$log" >&2) 9>&- &
	daemon_pid=$!
}

# True when the query on the daemon's database gives a row.
holds() { [ -n "$(sqlite3 -readonly "$demo/daemon/mmbisect.db" "$1" 2>/dev/null)" ]; }

# Waits until the database has it; kills and restarts the daemon on the way when asked to.
wait_for() {
	local query=$1 what=$2
	until holds "$query"; do
		[ $(($(date +%s) - start_s)) -lt "$limit_s" ] || die "no $what after $limit_s s; the log is $log"
		if ! kill -0 "$daemon_pid" 2>/dev/null; then
			wait "$daemon_pid" || true
			die "the daemon ended by itself; the log is $log"
		fi
		if [ "$kills" -gt 0 ] && [ "$(date +%s)" -ge "$next_kill" ]; then
			kill -KILL "$daemon_pid"
			wait "$daemon_pid" 2>/dev/null || true
			kills=$((kills - 1))
			next_kill=$(($(date +%s) + RANDOM % 20 + 3))
			echo "demo: daemon killed; $kills to go"
			start_daemon
		fi
		sleep 0.2
	done
}
next_kill=$(($(date +%s) + RANDOM % 20 + 3))

say "1. this host"
"$bin/mmbisect" doctor --state "$demo/daemon" || die "mmbisect doctor names what is missing"

say "2. a tree with a history from SEED=$seed"
bash "$top/tests/demo/make-base.sh" "$base"
node "$top/tests/demo/make-history.mjs" --repo "$base" --seed "$seed" --json "$demo/history.json"
field() { node -e 'const v = JSON.parse(require("fs").readFileSync(process.argv[1]))[process.argv[2]]; console.log(v)' "$demo/history.json" "$1"; }
good=$(field good) bad=$(field bad) planted=$(field culprit)
echo "$(git --git-dir "$base" rev-list --count "$good..$bad") commits from ${good:0:12} to ${bad:0:12}, merges: $(git --git-dir "$base" rev-list --count --merges "$good..$bad")"

say "3. the service: database, executor, mail server"
rm -rf "$work" "$tree" "$demo/daemon/mmbisect.db"* "$demo/daemon/logs"
mkdir -p "$work/mails" "$demo/daemon"
git init -q --bare "$tree"
echo "$base/objects" >"$tree/objects/info/alternates"
node "$top/tests/demo/smtp-sink.mjs" "$work/mails" --port-file "$work/smtp.port" >"$work/smtp.log" 2>&1 9>&- &
pids+=($!)
for _ in $(seq 100); do [ -s "$work/smtp.port" ] && break; sleep 0.1; done
[ -s "$work/smtp.port" ] || die "the mail server did not start: $(cat "$work/smtp.log")"
cat >"$work/mmbisect.conf" <<CONF
[daemon]
state = $demo/daemon
verify_runs = ${VERIFY_RUNS:-5}
[mail]
server = smtp://127.0.0.1:$(cat "$work/smtp.port")
from = mmbisect@example.org
to = linux-mm@example.org
[tree demo]
url = $tree
branches = refs/heads/master
workloads = thread-stack
arches = x86_64
poll_seconds = 2
CONF
: >"$log"
start_daemon
"$bin/mmbisect-web" --db "$demo/daemon/mmbisect.db" --listen 127.0.0.1:0 --port-file "$work/web.port" >"$work/web.log" 2>&1 9>&- &
pids+=($!)
for _ in $(seq 100); do [ -s "$work/web.port" ] && break; sleep 0.1; done
[ -s "$work/web.port" ] || die "the web server did not start: $(cat "$work/web.log")"
url=http://127.0.0.1:$(cat "$work/web.port")/
echo "what goes on can be seen at $url"

say "4. the good tip is pushed"
git --git-dir "$base" push -q "$tree" "$good:refs/heads/master"
wait_for "SELECT 1 FROM tip WHERE oid = '$good' AND state IN ('accepted', 'failed')" "accepted first tip"
say "5. the rest is pushed, and on a second branch a fix"
git --git-dir "$base" push -q "$tree" "$(field fix):refs/heads/fixes"
git --git-dir "$base" push -q "$tree" "$bad:refs/heads/master"
wait_for "SELECT 1 FROM tip WHERE oid = '$bad' AND state IN ('accepted', 'failed')" "answer"
wait_for "SELECT 1 FROM (SELECT count(*) AS n FROM mail WHERE state = 'queued') WHERE n = 0" "mail"

say "6. the mail"
mail=$(find "$work/mails" -name '*.eml' | sort | tail -1)
culprit=none
if [ -n "$mail" ]; then
	cat "$mail"
	culprit=$(sed -n 's/\r$//; s/^  commit  *\([0-9a-f]\{40\}\)$/\1/p' "$mail" | head -1)
fi
say "7. the page"
code=$(curl -s -o "$work/findings.json" -w '%{http_code}' "${url}api/findings.json")
echo "findings and steps: $url (HTTP $code); $(($(date +%s) - start_s)) s in all"
[ "$code" = 200 ] || die "the page does not answer"

verdict=right
[ "$culprit" = "$planted" ] || verdict=WRONG
[ -t 1 ] && [ -t 0 ] && echo "Ctrl-C ends it."
echo "culprit $culprit planted $planted: $verdict"
[ "$verdict" = right ] || exit 1
if [ -t 1 ] && [ -t 0 ]; then
	trap 'exit 0' INT
	wait
fi
