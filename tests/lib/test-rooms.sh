#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The rules between the rooms (docs/architecture.md), on the sources themselves, and then on copies with one offence each:
# a check that finds nothing there checks nothing.
set -u
cd "$(dirname "$0")/../.." || exit 1
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
n=0 failed=0

sources() { find "$@" \( -name '*.c' -o -name '*.h' \) -not -path '*/node_modules/*' -print0 2>/dev/null; }
# includes ROOM...: "file:path" of what the files there include from the tree.
includes() {
	sources "$@" | xargs -0r grep -HEo '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]+"' |
		sed -E 's/:[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]+)"/:\1/'
}
# foreign ROOM ALLOWED: includes of ROOM that match no allowed pattern.
foreign() { includes "$1" | grep -Ev ":($2)"; }

# Each check prints what is wrong in the tree of the current folder.
check_lib() { foreign lib 'lib/'; }
check_db() { foreign db 'lib/|db/'; }
check_daemon() { foreign daemon 'lib/|db/|daemon/'; }
check_web() { foreign web 'lib/|db/|web/'; }
check_workers() { foreign workers 'lib/|workers/|[a-z0-9-]+\.h$' | grep -v '^workers/guest/'; }
check_guest() { foreign workers/guest 'workers/guest/|[a-z0-9-]+\.h$'; }
# Pure: itself and the part of libc that has no I/O, no clock and no random source (stdio.h: for snprintf).
check_judge() {
	foreign daemon/judge 'daemon/judge/'
	sources daemon/judge | xargs -0r grep -HE '#[[:space:]]*include[[:space:]]*<' |
		grep -Ev '<(assert|errno|float|limits|math|stdbool|stddef|stdint|stdio|stdlib|string)\.h>'
	sources daemon/judge | xargs -0r grep -HnE '\b(printf|fprintf|fopen|fwrite|puts|putchar|fputs|open|read|write|time|clock_gettime|getrandom|random|rand|getenv)\('
}
# The inside of the database wrapper and SQLite itself are for db/ alone.
check_sqlite() {
	includes daemon web workers lib | grep -E ':db/query\.h'
	sources daemon web workers lib | xargs -0r grep -HnE '#[[:space:]]*include[[:space:]]*<sqlite3?\.h>|\bsqlite3_[a-z]'
}
check_sql() {
	sources daemon web workers lib | xargs -0r grep -HnE \
		'"[^"]*\b(SELECT [^"]+|INSERT (OR [A-Z]+ )?INTO|UPDATE [a-z_]+ SET|DELETE FROM|CREATE (TABLE|INDEX|TRIGGER)|DROP TABLE|PRAGMA|BEGIN (IMMEDIATE|DEFERRED)) ?[^"]*"'
}
# SQL is static text: nothing is printed into it. A version number is no text of strangers.
check_composed_sql() {
	sources db | xargs -0r grep -HnE '"[^"]*\b(SELECT|INSERT|UPDATE|DELETE)\b[^"]*%[-0-9.*]*(l|ll|z)?[sdiux][^"]*"'
}
check_writer() { # web/ and workers/ never open for writing
	sources web workers | xargs -0r grep -HnE '\bdb_open\(|\bdb_begin\('
}
banned='strcpy|strcat|strncpy|strncat|sprintf|vsprintf|strtok|gmtime|localtime|ctime|atoi|atol|atoll|atof|gets|rand|srand|system|popen|mktemp|tmpnam|tempnam|alloca|sleep|usleep'
check_banned() {
	sources lib db daemon web workers | xargs -0r grep -HnE "(^|[^a-zA-Z0-9_.>\"])($banned)\(" |
		grep -Ev '^lib/banned\.h:|^[^:]*:[0-9]*:[[:space:]]*(\*|//|/\*)|^workers/guest/'
}
check_spdx() {
	git -C "$ROOT" ls-files -z --cached --others --exclude-standard -- '*.c' '*.h' '*.mk' Makefile |
		(cd "$ROOT" && while IFS= read -r -d '' f; do [ ! -f "$f" ] || printf '%s\0' "$f"; done) >"$T/files"
	while IFS= read -r -d '' f; do
		[ -f "$f" ] || continue
		head -n 3 "$f" | grep -q 'SPDX-License-Identifier: GPL-2.0-or-later' || echo "$f: no SPDX line"
	done <"$T/files"
}
ROOT=$PWD

clean() { # CHECK TITLE
	local wrong
	n=$((n + 1))
	wrong=$("$1")
	if [ -z "$wrong" ]; then
		echo "ok $n - $2"
	else
		failed=$((failed + 1))
		echo "not ok $n - $2"
		echo "# ${wrong//$'\n'/$'\n'# }"
	fi
}
# caught CHECK FILE LINE: the line at the end of the file (in a copy) is found by the check.
caught() {
	local wrong
	n=$((n + 1))
	rm -rf "$T/copy"
	mkdir "$T/copy"
	cp -r lib db daemon web workers "$T/copy/"
	mkdir -p "$T/copy/$(dirname "$2")"
	printf '%s\n' "$3" >>"$T/copy/$2"
	wrong=$(cd "$T/copy" && "$1" | grep -F "$2")
	if [ -n "$wrong" ]; then
		echo "ok $n - $1 finds: $2: $3"
	else
		failed=$((failed + 1))
		echo "not ok $n - $1 finds: $2: $3"
	fi
}

clean check_lib 'lib/ includes nobody else'
clean check_db 'db/ includes lib/ only'
clean check_daemon 'daemon/ includes lib/ and db/ only'
clean check_web 'web/ includes lib/ and db/ only'
clean check_workers 'workers/ includes lib/ only'
clean check_guest 'the guest includes itself only'
clean check_judge 'judge/ is pure'
clean check_sqlite 'SQLite is known to db/ only'
clean check_sql 'SQL is in db/ only'
clean check_composed_sql 'SQL is static text'
clean check_writer 'web/ and workers/ do not write the database'
clean check_banned 'no banned function is called'
clean check_spdx 'every source names its license'

caught check_lib lib/str.c '#include "db/db.h"'
caught check_lib lib/str.h '#include "daemon/engine.h"'
caught check_db db/db.c '#include "daemon/repo.h"'
caught check_db db/db.h ' # include "web/route.h"'
caught check_daemon daemon/plan.c '#include "web/route.h"'
caught check_daemon daemon/report/text.c '#include "workers/run-qemu.h"'
caught check_web web/route.c '#include "daemon/engine.h"'
caught check_web web/route.c '#include "workers/mail-message.h"'
caught check_workers workers/mmbisect-run.c '#include "db/db.h"'
caught check_workers workers/mmbisect-run.c '#include "daemon/paths.h"'
caught check_judge daemon/judge/stats.c '#include "lib/str.h"'
caught check_judge daemon/judge/stats.c '	(void)fprintf(stderr, "x");'
caught check_judge daemon/judge/stats.c '#include <time.h>'
caught check_sqlite daemon/plan.c '#include "db/query.h"'
caught check_sqlite web/route.c '#include <sqlite3.h>'
caught check_sql daemon/plan.c 'static const char *q = "SELECT id FROM job WHERE key = ?";'
caught check_sql web/route.c 'static const char *q = "INSERT INTO job (key) VALUES (1)";'
caught check_sql workers/mmbisect-run.c 'static const char *q = "DELETE FROM job";'
caught check_sql daemon/plan.c 'static const char *q = "UPDATE job SET state = 1";'
caught check_composed_sql db/job.c 'x = str_format("SELECT id FROM job WHERE key = %s", key);'
caught check_writer web/route.c 'r = db_open(path, &err, &db);'
caught check_banned daemon/plan.c '	strcpy(a, b);'
caught check_banned web/route.c '	n = atoi(text);'
caught check_banned workers/mmbisect-run.c '	(void)system("rm");'

n=$((n + 1))
mkdir -p "$T/plain"
git init -q "$T/plain"
echo 'int x;' >"$T/plain/x.c"
if (cd "$T/plain" && ROOT=$T/plain check_spdx | grep -q 'x.c: no SPDX'); then
	echo "ok $n - a source without a license is found"
else
	failed=$((failed + 1))
	echo "not ok $n - a source without a license is found"
fi

echo "1..$n"
[ $failed = 0 ]
