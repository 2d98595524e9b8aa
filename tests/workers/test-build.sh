#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# mmbisect-build against miniature kernel trees: real git, make, clang, ld.lld and bubblewrap, and trees with the interface of
# the kernel's make. Needs no kernel source. Environment: BIN, the folder of the programs (default out/bin).
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
BIN=$(realpath "${BIN:-${O:-out}/bin}")
BUILD=$BIN/mmbisect-build
T=$(mktemp -d)
pids=()

cleanup() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
	umount "$T/full" 2>/dev/null
	rm -rf "$T"
}
trap cleanup EXIT

on_failure() { [ ! -f "$T/result" ] || sed 's/^/# /' "$T/result"; }

# --- a tree ---


make_tree() {
	mkdir -p "$1/scripts/kconfig" "$1/mm" "$1/kernel" "$1/arch/arm/odd"
	cat >"$1/Makefile" <<'MK'
O ?= .
target-x86_64 := x86_64-linux-gnu
target-arm64 := aarch64-linux-gnu
CFLAGS := --target=$(target-$(ARCH)) -O1 -ffreestanding -fno-pic
objs := $(O)/mmap.o $(O)/main.o
vmlinux: $(O)/vmlinux
Image: $(O)/vmlinux
	@mkdir -p $(O)/arch/$(ARCH)/boot
	@echo '  OBJCOPY arch/$(ARCH)/boot/Image'
	@llvm-objcopy -O binary $< $(O)/arch/$(ARCH)/boot/Image
FORCE:
$(O)/vmlinux: $(objs) FORCE
	@echo '  LD      vmlinux'
	@ld.lld --build-id=sha1 -e start -o $@ $(objs)
	@llvm-nm $@ >$(O)/System.map
$(O)/mmap.o: mm/mmap.c
$(O)/main.o: kernel/main.c
$(objs):
	@echo '  CC      $<'
	@$(CC) $(CFLAGS) -c -o $@ $(CURDIR)/$<
tinyconfig:
	@touch $(O)/Makefile
	@printf 'CONFIG_TINY=y\n' >$(O)/.config
olddefconfig:
	@sh scripts/kconfig/olddef.sh $(O)/.config
MK
	# Known symbols keep what they were asked to be; STUBBORN never takes.
	cat >"$1/scripts/kconfig/olddef.sh" <<'SH'
old=$(cat "$1")
for s in $(sed -n 's/^config //p' Kconfig); do
	v=$(printf '%s\n' "$old" | sed -n "s/^CONFIG_$s=//p" | tail -n 1)
	[ "$s" = STUBBORN ] && v=
	if [ -n "$v" ]; then echo "CONFIG_$s=$v"; else echo "# CONFIG_$s is not set"; fi
done >"$1"
SH
	printf 'cat "$5" >>"$4"\n' >"$1/scripts/kconfig/merge_config.sh"
	printf 'config TINY\n\tbool\nconfig EXTRA\n\tbool\nconfig STUBBORN\n\tbool\n' >"$1/Kconfig"
	printf 'config FOREIGN\n\tbool\n' >"$1/arch/arm/odd/Kconfig"
	printf 'int mmap(int x);\nint mmap(int x)\n{\n\treturn x * 3; /* three */\n}\n' >"$1/mm/mmap.c"
	printf 'int mmap(int x);\nvoid start(void);\nvoid start(void)\n{\n\t(void)mmap(1);\n}\n' >"$1/kernel/main.c"
	git_ init -q "$1"
	git_ -C "$1" add -f -A
	git_ -C "$1" commit -q -m base
}

# commit SED-EXPRESSION FILE: a commit on top of the base, whose id is printed.
commit() {
	git_ -C "$R" checkout -q -B work base
	sed -i "$1" "$R/$2"
	git_ -C "$R" commit -q -a -m change
	git_ -C "$R" rev-parse HEAD
}

# commit_recipe LINES: a commit whose link step first runs them.
commit_recipe() {
	git_ -C "$R" checkout -q -B work base
	printf '%s\n' "$1" >"$R/scripts/evil.sh"
	sed -i "s|^\t@ld.lld|\t@bash scripts/evil.sh\n&|" "$R/Makefile"
	git_ -C "$R" add -f -A
	git_ -C "$R" commit -q -m recipe
	git_ -C "$R" rev-parse HEAD
}

R=$T/tree
make_tree "$R"
git_ -C "$R" tag base
BASE=$(git_ -C "$R" rev-parse base)
printf '# a comment\nCONFIG_EXTRA=n\n' >"$T/base.config"
printf 'CONFIG_EXTRA=y\n' >"$T/x86_64.config"

# --- a job ---

# job COMMIT OUT [KEY=VALUE...]: the job's text; values are JSON.
job() {
	local commit=$1 out=$2
	shift 2
	declare -A k=([job]='"build"' [id]='"1"' [repo]="\"$R\"" [commit]="\"$commit\"" [arch]='"x86_64"'
		[base]='"tinyconfig"' [fragments]="[\"$T/base.config\",\"$T/x86_64.config\"]" [slot]="\"$T/slot\""
		[out]="\"$T/images/$out\"" [log]="\"$T/logs/$out.log\"" [jobs]=2 [limit_seconds]=120)
	local key text=
	for key; do k[${key%%=*}]=${key#*=}; done
	for key in "${!k[@]}"; do text="$text,\"$key\":${k[$key]}"; done
	echo "{${text#,}}"
}
# build COMMIT OUT [KEY=VALUE...]: runs it; result line in $T/result.
build() {
	job "$@" | "$BUILD" >"$T/lines" 2>"$T/stderr"
	local status=$?
	grep '^{"result"' "$T/lines" >"$T/result"
	return $status
}
field() { sed -n "s/.*\"$1\":\"\\([^\"]*\\)\".*/\\1/p" "${2:-$T/result}"; }
has() { grep -qF -- "$1" "${2:-$T/result}"; }
lacks() { ! has "$@"; }
same() { [ -n "$1" ] && [ "$1" = "$2" ]; }
differ() { [ -n "$1" ] && [ -n "$2" ] && [ "$1" != "$2" ]; }
# await COMMAND...: until it is true, at most 20 s.
await() {
	local i
	for ((i = 0; i < 200; i++)); do
		"$@" 2>/dev/null && return 0
		read -rt 0.1 <> <(:)
	done
	return 1
}
tree_state() { (cd "$1" && find . -printf '%p %T@ %s\n' | sort | sha256sum); }
compiled() { grep -c '^  CC ' "$T/logs/$1.log"; }

# --- a build, and another ---

before=$(tree_state "$R/.git")
ok "a build exits 0" build "$BASE" one
ok "its status is ok" same "$(field status)" ok
ok "it is not cached" has '"cached":false'
SIG=$(field signature)
ok "the kernel is there" test -s "$(field kernel)"
for f in System.map config vmlinux.sig build.json; do ok "$f is there" test -s "$T/images/one/$f"; done
ok "the fragments' last mention counts" has CONFIG_EXTRA=y "$T/images/one/config"
ok "the toolchain is named" grep -Eq '"toolchain":"clang [0-9.]+[^,]*, ld.lld [0-9.]+, make [0-9.]+"' "$T/result"
ok "progress lines have phases" test "$(sed -n 's/.*"phase":"\([a-z]*\)".*/\1/p' "$T/lines" | uniq | tr '\n' ' ')" = \
	"checkout config compile link sign "
ok "nothing is left beside" test -z "$(find "$T/images" -name '*.tmp-*')"
ok "the repository is untouched" same "$before" "$(tree_state "$R/.git")"

build "$BASE" one
ok "the same job is answered from out" has '"cached":true'
ok "with the same signature" same "$SIG" "$(field signature)"
echo '{"status":"ok"' >"$T/images/one/build.json"
build "$BASE" one
ok "a broken build.json is built again" has '"cached":false'
ok "and replaced" has '"status": "ok"' "$T/images/one/build.json"

C_COMMENT=$(commit 's/three/tres!/' mm/mmap.c)
build "$C_COMMENT" comment
ok "a comment gives the same signature" same "$SIG" "$(field signature)"
ok "only the changed file is compiled" same "$(compiled comment)" 1
C_CODE=$(commit 's/x \* 3/x * 5/' mm/mmap.c)
build "$C_CODE" code
SIG_CODE=$(field signature)
ok "a change gives another signature" differ "$SIG" "$SIG_CODE"
build "$BASE" back
ok "the way back gives the first signature" same "$SIG" "$(field signature)"
build "$C_CODE" code2 slot="\"$T/another slot\""
ok "another slot gives the same signature" same "$SIG_CODE" "$(field signature)"
build "$BASE" arm arch='"arm64"' fragments='[]'
ok "arm64 builds its Image" test -s "$T/images/arm/kernel"
ok "and is signed" differ "$(field signature)" "$SIG"

# --- other layouts ---

symbols() { llvm-nm -n "$(field kernel)" | sed 's/.* //' | tr '\n' ' '; }
linked() { grep -c '^  LD ' "$T/logs/$1.log"; }
# Of two objects one seed in two changes the order.
build "$BASE" layout0
OWN=$(symbols)
for seed in 1 2 3 4 5 6 7 8; do
	build "$BASE" "layout-$seed" layout="$seed"
	ok "layout $seed is built" same "$(field status)" ok
	[ "$(symbols)" = "$OWN" ] || break
done
ok "another layout has another order of functions" differ "$OWN" "$(symbols)"
ok "and another signature" differ "$SIG" "$(field signature)"
ok "build.json names it" has "\"layout\": $seed" "$T/images/layout-$seed/build.json"
ok "it costs a link" same "$(compiled "layout-$seed") $(linked "layout-$seed")" "0 1"
SIG_LAYOUT=$(field signature)
build "$BASE" "layout-$seed" layout="$seed"
ok "it is answered from out" has '"cached":true'
build "$BASE" "layout-$seed"
ok "but not for another layout" has '"cached":false'
build "$BASE" layout-back
ok "the layout of the tree comes back" same "$SIG" "$(field signature)"
build "$BASE" layout-again layout="$seed"
ok "a layout is the same each time" same "$SIG_LAYOUT" "$(field signature)"
C_LAZY=$(commit 's/^\(.*vmlinux: $(objs)\) FORCE/\1/' Makefile)
build "$C_LAZY" lazy
build "$C_LAZY" lazy-layout layout="$seed"
ok "a vmlinux that make takes for done is linked anew" same "$SIG_LAYOUT" "$(field signature)"
build "$C_LAZY" lazy-back
ok "and so on the way back" same "$SIG" "$(field signature)"
C_HALF=$(commit_recipe 'sleep 300.125')
job "$C_HALF" layout-killed layout="$seed" limit_seconds=2 | "$BUILD" >/dev/null 2>&1
build "$BASE" after-layout-killed
ok "a layout's build that was stopped leaves nothing behind" same "$SIG" "$(field signature)"
C_LAYOUT_BROKEN=$(commit 's/return x/return z/' mm/mmap.c)
build "$C_LAYOUT_BROKEN" layout-broken layout="$seed"
ok "a layout of what does not compile is build-failed" same "$(field status)" build-failed
build "$BASE" after-layout-broken
ok "and the build after it right" same "$SIG" "$(field signature)"

# --- what the tree is at fault for ---

C_BROKEN=$(commit 's/return x/return y/' mm/mmap.c)
ok "a build that fails exits 0" build "$C_BROKEN" broken
ok "a compile error is build-failed" same "$(field status)" build-failed
ok "with the line of the compiler" has "\"error\":\"mm/mmap.c:4:9: error: use of undeclared identifier 'y'\""
ok "and no out" test ! -e "$T/images/broken"
build "$BASE" after-broken
ok "the next build is right" same "$SIG" "$(field signature)"

printf 'CONFIG_STUBBORN=y\n' >"$T/stubborn.config"
build "$BASE" stubborn fragments="[\"$T/stubborn.config\"]"
ok "an option that does not take is build-failed" same "$(field status)" build-failed
ok "and named" has "option CONFIG_STUBBORN=y of stubborn.config did not take (is not set)"
printf 'CONFIG_NEWER=y\nCONFIG_FOREIGN=y\n# CONFIG_OTHER is not set\n' >"$T/unknown.config"
build "$BASE" unknown fragments="[\"$T/unknown.config\"]"
ok "an unknown option is recorded" has '"unknown_options":["CONFIG_NEWER","CONFIG_FOREIGN"]'
ok "and is no failure" same "$(field status)" ok
printf 'CONFIG_A y\n' >"$T/typo.config"
build "$BASE" typo fragments="[\"$T/typo.config\"]"
ok "a typo in a fragment has file and line" has "typo.config:1: "

build "$BASE" hash1 fragments="[\"$T/base.config\"]"
H1=$(field config_hash)
printf '# other words\n# CONFIG_EXTRA is not set\n' >"$T/same.config"
build "$BASE" hash2 fragments="[\"$T/same.config\"]"
ok "config_hash is of what is asked for, not of its comments" same "$H1" "$(field config_hash)"
build "$BASE" hash3
ok "another request has another config_hash" differ "$H1" "$(field config_hash)"

# --- strangers ---

echo secret >"$T/secret"
chmod 755 "$T" # so that only the sandbox protects it
echo hidden >"$HOME/.mmbisect-test-$$"
port=
if command -v node >/dev/null; then
	node -e 'const s=require("net").createServer(c=>{console.log("connected");c.end()}).listen(0,"127.0.0.1",()=>console.log("port",s.address().port))' >"$T/net" &
	pids+=($!)
	await grep -q port "$T/net"
	port=$(sed -n 's/port //p' "$T/net")
fi
C_EVIL=$(commit_recipe "
exec 2>&1
echo uid=\$(id -u)
cat $T/secret && echo READ-SECRET
cat $HOME/.mmbisect-test-$$ && echo READ-HOME
ls /root /home && echo SAW-HOMES
touch /src/evil /etc/evil /usr/evil /evil && echo WROTE
touch /src/evil && echo WROTE
touch /evil && echo WROTE
touch $T/slot/src/evil && echo WROTE
rm -rf /src/mm; test -e /src/mm/mmap.c || echo REMOVED
kill -9 $$ && echo KILLED
exec 3<>/dev/tcp/127.0.0.1/${port:-1} && echo CONNECTED
for f in /proc/self/fd/*; do case \$(readlink \$f) in *slot*) echo LEAKED \$f;; esac; done
unshare -U true && echo NEW-USERNS
ls /dev | tr '\n' ' '
true")
build "$C_EVIL" evil
log=$T/logs/evil.log
ok "the strangers' recipe ran" has uid= "$log"
ok "as nobody" has uid=65534 "$log"
for word in READ-SECRET READ-HOME SAW-HOMES WROTE REMOVED KILLED LEAKED NEW-USERNS; do
	ok "the sandbox holds: no $word" lacks "$word" <(grep -v '^+' "$log")
done
if [ -n "$port" ]; then ok "the sandbox holds: no network" lacks connected "$T/net"; else skip "no node for the network test"; fi
ok "the tree is whole" test -e "$T/slot/src/mm/mmap.c"
rm -f "$HOME/.mmbisect-test-$$"

# Links that the build leaves where we read.
C_LINK=$(commit_recipe "rm -f /obj/System.map; ln -s $T/secret /obj/System.map")
git_ -C "$R" checkout -q -B work "$C_LINK"
sed -i '/llvm-nm/d' "$R/Makefile"
git_ -C "$R" commit -q -a -m link
build "$(git_ -C "$R" rev-parse HEAD)" link
ok "a link in place of a result is not followed" same "$(field status)" build-failed
ok "and nothing is published" test ! -e "$T/images/link"

# A commit cannot steer the checkout by links or by a repository's config.
git_ -C "$R" checkout -q -B work base
git_ -C "$R" rm -q -r arch
mkdir "$T/outside"
ln -s "$T/outside" "$R/arch"
printf 'A\n' >"$R/mm/Case.h"
printf 'B\n' >"$R/mm/case.h"
printf '*.c filter=evil\n' >"$R/.gitattributes"
git_ -C "$R" add -f -A
git_ -C "$R" commit -q -m links
C_LINKS=$(git_ -C "$R" rev-parse HEAD)
git_ -C "$R" config filter.evil.smudge "touch $T/outside/smudged; cat"
git_ -C "$R" config core.fsmonitor "touch $T/outside/monitor"
build "$C_LINKS" links
ok "links and equal names in another case check out" same "$SIG" "$(field signature)"
build "$BASE" unlinked
ok "and give way to folders again" test -f "$T/slot/src/arch/arm/odd/Kconfig"
ok "nothing was written outside, no filter ran" test -z "$(ls "$T/outside")"
git_ -C "$R" config --unset core.fsmonitor
git_ -C "$R" config --unset filter.evil.smudge

# --- repositories ---

git_ clone -q --bare "$R" "$T/bare.git" 2>/dev/null
git_ -C "$T/bare.git" pack-refs --all
git_ clone -q --shared "$R" "$T/a clone: with \"blanks\"" 2>/dev/null
git_ -C "$R" checkout -q base
git_ -C "$R" worktree add -q "$T/worktree" "$C_CODE"
i=0
for repo in "$T/bare.git" "$T/a clone: with \\\"blanks\\\"" "$T/worktree" "$R/.git" "$R/.git/worktrees/worktree"; do
	i=$((i + 1))
	build "$C_CODE" "repo$i" repo="\"$repo\"" slot="\"$T/slot-repo$i\""
	ok "repository ${repo#"$T"/}" same "$SIG_CODE" "$(field signature)"
done
if git_ init -q --object-format=sha256 "$T/sha256" 2>/dev/null; then
	cp -r "$R"/{Makefile,Kconfig,arch,kernel,mm,scripts} "$T/sha256/"
	git_ -C "$T/sha256" add -f -A
	git_ -C "$T/sha256" commit -q -m base
	build "$(git_ -C "$T/sha256" rev-parse HEAD)" sha256 repo="\"$T/sha256\""
	ok "a SHA-256 repository in the same slot" same "$SIG" "$(field signature)"
	build "$BASE" sha1-again
	ok "and a SHA-1 one again" same "$SIG" "$(field signature)"
fi
build 0123456789012345678901234567890123456789 none
ok "an unknown commit is infra" same "$(field status)" infra
ok "and named" has "no such commit: 0123456789012345678901234567890123456789"
build "$BASE" norepo repo="\"$T\""
ok "no repository is infra" has "not a git repository"

# --- the host's faults ---

mkdir "$T/bin"
for tool in /usr/bin/* /bin/*; do [ -e "$T/bin/${tool##*/}" ] || ln -s "$tool" "$T/bin/"; done
rm "$T/bin/clang"
PATH=$T/bin build "$BASE" noclang
ok "no clang is infra" has '"status":"infra","error":"clang not found"'
C_SLOW=$(commit_recipe 'echo half >/obj/main.o; sleep 300.125')
build "$C_SLOW" timeout limit_seconds=2
ok "an overrun is infra" has '"status":"infra","error":"took longer than 2 s"'
gone() { ! grep -lqs 'sleep.300.125' /proc/[0-9]*/cmdline; }
ok "and all it started is gone" await gone
build "$BASE" after-timeout
ok "the build after it is right" same "$SIG" "$(field signature)"
C_ENOSPC=$(commit_recipe 'echo "clang: error: unable to execute command: Killed"; exit 1')
build "$C_ENOSPC" oom
ok "a killed compiler is infra" same "$(field status)" infra
if [ "$(id -u)" = 0 ] && mkdir "$T/full" && mount -t tmpfs -o size=64m none "$T/full" 2>/dev/null; then
	build "$BASE" full slot="\"$T/full/slot\""
	ok "a full disk is infra" has '"error":"disk full: only 64 MiB free'
else
	skip "no small file system can be mounted"
fi

# --- kills ---

job "$C_SLOW" killed >"$T/job"
"$BUILD" <"$T/job" >/dev/null 2>&1 &
worker=$!
await grep -q '  LD' "$T/logs/killed.log"
await test -f "$T/slot/obj-x86_64-"*/main.o
await grep -lqs 'sleep.300.125' /proc/[0-9]*/cmdline
kill -9 "$worker"
wait "$worker" 2>/dev/null
ok "after SIGKILL nothing is left running" await gone
ok "the half-made object was there" grep -qx half "$T/slot/obj-x86_64-"*/main.o
ok "the next build starts" build "$BASE" after-kill
ok "and is right" same "$SIG" "$(field signature)"

echo half >"$T/slot/src/mm/mmap.c"
echo stray >"$T/slot/src/mm/stray.h"
: >"$T/slot/git-sha1/index.lock"
: >"$T/slot/src.dirty"
build "$C_CODE" after-checkout-kill
ok "a slot left by a killed checkout recovers" same "$SIG_CODE" "$(field signature)"
ok "and holds no stray files" test ! -e "$T/slot/src/mm/stray.h"
rm -f "$T/slot/git-sha1/index"
echo garbage >"$T/slot/git-sha1/config"
build "$BASE" after-garbage
ok "so does one with a broken git folder" same "$SIG" "$(field signature)"

# --- two on one slot ---

C_WAIT=$(commit_recipe 'sleep 2.5')
job "$C_WAIT" first >"$T/job"
"$BUILD" <"$T/job" >"$T/first" 2>&1 &
worker=$!
await grep -q '  LD' "$T/logs/first.log"
build "$BASE" second limit_seconds=1
ok "a slot in use is waited for, at most the limit" has "is still in use after 1 s"
build "$BASE" third
ok "then it is ours" same "$SIG" "$(field signature)"
wait "$worker"
ok "and the first build was not disturbed" has '"status":"ok"' "$T/first"

# --- not as root ---

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && setpriv --reuid 12345 --clear-groups test -x "$BUILD"; then
	mkdir "$T/user"
	chown 12345 "$T/user"
	chmod -R a+rX "$R"
	job "$BASE" user slot="\"$T/user/slot\"" out="\"$T/user/out\"" log="\"$T/user/log\"" |
		setpriv --reuid 12345 --clear-groups "$BUILD" >"$T/result" 2>&1
	ok "as a user, not root" same "$SIG" "$(field signature)"
	chmod 700 "$T"
	build "$BASE" closed slot="\"$T/closed/slot\""
	ok "as root, below a folder that is closed to others" same "$SIG" "$(field signature)"
	ok "the tree is root's, the O= tree nobody's" test "$(stat -c %u "$T/closed/slot/src" "$T/closed/slot"/obj-*/vmlinux | tr '\n' ' ')" = "0 65534 "
else
	skip "not root: no other user to try"
fi

# --- malformed jobs ---

malformed() {
	"$BUILD" <<<"$1" >"$T/lines" 2>"$T/stderr"
	[ $? = 2 ] && [ ! -s "$T/lines" ] && [ "$(wc -l <"$T/stderr")" = 1 ] && has "$2" "$T/stderr"
}
ok "no JSON" malformed 'x' 'not JSON'
ok "no kind" malformed '{}' 'no "job"'
ok "another kind" malformed '{"job":"run"}' 'of kind "run"'
ok "a key is missing" malformed '{"job":"build"}' 'no "repo"'
ok "an abbreviated commit" malformed "$(job "${BASE:0:12}" x)" 'not a whole object id'
ok "an option in place of a target" malformed "$(job "$BASE" x base='"--eval=config"')" 'not a config target'
ok "an unknown architecture" malformed "$(job "$BASE" x arch='"z80"')" 'not known: z80'
ok "a relative path" malformed "$(job "$BASE" x slot='"slot"')" 'not an absolute path'
ok "a layout that is none" malformed "$(job "$BASE" x layout=-1)" 'not a whole number from 0 to 255'
ok "a fraction of a job" malformed "$(job "$BASE" x jobs=0.5)" 'not a whole number'

done_testing
