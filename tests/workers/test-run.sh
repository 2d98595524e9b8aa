#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# mmbisect-run with a real QEMU. Without a kernel: everything that can go wrong before there is one. With
# MMB_KERNEL_X86_64 and MMB_INITRAMFS_X86_64 (or …_ARM64): real runs, exact ones equal to the last digit.
#
#   MMB_RUN     the program (default: $O/bin/mmbisect-run, O=out)

set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
O=${O:-out}
case $O in /*) ;; *) O=$top/$O ;; esac
run=${MMB_RUN:-$O/bin/mmbisect-run}
dir=$(mktemp -d "${TMPDIR:-/tmp}/mmb-test-run.XXXXXX")
# Odd names must do: a blank, a comma (QEMU's separator), a letter that is not ASCII.
work="$dir/a b,c=ü"
mkdir "$work"
worker=
trap '[ -z "$worker" ] || kill "$worker" 2>/dev/null; rm -rf "$dir"' EXIT

n=0 failed=0
ok() { # STATUS NAME
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		failed=$((failed + 1))
		echo "not ok $n - $2"
		[ ! -s "$work/out" ] || sed 's/^/#   /' "$work/out" | cut -c1-600
		[ ! -s "$work/err" ] || sed 's/^/#   /' "$work/err" | cut -c1-600
	fi
}
skip() { # NAME WHY
	n=$((n + 1))
	echo "ok $n # SKIP $2: $1"
}
is() { # GOT WANT NAME
	[ "$1" = "$2" ]
	ok $? "$3 ($1)"
}
finish() {
	echo "1..$n"
	[ "$failed" -eq 0 ]
	exit
}

# The machine object of a job, from the definition that people edit; what the daemon resolves is resolved.
machine() { # MACHINE
	sed -n 's/^\([a-z_]*\) = \(.*\)$/\1 \2/p' "$top/configs/machines/$1.conf" | while read -r key value; do
		case $key in
		arch) continue ;;
		accel) value='"tcg"' ;;
		vcpus) value=${value/host/2} ;;
		memory_mib) ;;
		*) value="\"$value\"" ;;
		esac
		printf '%s"%s":%s' "${comma:-}" "$key" "$value"
		comma=,
	done
}
kernel=$work/garbage
initramfs=$work/garbage
limit=4
workload=thread-stack
params='{"workers":"1","threads":"5"}'
job() { # MACHINE
	cat <<-EOF
	{"job":"run","id":"1","nonce":"$(printf '%04x%04x%04x%04x' $RANDOM $RANDOM $RANDOM $RANDOM)","arch":"${1#*-}",
	 "kernel":"$kernel","initramfs":"$initramfs","machine":{$(machine "$1")},
	 "workload":{"name":"$workload","params":$params},"console":"$work/console","limit_seconds":$limit}
	EOF
}
run_job() { # MACHINE; the status of the result in $status
	job "$1" >"$work/job"
	"$run" <"$work/job" >"$work/out" 2>"$work/err"
	rc=$?
	status=$(sed -n 's/.*{"result":{"status":"\([a-z-]*\)".*/\1/p' "$work/out")
}
# Samples as one line each, without what differs by nature.
samples() { grep -o '{"metric":[^}]*}' "$work/out"; }
has() { grep -q "$1" "$work/out"; }
qemus() { pgrep -f "qemu-system-.*$dir" || true; }

head -c 20000 /dev/zero | tr '\0' 'Z' >"$work/garbage"
# What QEMU takes for a bzImage, and whose only instruction jumps to itself.
head -c 20000 /dev/zero >"$work/spin"
patch() { printf '%b' "$2" | dd of="$work/spin" bs=1 seek=$(($1)) conv=notrunc status=none; }
patch 0x1f1 '\x01'
patch 0x1fe '\x55\xaa'
patch 0x200 '\xeb\xfeHdrS\x06\x02'
patch 0x211 '\x01'
patch 0x22c '\xff\xff\xff\x37'

# --- malformed jobs
bad() { # NAME JOB WHAT-IS-SAID
	printf '%s' "$2" | "$run" >"$work/out" 2>"$work/err"
	[ $? -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q -- "$3" "$work/err" && [ ! -s "$work/out" ]
	ok $? "malformed: $1"
}
good=$(job exact-x86_64)
bad "nothing" "" "JSON"
bad "no JSON" "{" "JSON"
bad "an array" "[]" "object"
bad "another kind of job" '{"job":"build"}' "build"
bad "no nonce" "${good/\"nonce\"/\"x\"}" "nonce"
bad "arch unknown" "${good/\"arch\":\"x86_64\"/\"arch\":\"vax\"}" "vax"
bad "kernel not absolute" "${good/\"kernel\":\"\//\"kernel\":\"}" "kernel"
bad "class unknown" "${good/\"class\":\"exact\"/\"class\":\"fast\"}" "class"
bad "exact with two vCPUs" "${good/\"vcpus\":1/\"vcpus\":2}" "vCPU"
bad "exact with kvm" "${good/\"accel\":\"tcg\"/\"accel\":\"kvm\"}" "accel tcg"
bad "no limit" "${good/limit_seconds/limit}" "limit_seconds"
bad "limit 0" "${good/\"limit_seconds\":4/\"limit_seconds\":0}" "limit_seconds"
bad "a parameter with a blank" "${good/\"threads\":\"5\"/\"threads\":\"5 init=/bin/sh\"}" "threads"
bad "a parameter that is a number" "${good/\"threads\":\"5\"/\"threads\":5}" "threads"
bad "a parameter that replaces the nonce" "${good/\"threads\"/\"nonce\"}" "params"
bad "a parameter's name with =" "${good/\"threads\"/\"a=b\"}" "params"
bad "a second option of QEMU in cpu" "${good/qemu64,/qemu64 -nic user,}" "cpu"
bad "a line break in cmdline" "${good/nokaslr/nokaslr\\n}" "cmdline"
"$run" --nonsense >"$work/out" 2>"$work/err"
is $? 2 "an unknown option: exit 2"

# --- the host's fault
kernel=$work/missing
run_job exact-x86_64
is "$status/$rc" infra/0 "a kernel that is not there is infra"
has 'missing: No such file'
ok $? "and it is named"
kernel=$work/garbage
job exact-x86_64 >"$work/job"
PATH=/nonexistent "$run" <"$work/job" >"$work/out" 2>"$work/err"
has '"status":"infra".*program not found'
ok $? "no QEMU is infra"
command -v qemu-system-x86_64 >/dev/null || {
	skip "runs" "no qemu-system-x86_64 here"
	finish
}
sed 's/"cpu":"[^"]*"/"cpu":"no-such-cpu"/' "$work/job" | "$run" >"$work/out" 2>"$work/err"
has '"status":"infra".*no-such-cpu'
ok $? "what QEMU refuses is infra, with its words"
sed "s|\"console\":\"[^\"]*\"|\"console\":\"/nonexistent/console\"|" "$work/job" | "$run" >"$work/out" 2>"$work/err"
has '"status":"infra".*console file'
ok $? "a console file that cannot be is infra"

# --- a kernel that is none
run_job exact-x86_64
is "$status" boot-failed "garbage as a kernel is boot-failed"
kernel=$work/spin
for m in exact-x86_64 time-x86_64; do
	start=$SECONDS
	run_job $m
	is "$status" boot-failed "$m: a kernel that only spins is boot-failed"
	has 'no sign of life'
	ok $? "$m: with the reason"
	[ $((SECONDS - start)) -le $((limit + 3)) ]
	ok $? "$m: at the limit"
done
: >"$work/empty"
kernel=$work/empty
run_job exact-x86_64
is "$status" boot-failed "an empty kernel is boot-failed"
kernel=$work/spin
is "$(qemus)" "" "no QEMU is left"

# --- a guest that floods its console: four instructions that write to the PL011 for ever
if command -v qemu-system-aarch64 >/dev/null; then
	# movz x0, #0x900, lsl #16; mov w1, #0x41; str w1, [x0]; b .-4
	printf '\x00\x20\xa1\xd2\x21\x08\x80\x52\x01\x00\x00\xb9\xff\xff\xff\x17' >"$work/flood"
	kernel=$work/flood
	rm -f "$work/console"
	limit=5
	run_job time-arm64
	is "$status" boot-failed "a flood on the console is boot-failed"
	[ "$(stat -c %s "$work/console")" -le $((8 * 1024 * 1024 + 200)) ] && [ -s "$work/console" ]
	ok $? "the console file has a cap ($(stat -c %s "$work/console") bytes of $(sed -n 's/.*"console_bytes":\([0-9]*\).*/\1/p' "$work/out"))"
	limit=2
	run_job exact-arm64
	is "$status" boot-failed "the same on exact-arm64"
	kernel=$work/spin
else
	skip "a flood on the console" "no qemu-system-aarch64 here"
fi

# --- a worker that ends
limit=60
for signal in KILL TERM; do
	job exact-x86_64 >"$work/job"
	"$run" <"$work/job" >"$work/out" 2>"$work/err" &
	worker=$!
	for _ in $(seq 100); do
		[ -z "$(qemus)" ] || break
		sleep 0.1
	done
	[ -n "$(qemus)" ]
	ok $? "SIG$signal: QEMU runs"
	kill -s $signal $worker
	{ wait $worker; } 2>/dev/null
	rc=$?
	worker=
	for _ in $(seq 50); do
		[ -n "$(qemus)" ] || break
		sleep 0.1
	done
	is "$(qemus)" "" "SIG$signal: no QEMU is left"
	[ $rc -ne 0 ] && ! has '"result"'
	ok $? "SIG$signal: no result, exit $rc"
done

# --- a host that does not let QEMU run
limit=3
job exact-x86_64 >"$work/job"
"$run" <"$work/job" >"$work/out" 2>"$work/err" &
worker=$!
for _ in $(seq 100); do
	[ -z "$(qemus)" ] || break
	sleep 0.02
done
sleep 0.2 # or it has not answered on QMP yet
# shellcheck disable=SC2046 # one word a process
kill -s STOP $(qemus)
wait $worker
worker=
has '"status":"infra".*host stall\|"status":"infra".*did not come up'
ok $? "a QEMU that is stopped is infra"

# --- the accelerator: never KVM where it cannot run
"$run" --probe-accel "$(uname -m | grep -q x86 && echo arm64 || echo x86_64)" "$work/garbage" "$work/garbage" >"$work/out"
has '"accel":"tcg","reason":"the host is'
ok $? "no KVM for another arch"
"$run" --probe-accel "$(uname -m | sed s/aarch64/arm64/)" "$work/garbage" "$work/garbage" --limit 3 >"$work/out"
has '"accel":"tcg","reason":"'
ok $? "no KVM when the probe guest does not run"
"$run" --probe-accel vax k i >"$work/out" 2>"$work/err"
is $? 2 "probe of an unknown arch: exit 2"

# --- real kernels
real_runs() { # ARCH KERNEL INITRAMFS
	local first
	kernel=$2 initramfs=$3 limit=300 params='{"workers":"1","threads":"5"}' workload=thread-stack
	for i in 1 2; do
		run_job "exact-$1"
		is "$status" ok "exact-$1: run $i"
		[ $i -eq 1 ] && first=$(samples)
	done
	[ -n "$first" ] && [ "$first" = "$(samples)" ]
	ok $? "exact-$1: the same to the last digit"
	[ -s "$work/console" ] && has '"class":"exact"' && ! has '"class":"time"'
	ok $? "exact-$1: console kept, class of samples"
	run_job "time-$1"
	is "$status" ok "time-$1: run"
	has '"class":"time"' && has '"class":"count"' && has '"host_steal"' && has '"load"'
	ok $? "time-$1: classes and the host's disturbance"

	workload=no-such
	run_job "time-$1"
	is "$status" crashed "time-$1: an unknown workload"
	has '"title":"workload: '
	ok $? "time-$1: with its words"
	workload=thread-stack params='{"workers":"1","no-such":"5"}'
	run_job "time-$1"
	is "$status" crashed "time-$1: an unknown parameter"

	params='{}' initramfs=$work/garbage
	run_job "time-$1"
	is "$status" boot-failed "time-$1: an initramfs that is none"
	has '"title":"Kernel panic'
	ok $? "time-$1: with the panic's title"
	initramfs=$3 limit=1
	run_job "exact-$1"
	[ "$status" = boot-failed ] || [ "$status" = timeout ] || [ "$status" = ok ]
	ok $? "exact-$1: a limit that is too short ($status)"
	is "$(qemus)" "" "$1: no QEMU is left"
}
for arch in X86_64 ARM64; do
	k=MMB_KERNEL_$arch i=MMB_INITRAMFS_$arch
	if [ -n "${!k:-}" ] && [ -n "${!i:-}" ]; then
		real_runs "${arch,,}" "$(realpath "${!k}")" "$(realpath "${!i}")"
	else
		skip "real runs of ${arch,,}" "no $k, $i"
	fi
done
finish
