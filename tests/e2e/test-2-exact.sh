#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The exact class is exact: boots of one image, with both cores kept busy, give the same samples to the last digit, on x86_64
# and on arm64. BOOTS=n (default 4).
set -u
cd "$(dirname "$0")/../.." || exit 1
O=${O:-out}
demo=${DEMO_DIR:-$PWD/state/demo}
state=${EXACT_STATE:-${DEMO_DIR:-$PWD/state/demo}/daemon}
boots=${BOOTS:-4}
n=0
failed=0
hogs=()
trap 'kill "${hogs[@]}" 2>/dev/null; wait 2>/dev/null' EXIT

mkdir -p "$state"
bash tests/demo/make-base.sh "$demo/base.git" || exit 1
[ -s "$demo/history.json" ] || node tests/demo/make-history.mjs --repo "$demo/base.git" --seed 2022 --json "$demo/history.json"
rev=$(node -e 'console.log(JSON.parse(require("fs").readFileSync(process.argv[1])).culprit)' "$demo/history.json")
# An image that somebody deleted is built again; its samples stay.
rm -rf "$(dirname "$(sqlite3 -readonly "$state/mmbisect.db" "SELECT kernel FROM build WHERE oid = '$rev' AND status = 'ok' LIMIT 1" 2>/dev/null)")/kernel"
measure() { # measure ARCH BOOTS
	"$O/bin/mmbisect" run --repo "$demo/base.git" --workload thread-stack --arch "$1" --class exact --times "$2" \
		--state "$state" --quiet --json "$rev" >"$state/$1.json" 2>"$state/$1.err"
}

# The builds first, without company.
for arch in x86_64 arm64; do
	measure "$arch" 1
done
for _ in $(seq "$(nproc)"); do
	(while :; do :; done) &
	hogs+=($!)
	renice -n 5 $! >/dev/null
done
for arch in x86_64 arm64; do
	n=$((n + 1))
	measure "$arch" "$boots"
	if node -e '
		const [file, boots] = process.argv.slice(1);
		const metrics = JSON.parse(require("fs").readFileSync(file)).rows[0].metrics.exact;
		const names = Object.keys(metrics);
		let bad = names.length < 10 ? 1 : 0;
		for (const name of names) {
			const v = metrics[name].values;
			if (v.length < Number(boots) || new Set(v).size !== 1) {
				bad++;
				console.log(`# ${name}: ${v.join(" ")}`);
			}
		}
		console.log(`# ${names.length} metrics, madvise_call ${metrics.madvise_call && metrics.madvise_call.median}`);
		process.exit(bad ? 1 : 0);
	' "$state/$arch.json" "$boots"; then
		echo "ok $n - $arch: $boots boots under load, every sample equal"
	else
		echo "not ok $n - $arch: $boots boots under load, every sample equal"
		tail -5 "$state/$arch.err" | sed 's/^/# /'
		failed=1
	fi
done
echo "1..$n"
exit $failed
