#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A real mmbisectd that compares tips in time too, on small repositories that are no kernels: what it measures and searches, and
# what it does with a person's word. Its workers are stand-ins beside a copy of the programs: a build that fails when the tree
# says so, a run that prints the numbers that the tree holds, with noise on machines of class time.
# Environment: O, the build folder (default out).
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
BIN=$(realpath "${O:-out}/bin") || exit 1
T=$(mktemp -d)

cleanup() {
	[ -z "$daemon" ] || kill -KILL "$daemon" 2>/dev/null
	rm -rf "$T"
}
trap cleanup EXIT
export HOME=$T/home GIT_CONFIG_GLOBAL=/dev/null

on_failure() { tail -n 15 "$T/log" | sed 's/^/# /'; }
UNTIL_TRIES=900
sql() {
	sqlite3 -readonly -cmd '.timeout 2000' "$T/state/mmbisect.db" "$1" 2>/dev/null
}
is() { [ "$(sql "$1")" = "$2" ]; }

# --- programs and definitions ---
mkdir -p "$T/bin" "$T/guest/x86_64"
cp "$BIN/mmbisectd" "$BIN/mmbisect" "$T/bin/"
echo guest >"$T/guest/x86_64/initramfs.cpio"
cp -r configs "$T/configs"
chmod -R u+w "$T/configs"
sed -i 's/^accel = .*/accel = tcg/' "$T/configs/machines/time-x86_64.conf"
sed -i '/^\[floor.time\]/,$ s/^default = .*/default = 0.06/' "$T/configs/workloads/thread-stack.conf"
cat >"$T/bin/mmbisect-build" <<'SH'
#!/bin/bash
job=$(cat)
get() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" <<<"$job"; }
image=$(git --git-dir "$(get repo)" show "$(get commit):level" "$(get commit):image") || exit 1
if grep -q hold <<<"$image"; then # until the test says go
	while [ ! -e "$(dirname "$0")/../go" ]; do sleep 0.1; done
fi
sig=$(printf '%s' "$image" | sha256sum | cut -d' ' -f1)
mkdir -p "$(get out)" && head -n 1 <<<"$image" >"$(get out)/kernel"
printf '{"result":{"status":"ok","signature":"%s","kernel":"%s/kernel","config_hash":"%s","toolchain":"t","unknown_options":[],"seconds":0.1,"cached":false}}\n' \
	"$sig" "$(get out)" "$sig"
SH
# level: a line "EXACT TIME": ns a call, and thousandths of a second of sys that get 3 % of noise.
cat >"$T/bin/mmbisect-run" <<'SH'
#!/bin/bash
job=$(cat)
kernel=$(sed -n 's/.*"kernel": *"\([^"]*\)".*/\1/p' <<<"$job")
read -r exact time <"$kernel"
if grep -q '"class": *"exact"' <<<"$job"; then
	sample="{\"metric\":\"madvise_call\",\"value\":$exact,\"unit\":\"ns/call\",\"better\":\"lower\",\"class\":\"exact\"}"
else
	z=0
	for ((i = 0; i < 12; i++)); do z=$((z + RANDOM)); done # mean 196602, spread 32767
	value=$((time * (1000000 + 30 * (z - 196602) * 1000 / 32767) / 1000000))
	sample="{\"metric\":\"sys\",\"value\":$((value / 1000)).$(printf %03d $((value % 1000))),\"unit\":\"s\",\"better\":\"lower\",\"class\":\"time\"}"
fi
printf '{"result":{"status":"ok","title":null,"error":null,"samples":[%s],"seconds":0.1,"boot_seconds":0.1}}\n' "$sample"
SH
printf '#!/bin/bash\ncat >/dev/null\n' >"$T/bin/mmbisect-mail" # never sends: mails stay queued
chmod +x "$T"/bin/mmbisect-*

# --- trees ---
U=$T/other
R=$T/tree
git_ init -q "$R"
git_ init -q "$U"
commit() { # LEVEL [IMAGE]: on the current branch; every image is another one unless it is said
	echo "$1" >"$R/level"
	echo "${2:-$(date +%N)}" >"$R/image"
	git_ -C "$R" add level image
	git_ -C "$R" commit -q --allow-empty -m "level $1"
	git -C "$R" rev-parse HEAD
}
{
	printf '[daemon]\nstate = %s\nconfigs = %s\nverify_runs = 0\n' "$T/state" "$T/configs"
	printf '[mail]\nserver = smtp://127.0.0.1:1\nfrom = a@example.org\nto = b@example.org\n'
	printf '[tree t]\nurl = %s\nbranches = refs/heads/main\nworkloads = thread-stack\narches = x86_64\npoll_seconds = 1\n' "$R"
	printf 'time = yes\ntime_pairs = 60\n'
	# five pairs are too few to be sure of anything below a dozen standard deviations
	printf '[tree u]\nurl = %s\nbranches = refs/heads/main\nworkloads = thread-stack\narches = x86_64\npoll_seconds = 1\n' "$U"
	printf 'time = yes\ntime_pairs = 5\n'
} >"$T/mmbisect.conf"
start() {
	"$T/bin/mmbisectd" --config "$T/mmbisect.conf" >>"$T/log" 2>&1 </dev/null &
	daemon=$!
}
tip() { is "SELECT count(*) > 0 FROM tip WHERE oid = '$1' AND state = '$2'" 1; }
time_runs() { sql "SELECT count(*) FROM run r JOIN series s ON s.hash = r.series WHERE s.class = 'time'"; }
reason() { sql "SELECT reason FROM tip WHERE oid = '$1' ORDER BY id DESC LIMIT 1"; }

: >"$T/log"
first=$(commit '1000 5000' one)
start
ok 'the first tip is accepted' until_ tip "$first" accepted
ok 'without any run in time' [ "$(time_runs)" = 0 ]
same=$(commit '1000 5000' one)
ok 'a tip of the same image' until_ tip "$same" accepted
ok 'needs none either' [ "$(time_runs)" = 0 ]

noop=$(commit '1000 5000')
ok 'a tip of another image that is not slower is accepted' until_ tip "$noop" accepted
runs=$(time_runs)
ok "after runs in time ($runs)" [ "$runs" -ge 20 ]
ok 'of both images, equally often' is \
	"SELECT count(DISTINCT c) || ' ' || count(*) FROM (SELECT count(*) AS c FROM run r JOIN series s ON s.hash = r.series WHERE s.class = 'time' GROUP BY signature)" '1 2'
# base, tip, tip, base: A the image that ran first
order=$(sql "SELECT group_concat(CASE WHEN signature = (SELECT signature FROM run r JOIN series s ON s.hash = r.series WHERE s.class = 'time' ORDER BY r.id LIMIT 1) THEN 'A' ELSE 'B' END, '') FROM (SELECT signature FROM run r JOIN series s ON s.hash = r.series WHERE s.class = 'time' ORDER BY r.id)")
ok "in turns ($order)" grep -Eq '^(ABBA)+(AB)?$' <<<"$order"

# --- killed in the middle of a comparison ---
again=$(commit '1000 5000')
more_runs() { [ "$(time_runs)" -gt $((runs + 5)) ]; }
ok 'the next comparison is under way' until_ more_runs
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null
start
ok 'and is taken up after a kill' until_ tip "$again" accepted
ok 'the level before was run anew for it' is \
	"SELECT count(*) > 0 FROM run r JOIN series s ON s.hash = r.series WHERE s.class = 'time' AND r.oid = '$noop' AND r.id > (SELECT run_order FROM tip WHERE oid = '$again')" 1

# --- slower in time only ---
git_ -C "$R" checkout -q -b work
commit '1000 5000' >/dev/null
culprit=$(commit '1000 6500')
commit '1000 6500' >/dev/null
bad=$(commit '1000 6500')
git_ -C "$R" checkout -q main
git_ -C "$R" merge -q --ff-only work
ok 'a tip that is slower in time is searched' until_ tip "$bad" searched
ok 'by that class and metric' is "SELECT class || ' ' || metric FROM search WHERE bad = '$bad'" 'time sys'
ok 'with what was seen as its claim' is "SELECT claim BETWEEN 0.2 AND 0.4 FROM search WHERE bad = '$bad'" 1
ok 'and the commit found' until_ is "SELECT verdict || ' ' || culprit FROM search WHERE bad = '$bad'" "culprit $culprit"
ok 'a finding' until_ is "SELECT count(*) FROM finding WHERE culprit = '$culprit'" 1
ok 'with a mail' is "SELECT state FROM mail" queued
ok 'the tip is accepted: its level is known' until_ tip "$bad" accepted

# --- a person's word ---
mmbisect() {
	"$T/bin/mmbisect" "$@" --state "$T/state" >"$T/out" 2>"$T/err" </dev/null
}
says() { # STATUS PATTERN
	[ "$status" = "$1" ] && grep -q -- "$2" "$T/out" "$T/err" && return
	sed 's/^/# /' "$T/out" "$T/err"
	return 1
}
word() { # TITLE STATUS PATTERN ARGS...
	local title=$1 want=$2 pattern=$3
	shift 3
	mmbisect "$@"
	status=$?
	ok "$title" says "$want" "$pattern"
}
word 'no reason' 2 '--reason is needed' known 1
word 'an empty reason' 2 'a reason is needed' known 1 --reason ' '
word 'no finding' 2 'give one finding' known --reason x
word 'a finding that is not there' 2 "there is no finding '99'" wrong 99 --reason x
word 'a tip that is not there' 2 "no finding and no tip 'fffffff'" wrong fffffff --reason x
word 'a finding is known' 0 'finding 1: known' known 1 --reason 'a trade-off'
ok 'its mail is withdrawn' is 'SELECT state || error FROM mail' failedknown
word 'as JSON' 0 '"status": "ok"' known 1 --reason 'still a trade-off' --json
ok 'both words are kept' is "SELECT group_concat(state || ':' || reason, ' ') FROM word" 'known:a trade-off known:still a trade-off'
word 'a tip by the start of its commit' 0 "tip ${noop:0:12}: wrong" wrong "${noop:0:9}" --reason 'it was the host'
word 'the finding is accepted' 0 'finding 1: accepted' accept 1 --reason 'as agreed'
ok 'its tip is the base line' is "SELECT reason FROM tip WHERE oid = '$bad'" 'accepted: as agreed'
ok 'the socket is for its owner only' [ "$(stat -c %a "$T/state/control.sock")" = 600 ]

# --- the same patch again, under another id: rebased, with both classes of metric moved ---
git_ -C "$R" checkout -q -b rebase "$again"
git_ -C "$R" commit -q --allow-empty -m 'something before it'
for c in $(git -C "$R" rev-list --reverse "$again..$bad"); do
	git_ -C "$R" cherry-pick --allow-empty --keep-redundant-commits "$c" >/dev/null 2>&1
done
git_ -C "$R" checkout -q -B main "$again"
faster=$(commit '1000 5000')
ok 'back on the older level: accepted' until_ tip "$faster" accepted
git_ -C "$R" checkout -q -B main rebase
moved=$(git -C "$R" rev-parse HEAD)
ok 'the rebased patch is searched' until_ tip "$moved" searched
ok 'and found' until_ is "SELECT count(*) FROM search WHERE bad = '$moved' AND settled = 1 AND verdict = 'culprit'" 1
ok 'in the same finding' is 'SELECT count(*) FROM finding' 1
ok 'which has both searches' is 'SELECT count(*) FROM finding_search WHERE finding_id = 1' 2
ok 'without another mail' is 'SELECT count(*) FROM mail' 1

# --- creep: each step below the floor of 0.2 %, all of them above it ---
for level in 1001 1002 1003; do
	crept=$(commit "$level 6500" "creep $level")
	ok "a step of a thousandth is accepted ($level)" until_ tip "$crept" accepted
done
ok 'their sum is noted' grep -q 'madvise_call of thread-stack on x86_64 has crept: x 1.003 since' <<<"$(reason "$crept")"

# --- accepted while it is searched: no mail ---
git_ -C "$R" checkout -q -b pair
culprit=$(commit '2000 6500' hold)
slow=$(commit '2000 6500')
git_ -C "$R" checkout -q main
git_ -C "$R" merge -q --ff-only pair
ok 'an exact metric that is slower is searched' until_ is "SELECT count(*) FROM search WHERE bad = '$slow' AND class = 'exact'" 1
word 'its tip is accepted at once' 0 ': accepted' accept "$slow" --reason 'we know'
touch "$T/go"
ok 'the search ends' until_ is "SELECT count(*) FROM search WHERE bad = '$slow' AND settled = 1" 1
ok 'its finding has the word' is "SELECT w.state || ': ' || w.reason FROM word w JOIN finding f ON f.id = w.finding_id WHERE f.culprit = '$culprit'" 'accepted: we know'
ok 'and no mail' is 'SELECT count(*) FROM mail' 1

# --- a step that no comparison can be sure of, and two tips behind it ---
for i in 1 2 3 4 5 6 7; do
	same=$(R=$U commit "3000 5000")
	ok "another tree, tip $i" until_ tip "$same" accepted
done
step=$(R=$U commit "3000 5600")
ok 'the first tip behind a step is accepted' until_ tip "$step" accepted
late=$(R=$U commit "3000 5600")
ok 'the second shows it: it is searched' until_ is "SELECT class || ' ' || (good = '$same') FROM search WHERE bad = '$late'" 'time 1'
ok 'and found' until_ is "SELECT culprit FROM search WHERE bad = '$late'" "$step"

# --- said of a tip whose finding is there already ---
worse=$(commit '4000 6500')
ok 'slower once more' until_ is "SELECT count(*) FROM finding WHERE culprit = '$worse'" 1
ok 'with a mail' is "SELECT state FROM mail ORDER BY id DESC LIMIT 1" queued
word 'its tip is said to be wrong' 0 ': wrong' wrong "$worse" --reason 'the host again'
ok 'so is its finding' is "SELECT w.state FROM word w JOIN finding f ON f.id = w.finding_id WHERE f.culprit = '$worse'" wrong
ok 'and its mail is withdrawn' is "SELECT state FROM mail ORDER BY id DESC LIMIT 1" failed
kill -TERM "$daemon"
wait "$daemon"
ok 'SIGTERM ends it with 0' [ $? = 0 ]
ok 'the socket is gone with it' [ ! -e "$T/state/control.sock" ]
word 'without a daemon' 3 'no mmbisectd listens on' known 1 --reason x
ok 'the database is whole' is 'PRAGMA integrity_check' ok
ok 'no sanitizer has complained' [ "$(grep -c 'ERROR: \|runtime error' "$T/log")" = 0 ]

done_testing
