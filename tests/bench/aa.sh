#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A/A: equal and no-op kernels, through the daemon's own detection. Nothing may be found and nothing mailed.
#
#   exact  a watched branch gets TIPS tips (default 10), one after the other, each a change that changes nothing (make-aa.mjs); the
#          daemon must accept all of them, each compared with the one before
#   time   the same with time = yes and PAIRS tips (default 3), TIME_PAIRS runs of each side (default 20); then two no-op images
#          run in turns, BOOTS times each (default 60), and 200 comparisons by judge_sequential() of splits of those runs
#
# PARTS="exact time pool" (default all), SEED=1, BENCH_DIR (default state/bench-aa; base.git and daemon/ in it are used again), O.
# Exit status 1 when anything was found.
set -euo pipefail
cd "$(dirname "$0")/../.."
O=$(realpath "${O:-out}")
work=${BENCH_DIR:-$PWD/state/bench-aa}
parts=${PARTS:-exact time pool}
seed=${SEED:-1}
mkdir -p "$work/daemon"
base=$work/base.git
tree=$work/aa.git
daemon=''
trap '[ -z "$daemon" ] || { kill "$daemon" 2>/dev/null; wait "$daemon" 2>/dev/null; } || true' EXIT
wrong=0

db() { sqlite3 -readonly -cmd '.timeout 5000' "$work/daemon/mmbisect.db" "$1" 2>/dev/null || true; }
wants() { [[ " $parts " == *" $1 "* ]]; }

bash tests/demo/make-base.sh "$base"

start() { # start TIME TIME_PAIRS: a new database; images, ccache and slots stay
	rm -rf "$tree" "$work/daemon/mmbisect.db"* "$work/daemon/logs"
	git init -q --bare "$tree"
	echo "$base/objects" >"$tree/objects/info/alternates"
	# The port takes no connection: a mail would stay queued, and be counted.
	cat >"$work/aa.conf" <<-CONF
		[daemon]
		state = $work/daemon
		configs = $PWD/configs
		[mail]
		server = smtp://127.0.0.1:1
		from = mmbisect@example.org
		to = nobody@example.org
		[tree aa]
		url = $tree
		branches = refs/heads/main
		workloads = thread-stack
		arches = x86_64
		poll_seconds = 1
		time = $1
		time_pairs = $2
	CONF
	"$O/bin/mmbisectd" --config "$work/aa.conf" >>"$work/aa.log" 2>&1 </dev/null &
	daemon=$!
}
stop() {
	kill "$daemon"
	wait "$daemon" || true
	daemon=''
}

push_tip() { # push_tip OID: waits until the daemon has made up its mind
	local state
	git --git-dir "$tree" update-ref refs/heads/main "$1"
	while true; do
		state=$(db "SELECT state FROM tip WHERE oid = '$1' ORDER BY id DESC LIMIT 1")
		[ -z "$state" ] || [ "$state" = new ] || break
		kill -0 "$daemon" 2>/dev/null || { echo "the daemon ended; $work/aa.log"; exit 1; }
		sleep 0.3
	done
	[ "$state" = accepted ] || echo "  $1 is $state"
}

# Each image with each other, not just with the one before: no two of them may differ by more than the floor.
compare_all() { # compare_all IMAGES
	local spread floor
	spread=$(db "SELECT max(median) / min(median) - 1 FROM level WHERE metric = 'madvise_call'")
	floor=$(sed -n '/^\[floor\]/,$s/^madvise_call = //p' configs/workloads/thread-stack.conf)
	echo "$(($1 * ($1 - 1) / 2)) pairs of images: madvise_call differs by $spread at most (floor $floor)"
	[ "$(echo "$spread <= $floor" | bc -l)" = 1 ] || wrong=1
}

through_daemon() { # through_daemon NAME TIPS TIME TIME_PAIRS
	local begin=$SECONDS tips=0 oid
	: >"$work/aa.log"
	start "$3" "$4"
	push_tip "$(git --git-dir "$base" rev-parse base)"
	while read -r oid _; do
		push_tip "$oid"
		tips=$((tips + 1))
		[ $((SECONDS - begin)) -lt "${LIMIT:-86400}" ] || break
	done < <(node tests/bench/make-aa.mjs --repo "$base" --count "$2" --seed "$seed")
	stop
	local accepted images runs searches mails
	accepted=$(($(db "SELECT count(*) FROM tip WHERE state = 'accepted'") - 1))
	images=$(db "SELECT count(DISTINCT signature) FROM build")
	runs=$(db "SELECT count(*) FROM run")
	searches=$(db 'SELECT count(*) FROM search')
	mails=$(db 'SELECT count(*) FROM mail')
	echo "$1: $tips pairs, $accepted accepted, $images images of their own, $runs boots, $searches searches, $mails mails, $((SECONDS - begin)) s"
	[ "$accepted" = "$tips" ] && [ "$searches" = 0 ] && [ "$mails" = 0 ] || wrong=1
	[ "$3" = yes ] || compare_all "$images"
}

pool() {
	local begin=$SECONDS
	local commits
	mapfile -t commits < <(node tests/bench/make-aa.mjs --repo "$base" --count 2 --seed "$seed" | cut -d' ' -f1)
	"$O/bin/mmbisect" compare --repo "$base" --workload thread-stack --class time --times "${BOOTS:-60}" --state "$work/daemon" --configs "$PWD/configs" --quiet --json \
		"${commits[@]}" >"$work/pool.json"
	echo "pool: two images, ${BOOTS:-60} boots each, $((SECONDS - begin)) s"
	"$O/tests/bench/aa-pool" "$work/pool.json" sys 200 "$seed" 0.02 || wrong=1
}

if wants exact; then through_daemon exact "${TIPS:-10}" no 100; fi
if wants time; then through_daemon time "${PAIRS:-3}" yes "${TIME_PAIRS:-20}"; fi
if wants pool; then pool; fi
[ "$wrong" = 0 ] || { echo 'A/A: WRONG'; exit 1; }
echo 'nothing found, nothing mailed'
