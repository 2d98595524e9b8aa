#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A real mmbisectd on small repositories that are no kernels: what it sees of refs that move, go, and servers that hang. Its
# workers are stand-ins beside a copy of the program: a build that fails when the tree says so, a run that prints a number
# that the tree holds. Environment: O, the build folder (default out).
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
BIN=$(realpath "${O:-out}/bin") || exit 1
CONFIGS=$(realpath configs)
T=$(mktemp -d)
listener=''

cleanup() {
	[ -z "$daemon" ] || kill -KILL "$daemon" 2>/dev/null
	[ -z "$listener" ] || kill "$listener" 2>/dev/null
	rm -rf "$T"
}
trap cleanup EXIT
export HOME=$T/home GIT_CONFIG_GLOBAL=/dev/null

on_failure() { tail -n 15 "$T/log" | sed 's/^/# /'; }

# The database: sql QUERY prints it, is QUERY WANT compares.
sql() {
	sqlite3 -readonly "$T/state/mmbisect.db" "$1" 2>/dev/null
}
is() { [ "$(sql "$1")" = "$2" ]; }
logged() { grep -q -- "$1" "$T/log"; }

# --- programs: the daemon's own, workers that only look at the commit ---
mkdir -p "$T/bin" "$T/guest/x86_64"
cp "$BIN/mmbisectd" "$T/bin/"
echo guest >"$T/guest/x86_64/initramfs.cpio"
cat >"$T/bin/mmbisect-build" <<'SH'
#!/bin/bash
job=$(cat)
get() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" <<<"$job"; }
level=$(git --git-dir "$(get repo)" show "$(get commit):level") || exit 1
if [ "$level" = broken ]; then
	echo '{"result":{"status":"build-failed","error":"level:1:1: error: broken","seconds":0.1}}'
	exit
fi
if [ "$level" = hang ]; then
	echo $$ >>"$(dirname "$0")/../hanging"
	exec sleep 1000 # a worker that starts others must see to it that they die with it
fi
sig=$(printf '%s' "$level" | sha256sum | cut -d' ' -f1)
mkdir -p "$(get out)" && echo "$level" >"$(get out)/kernel"
printf '{"result":{"status":"ok","signature":"%s","kernel":"%s/kernel","config_hash":"%s","toolchain":"t","unknown_options":[],"seconds":0.1,"cached":false}}\n' \
	"$sig" "$(get out)" "$sig"
SH
cat >"$T/bin/mmbisect-run" <<'SH'
#!/bin/bash
job=$(cat)
kernel=$(sed -n 's/.*"kernel": *"\([^"]*\)".*/\1/p' <<<"$job")
printf '{"result":{"status":"ok","title":null,"error":null,"samples":[{"metric":"madvise_call","value":%s,"unit":"ns/call","better":"lower","class":"exact"}],"seconds":0.1,"boot_seconds":0.1}}\n' \
	"$(cat "$kernel")"
SH
printf '#!/bin/bash\ncat >/dev/null\n' >"$T/bin/mmbisect-mail"
chmod +x "$T"/bin/mmbisect-*

# --- trees ---
commit() { # REPO LEVEL: a commit on its current branch
	echo "$2" >"$1/level"
	date +%N >>"$1/noise"
	git_ -C "$1" add -f level noise
	git_ -C "$1" commit -q --allow-empty -m "level $2"
}
head_() { git -C "$1" rev-parse "${2:-HEAD}"; }
for r in one two; do
	git_ init -q "$T/$r"
	commit "$T/$r" 1000
	commit "$T/$r" 1000
done
git_ -C "$T/one" branch side
git_ -C "$T/one" branch doomed
git_ -C "$T/one" branch $'caf\xe9'
: >"$T/port"
# A server that takes connections and never says a word.
node -e '
	const server = require("net").createServer(() => {});
	server.listen(0, "127.0.0.1", () => console.log(server.address().port));' >"$T/port" &
listener=$!
for ((i = 0; i < 100; i++)); do
	hang_port=$(cat "$T/port")
	[ -n "$hang_port" ] && break
	sleep 0.1
done

section() { # NAME URL
	printf '[tree %s]\nurl = %s\nbranches = refs/heads/main, refs/heads/doomed\nworkloads = thread-stack\narches = x86_64\npoll_seconds = 1\n' \
		"$1" "$2"
}
{
	printf '[daemon]\nstate = %s\nconfigs = %s\nverify_runs = 0\n' "$T/state" "$CONFIGS"
	section hangs "git://127.0.0.1:$hang_port/x.git"
	section absent "$T/nowhere"
	section refused "git://127.0.0.1:1/x.git"
	section one "$T/one"
	section two "file://$T/two"
} >"$T/mmbisect.conf"

start() {
	"$T/bin/mmbisectd" --config "$T/mmbisect.conf" >>"$T/log" 2>&1 </dev/null &
	daemon=$!
}
# Nothing that the daemon started is left, soon: all of it names our folder or our server, or is the build that hangs. What
# is dead and not yet buried by init is no process any more.
nothing_left() {
	for ((i = 0; i < 100; i++)); do
		pgrep -r R,S,D,T -f "$T/bin/|127.0.0.1:$hang_port|$T/state" >/dev/null ||
			pgrep -r R,S,D,T -g "$(paste -sd, "$T/hanging")" >/dev/null || return 0
		sleep 0.1
	done
	return 1
}
tip() { is "SELECT count(*) FROM tip WHERE tree = '$1' AND oid = '$2' AND state = '$3'" "${4:-1}"; }
seen() { is "SELECT oid FROM ref_event WHERE tree = '$1' AND ref = 'refs/heads/$2' ORDER BY id DESC LIMIT 1" "$3"; }

: >"$T/log"
start
first=$(head_ "$T/one")
ok 'a first tip is recorded and accepted' until_ tip one "$first" accepted 2
ok 'a second tree is looked at, whatever the others do' until_ tip two "$(head_ "$T/two")" accepted
ok 'a branch that is not watched is recorded, too' seen one side "$first"
ok 'and is no tip' is "SELECT count(*) FROM tip WHERE ref = 'refs/heads/side'" 0
ok 'a repository that is not there is told' until_ logged 'tree absent: listing refs: '
ok 'so is a server that refuses' until_ logged 'tree refused: listing refs: '
ok 'trouble is told once' [ "$(grep -c 'tree absent: listing refs' "$T/log")" = 1 ]

ok 'a branch whose name is no UTF-8 is left out' is "SELECT count(*) FROM ref_event WHERE tree = 'one'" 3

# --- pushes ---
commit "$T/one" 1000
git_ -C "$T/one" commit -q --amend -m 'will be rewritten'
old=$(head_ "$T/one")
ok 'a push is seen' until_ tip one "$old" accepted
git_ -C "$T/one" commit -q --amend -m 'was rewritten'
new=$(head_ "$T/one")
ok 'a forced push is no error' until_ tip one "$new" accepted
git -C "$T/one" reflog expire --expire=now --all
git -C "$T/one" gc -q --prune=now
ok 'what was measured is kept' git --git-dir "$T/state/mirror.git" cat-file -e "$old"

commit "$T/one" broken
ok 'a tip that does not build ends failed' until_ tip one "$(head_ "$T/one")" failed

fetches=$(grep -c 'tree one: fetching' "$T/log")
ok 'without news nothing is fetched' [ "$fetches" = 4 ]
git_ -C "$T/one" branch -qD doomed
ok 'a branch that is gone is recorded' until_ seen one doomed ''
ok 'and the others are as they were' seen one side "$first"
git_ -C "$T/one" branch doomed "$first"
ok 'and is seen when it comes back' until_ seen one doomed "$first"

# An unrelated history that is slower: there is nothing to search between the two.
git_ -C "$T/two" checkout -q --orphan fresh
commit "$T/two" 5000
git_ -C "$T/two" branch -qM fresh main
alone=$(head_ "$T/two")
ok 'a slower tip without a common history is a new level' until_ tip two "$alone" accepted
ok 'and the daemon lives' kill -0 "$daemon"

# A commit that libgit2 cannot read (git fsck would refuse it).
odd=$(printf 'tree %s\nparent %s\nauthor A 1600000000 +0000\ncommitter C 1600000000 +0000\n\nodd\n' \
	"$(head_ "$T/two" 'HEAD^{tree}')" "$alone" | git -C "$T/two" hash-object -t commit -w --literally --stdin)
echo "$odd" >"$T/two/.git/refs/heads/main"
ok 'a tip that cannot be read ends failed' until_ tip two "$odd" failed
ok 'and the daemon lives on' kill -0 "$daemon"
echo "$alone" >"$T/two/.git/refs/heads/main"

# --- a slow commit is found ---
# In one move of the branch: a poll in between would search another range.
git_ -C "$T/one" checkout -q --detach "$new"
commit "$T/one" 1000
commit "$T/one" 9000
culprit=$(head_ "$T/one")
commit "$T/one" 9000
commit "$T/one" 9000
git_ -C "$T/one" update-ref refs/heads/main HEAD
git_ -C "$T/one" checkout -q main
ok 'a slower tip is searched' until_ tip one "$(head_ "$T/one")" searched
ok 'and the commit found' until_ is "SELECT verdict || ' ' || culprit FROM search WHERE tree = 'one' AND metric <> 'status'" "culprit $culprit"
ok 'and settled' until_ is "SELECT count(*) FROM finding WHERE culprit = '$culprit'" 1

# --- the end ---
commit "$T/one" hang
ok 'a build hangs' until_ [ -s "$T/hanging" ]
kill -TERM "$daemon"
wait "$daemon"
status=$?
ok "SIGTERM ends it with 0 (not $status)" [ $status = 0 ]
ok 'nothing is left running' nothing_left
ok 'the server that hangs was looked at' logged 'watching tree hangs'
start
ok 'a restart queues again what was under way' until_ logged 'of an earlier process queued again'
hanging_twice() { [ "$(wc -l <"$T/hanging")" = 2 ]; }
ok 'and starts it' until_ hanging_twice
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null
ok 'SIGKILL leaves nothing running, either' nothing_left
ok 'the database is whole' is 'PRAGMA integrity_check' ok
ok 'no sanitizer has complained' [ "$(grep -c 'ERROR: \|runtime error' "$T/log")" = 0 ]

done_testing
