#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A real mmbisectd and what it proves before it mails: findings whose proof fails, the end of a patch's series, other branches that hold
# the patch, several metrics of one patch. Its workers are stand-ins beside a copy of the programs: a build that waits when the tree
# says so, a run that prints the numbers that the tree holds. Environment: O, the build folder (default out).
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
UNTIL_TRIES=600
sql() {
	sqlite3 -readonly -cmd '.timeout 2000' "$T/state/mmbisect.db" "$1" 2>/dev/null
}
is() {
	[ "$(sql "$1")" = "$2" ]
}

# --- programs and definitions ---
mkdir -p "$T/bin" "$T/guest/x86_64"
cp "$BIN/mmbisectd" "$T/bin/"
echo guest >"$T/guest/x86_64/initramfs.cpio"
cp -r configs "$T/configs"
chmod -R u+w "$T/configs"
sed -i 's/^accel = .*/accel = tcg/' "$T/configs/machines/time-x86_64.conf"
sed -i '/^\[floor.time\]/,$ s/^default = .*/default = 0.06/; s/^driver = .*/&\nwatch = faults, madvise_call/' "$T/configs/workloads/thread-stack.conf"
cat >"$T/bin/mmbisect-build" <<'SH'
#!/bin/bash
job=$(cat)
get() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" <<<"$job"; }
image=$(git --git-dir "$(get repo)" show "$(get commit):level" "$(get commit):image") || exit 1
if grep -q hold <<<"$image"; then # until the test says go
	while [ ! -e "$(dirname "$0")/../go" ]; do sleep 0.1; done
fi
sig=$(printf '%s' "$image" | sha256sum | cut -d' ' -f1)
mkdir -p "$(get out)" && echo "$image" >"$(get out)/kernel"
printf '{"result":{"status":"ok","signature":"%s","kernel":"%s/kernel","config_hash":"%s","toolchain":"t","unknown_options":[],"seconds":0.1,"cached":false}}\n' \
	"$sig" "$(get out)" "$sig"
SH
# level: a line "EXACT TIME FAULTS". An image that fades is as fast as the rest once a search in time has a verdict.
cat >"$T/bin/mmbisect-run" <<'SH'
#!/bin/bash
job=$(cat)
kernel=$(sed -n 's/.*"kernel": *"\([^"]*\)".*/\1/p' <<<"$job")
read -r exact time faults <"$kernel"
if grep -q '"class": *"exact"' <<<"$job"; then
	printf -v samples '{"metric":"%s","value":%s,"unit":"ns/call","better":"lower","class":"exact"},' madvise_call "$exact" faults "$faults"
else
	db=$(dirname "$0")/../state/mmbisect.db
	if grep -q fade "$kernel" && [ "$(sqlite3 -readonly -cmd '.timeout 2000' "$db" "SELECT count(*) FROM search WHERE class = 'time' AND verdict IS NOT NULL")" != 0 ]; then
		time=5000
	fi
	z=0
	for ((i = 0; i < 12; i++)); do z=$((z + RANDOM)); done # mean 196602, spread 32767
	value=$((time * (1000000 + 30 * (z - 196602) * 1000 / 32767) / 1000000))
	printf -v samples '{"metric":"sys","value":%d.%03d,"unit":"s","better":"lower","class":"time"},' $((value / 1000)) $((value % 1000))
fi
printf '{"result":{"status":"ok","title":null,"error":null,"samples":[%s],"seconds":0.1,"boot_seconds":0.1}}\n' "${samples%,}"
SH
printf '#!/bin/bash\ncat >/dev/null\n' >"$T/bin/mmbisect-mail" # never sends: mails stay queued
chmod +x "$T"/bin/mmbisect-*

# --- trees ---
R=$T/tree
git_ init -q "$R"
minute=0
commit() { # LEVEL [SUBJECT [IMAGE]]: every image is another one; commits are an hour apart
	echo "$1" >"$R/level"
	echo "${3:-} $((minute++)) $RANDOM" >"$R/image"
	git_ -C "$R" add level image
	GIT_AUTHOR_DATE="@$((1600000000 + 3600 * minute)) +0000" GIT_COMMITTER_DATE="@$((1600000000 + 3600 * minute)) +0000" \
		git_ -C "$R" commit -q -m "${2:-level $1}"
	git -C "$R" rev-parse HEAD
}
{
	printf '[daemon]\nstate = %s\nconfigs = %s\nverify_runs = 2\n' "$T/state" "$T/configs"
	printf '[mail]\nserver = smtp://127.0.0.1:1\nfrom = a@example.org\nto = b@example.org\n'
	printf '[tree t]\nurl = %s\nworkloads = thread-stack\narches = x86_64\npoll_seconds = 1\ntime = yes\ntime_pairs = 60\n' "$R"
	printf 'branches = refs/heads/main, refs/heads/next, refs/heads/calm, refs/heads/old\n'
} >"$T/mmbisect.conf"
tip() { is "SELECT count(*) > 0 FROM tip WHERE oid = '$1' AND state = '$2'" 1; }
settled() { is "SELECT count(*) > 0 AND min(settled) = 1 FROM search WHERE bad = '$1'" 1; }
doc() { # doc BAD PATH [METRIC]: of the document of the search
	sql "SELECT json_extract(document, '$2') FROM search WHERE bad = '$1' ORDER BY id LIMIT 1"
}
row() { # row BAD ROW METRIC
	sql "SELECT json_extract(r.value, '\$.metrics.exact.$3.median') FROM search s, json_each(s.document, '\$.verify') r WHERE s.bad = '$1' AND json_extract(r.value, '\$.row') = '$2'"
}
push_to() { git_ -C "$R" update-ref refs/heads/main HEAD; }
report_of() { sql "SELECT report FROM finding WHERE culprit = '$1'" | tr '\n' ' ' | tr -s ' '; }
says() { grep -q -- "$2" <<<"$(report_of "$1")"; }

: >"$T/log"
base=$(commit '1000 5000 100')
"$T/bin/mmbisectd" --config "$T/mmbisect.conf" >>"$T/log" 2>&1 </dev/null &
daemon=$!
ok 'the first tip is accepted' until_ tip "$base" accepted

# --- a proof that fails, exact: the sum of the range is above the floor of 0.2 %, no step of it is ---
git_ -C "$R" checkout -q --detach
for level in 1001 1002; do commit "$level 5000 100" >/dev/null; done
bad=$(commit '1003 5000 100')
push_to
ok 'a range that creeps is searched to its end' until_ settled "$bad"
ok 'and ends in one of its commits' [ "$(doc "$bad" '$.verdict')" = culprit ]
ok 'which the proof does not show' [ "$(doc "$bad" '$.status') $(doc "$bad" '$.proof.state')" = 'not-proved not-shown' ]
ok 'it is kept, with the reason' is "SELECT count(*) FROM finding WHERE unproved LIKE '%not above the floor%'" 1
ok 'and not mailed' is 'SELECT count(*) FROM mail' 0
ok 'its report says so' says "$(sql 'SELECT culprit FROM finding')" 'NOT PROVED, and not mailed'

# --- two metrics of one patch; the one that moved more by its floor is searched ---
commit '1003 5000 100' >/dev/null
two=$(commit '1013 5000 200')
bad=$(commit '1013 5000 200')
push_to
ok 'two metrics of a patch: searched' until_ settled "$bad"
ok 'once, by the larger' is "SELECT group_concat(metric || class) FROM search WHERE bad = '$bad'" faultsexact
ok 'one finding' is "SELECT count(*) FROM finding WHERE culprit = '$two'" 1
ok 'one mail' is 'SELECT count(*) FROM mail' 1
ok 'its proof shows it' [ "$(doc "$bad" '$.status') $(doc "$bad" '$.proof.state')" = 'ok shown' ]
ok 'the other metric is evidence' [ "$(doc "$bad" '$.also[0].metric') $(doc "$bad" '$.also[0].relation')" = 'madvise_call worse' ]
ok 'in the report, too' says "$two" 'also moved madvise_call'

# --- two metrics, each moved by a patch of its own in one range ---
first=$(commit '1013 5000 400')
second=$(commit '1113 5000 400')
push_to
ok 'two patches, a metric each: both are found' until_ is "SELECT count(*) FROM finding WHERE culprit IN ('$first', '$second')" 2
ok 'by a search each' is "SELECT group_concat(metric) FROM search WHERE bad = '$second'" faults,madvise_call
ok 'with a mail each' until_ is 'SELECT count(*) FROM mail' 3

# --- a series whose end takes it back, and other branches ---
git_ -C "$R" branch -q old "$first"
ok 'a branch without the patch is watched' until_ is "SELECT count(*) FROM tip WHERE ref = 'refs/heads/old' AND state = 'accepted'" 1
series() { # LEVEL NUMBER [hold]: within a minute of the one before
	echo "$1" >"$R/level"
	echo "series $2 ${3:-}" >"$R/image"
	git_ -C "$R" add level image
	GIT_AUTHOR_DATE="@$((1700000000 + $2)) +0000" GIT_COMMITTER_DATE="@$((1700000000 + $2)) +0000" \
		git_ -C "$R" commit -q -m "patch $2" -m "Link: https://lore.kernel.org/r/20231114.topic-v1-$2-abcdef@example.org"
	git -C "$R" rev-parse HEAD
}
rm -f "$T/go"
p1=$(series '9000 5000 400' 1 hold)
p2=$(series '9000 5000 400' 2)
push_to
ok 'the middle of a series is searched' until_ tip "$p2" searched
p3=$(series '1113 5000 400' 3)
git_ -C "$R" update-ref refs/heads/calm "$p3"
push_to
git_ -C "$R" checkout -q --detach "$second"
git_ -C "$R" commit -q --allow-empty -m 'before the copy'
git_ -C "$R" cherry-pick "$p1" >/dev/null
copy=$(git -C "$R" rev-parse HEAD)
git_ -C "$R" update-ref refs/heads/next "$copy"
ok 'the branches are seen' until_ is "SELECT count(*) FROM ref_event WHERE oid IN ('$copy', '$p3')" 3
touch "$T/go"
ok 'the culprit is found' until_ is "SELECT count(*) FROM finding WHERE culprit = '$p1'" 1
ok 'the end of its series was measured' [ "$(row "$p2" series-end madvise_call)" = 1113.0 ]
ok 'and is as its parent' says "$p1" "series gone at the end of the culprit's series"
ok 'why it is taken for one is said' says "$p1" 'message ids are numbers of one thread'
heads() { sql "SELECT group_concat(json_extract(r.value, '\$.label'), ', ') FROM search s, json_each(s.document, '\$.verify') r WHERE s.bad = '$p2' AND json_extract(r.value, '\$.row') LIKE 'branch%'"; }
ok "the heads that hold it, no others ($(heads))" grep -Eqx 'head of t (calm, head of t next|next, head of t calm)' <<<"$(heads)"
ok 'by id: it is gone there' says "$p1" 'gone at the head of t calm'

# --- a proof that fails among noise: the change is gone once there is a verdict ---
git_ -C "$R" checkout -q --detach "$second"
commit '1113 5000 400' >/dev/null
git_ -C "$R" checkout -q -B main
level=$(git -C "$R" rev-parse HEAD)
ok 'back on the level before' until_ tip "$level" accepted
git_ -C "$R" checkout -q --detach
fading=$(commit '1113 6500 400' 'a host that was slow for a while' fade)
bad=$(commit '1113 6500 400' 'and still' fade)
push_to
mails=$(sql 'SELECT count(*) FROM mail')
ok 'slower in time, for a while' until_ settled "$bad"
ok 'a culprit by the search' is "SELECT class || verdict FROM search WHERE bad = '$bad'" timeculprit
ok 'but its proof is made of fresh runs' [ "$(doc "$bad" '$.proof.state')" = not-shown ]
ok 'it is not proved' is "SELECT count(*) FROM finding WHERE culprit IN ('$fading', '$bad') AND unproved IS NOT NULL" 1
ok 'and not mailed' is 'SELECT count(*) FROM mail' "$mails"

# --- and one that is not ---
git_ -C "$R" checkout -q --detach "$level"
slow=$(commit '1113 7000 400' 'slow for good')
bad=$(commit '1113 7000 400')
git_ -C "$R" update-ref refs/heads/old "$level"
ok 'another branch is on the level' until_ is "SELECT state FROM tip WHERE oid = '$level' AND ref = 'refs/heads/old'" accepted
git_ -C "$R" update-ref refs/heads/old "$bad"
ok 'slower for good' until_ is "SELECT count(*) FROM finding WHERE culprit = '$slow'" 1
ok 'is proved' is "SELECT count(*) FROM finding WHERE culprit = '$slow' AND unproved IS NULL" 1
pairs=$(doc "$bad" '$.proof.pairs')
ok "by pairs of fresh runs (${pairs:-none})" [ "${pairs:-0}" -ge 3 ]
fresh="SELECT CASE r.oid WHEN '$slow' THEN 'C' ELSE 'P' END AS who FROM run r JOIN job j ON j.id = r.job_id JOIN series s ON s.hash = r.series JOIN search q ON q.id = j.search_id
	WHERE q.bad = '$bad' AND s.class = 'time' AND r.id > q.judged_run AND r.oid IN ('$slow', '$level') ORDER BY r.id"
order=$(sql "SELECT group_concat(who, '') FROM ($fresh)")
ok "in turns ($order)" grep -Eq '^(PC|CP)+$' <<<"$order"
ok 'and mailed' is "SELECT count(*) FROM mail m JOIN finding f ON f.id = m.finding_id WHERE f.culprit = '$slow'" 1
ok 'how often such a search is wrong is said' says "$slow" 'names a wrong commit in less than'

kill -TERM "$daemon"
wait "$daemon"
ok 'SIGTERM ends it with 0' [ $? = 0 ]
ok 'the database is whole' is 'PRAGMA integrity_check' ok
ok 'no sanitizer has complained' [ "$(grep -c 'ERROR: \|runtime error' "$T/log")" = 0 ]

done_testing
