#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Several jobs at once: a daemon with two executors of class time, killed again and again, and exact searches whose images are there
# already. Workers of tests/stand-ins.sh. Environment: KILLS, how often the daemon is killed (default 5).
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
. tests/stand-ins.sh
trap '[ -z "$daemon" ] || kill -KILL "$daemon"; cleanup' EXIT
cp "$BIN/mmbisectd" "$T/bin/"
on_failure() { tail -n 15 "$T/err" "$T/log" | sed 's/^/# /'; }
UNTIL_TRIES=600

for ((i = 0; i < 24; i++)); do
	level=1.0
	((i >= 14)) && level=1.3
	((i == 7)) && level=broken
	level "c$i" "$level"
done

# --- exact: a second workload finds the images, and takes several of them at once ---
sed 's/^name = .*/name = second/' "$T/configs/workloads/thread-stack.conf" >"$T/configs/workloads/second.conf"
wants() { sql exact "SELECT max(n) FROM (SELECT count(*) AS n FROM search_log WHERE search_id = $1 AND phase = 'search' AND action = 'measure' GROUP BY reason)"; }
: >"$T/log"
bisect exact c0 c23 --no-verify --json
ok 'exact: the culprit' is "$(field "$T/out" d.culprit)" "$(oid c14)"
ok 'exact: an image each time, one commit at a time' is "$(wants 1)" 1
builds=$(sql exact 'SELECT count(*) FROM build')
bisect exact c0 c23 --no-verify --json --workload second
ok 'a second workload: the same' is "$(field "$T/out" d.culprit)" "$(oid c14)"
ok 'a second workload: no build' is "$(sql exact 'SELECT count(*) FROM build')" "$builds"
if [ "$(nproc)" -gt 1 ]; then
	ok 'a second workload: several at once' [ "$(wants 2)" -gt 1 ]
else
	skip 'one core, one slot'
fi

# --- class time ---
cat >"$T/conf" <<CONF
[daemon]
state = $T/daemon
configs = $T/configs
verify_runs = 0
executors = 2
[tree t]
url = $R
branches = refs/heads/main
workloads = thread-stack
arches = x86_64
poll_seconds = 60
CONF
start() {
	"$T/bin/mmbisectd" --config "$T/conf" >>"$T/log" 2>&1 </dev/null &
	daemon=$!
}
stop() {
	kill "-${1:-TERM}" "$daemon" 2>/dev/null
	wait "$daemon" 2>/dev/null
	daemon=
}
look() { sqlite3 -readonly -cmd '.timeout 2000' "$T/daemon/mmbisect.db" "$1" 2>/dev/null; }
accepted() { [ "$(look "SELECT count(*) FROM tip WHERE state = 'accepted'")" = 1 ]; }
ended() { [ "$(look "SELECT state FROM search WHERE id = $1")" = 'done' ]; }
# A person's question to the daemon: what detection writes.
question() {
	sqlite3 -cmd '.timeout 5000' "$T/daemon/mmbisect.db" "INSERT INTO search (tree, ref, good, bad, workload, arch, metric, class, created_ns)
		VALUES ('t', 'refs/heads/main', '$(oid c0)', '$(oid c23)', 'thread-stack', 'x86_64', 'sys', 'time', 1)"
}
mkdir "$T/running"
: >"$T/at-once"
start
ok 'the tip is accepted' until_ accepted
stop
question
start
ok 'a search among noise with two executors ends' until_ ended 1
stop
ok 'its culprit' is "$(look 'SELECT culprit FROM search WHERE id = 1')" "$(oid c14)"
ok 'two runs at a time, never more' is "$(sort -n "$T/at-once" | tail -n 1)" 2
ok 'a decision asks for more than one commit' [ "$(look "SELECT max(n) FROM (SELECT count(DISTINCT oid) AS n FROM search_log
	WHERE search_id = 1 AND phase = 'search' AND action = 'measure' GROUP BY reason)")" -gt 1 ]
ok 'no job is left' is "$(look "SELECT count(*) FROM job WHERE state IN ('queued', 'leased')")" 0

mv "$T/daemon" "$T/whole"
start
until_ accepted
stop
question
kills=0
while [ $kills -lt "${KILLS:-5}" ]; do
	rm -f "$T/running/"*
	start
	sleep "0.$((RANDOM % 8 + 2))"
	ended 1 && break
	stop KILL
	kills=$((kills + 1))
done
[ -n "$daemon" ] || start
ok "killed $kills times it ends" until_ ended 1
stop
ok 'with the same culprit' is "$(look 'SELECT culprit FROM search WHERE id = 1')" "$(oid c14)"
ok 'by the same verdict' is "$(look 'SELECT verdict FROM search WHERE id = 1')" culprit
ok 'and no job is left' is "$(look "SELECT count(*) FROM job WHERE state IN ('queued', 'leased')")" 0

done_testing
