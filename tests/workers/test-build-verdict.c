// SPDX-License-Identifier: GPL-2.0-or-later
/* Whose fault is a failed build, and in which words: on lines as make, clang and ld.lld write them. */
#include "workers/build-verdict.h"

#include "lib/str.h"
#include "tap.h"

static const struct example {
	const char *title;
	const char *lines[6];
	int status;
	bool infra;
	const char *text;
} examples[] = {
	{ "a compile error",
	  { "  CC      mm/mmap.o", "In file included from /src/mm/mmap.c:1:", "/src/mm/mmap.c:12:3: error: expected ';'",
	    "/src/mm/mmap.c:13:3: error: another", "make[2]: *** [/src/scripts/Makefile.build:250: mm/mmap.o] Error 1" },
	  2, false, "mm/mmap.c:12:3: error: expected ';'" },
	{ "a missing header", { "/src/mm/mmap.c:1:10: fatal error: 'no.h' file not found" }, 2, false,
	  "mm/mmap.c:1:10: fatal error: 'no.h' file not found" },
	{ "the linker",
	  { "ld.lld: error: undefined symbol: foo", ">>> referenced by mmap.c", "make[1]: *** [/src/Makefile:1: vmlinux] Error 1" },
	  2, false, "ld.lld: error: undefined symbol: foo" },
	{ "modpost", { "ERROR: modpost: \"__compiletime_assert_12\" undefined!" }, 2, false,
	  "ERROR: modpost: \"__compiletime_assert_12\" undefined!" },
	{ "make without a rule", { "make[2]: *** No rule to make target 'a.c', needed by 'a.o'.  Stop.", "make[1]: *** [x] Error 2" },
	  2, false, "make[2]: *** No rule to make target 'a.c', needed by 'a.o'.  Stop." },
	{ "a compiler error comes before make's words", { "make[2]: *** No rule to make target 'a.c'.  Stop.", "/src/a.c:1:1: error: x" },
	  2, false, "a.c:1:1: error: x" },
	{ "silence", { NULL }, 2, false, "make ended with status 2 and no word" },
	{ "an OOM-killed compiler", { "clang: error: unable to execute command: Killed", "make[2]: *** [a.o] Error 254" }, 2, true,
	  "clang: error: unable to execute command: Killed" },
	{ "an OOM-killed tool", { "make[3]: *** [/src/Makefile:9: mm/mmap.o] Killed" }, 2, true,
	  "make[3]: *** [Makefile:9: mm/mmap.o] Killed" },
	{ "a full disk", { "fatal error: error in backend: IO failure on output stream: No space left on device" }, 2, true,
	  "fatal error: error in backend: IO failure on output stream: No space left on device" },
	{ "a full disk that truncates a header", { "sh: 1: echo: I/O: No space left on device", "/src/a.c:1:1: error: x" }, 2, true,
	  "sh: 1: echo: I/O: No space left on device" },
	{ "a linker that is missing", { "/bin/sh: 1: ld.lld: not found", "make[1]: *** [x] Error 127" }, 2, true, "ld.lld not found" },
	{ "make's words for it", { "make: ccache: No such file or directory" }, 2, true, "ccache not found" },
	{ "a script of the tree that is missing", { "/bin/sh: 1: ./scripts/no.sh: not found", "make[1]: *** [x] Error 127" }, 2, false,
	  "make[1]: *** [x] Error 127" },
	{ "clock skew alone", { "make: Warning: File 'x' has modification time 9 s in the future", "make: *** [x] Error 1" }, 2, true,
	  "clock skew: files are newer than now" },
	{ "clock skew beside an error", { "make: Warning: File 'x' has modification time 9 s in the future", "/src/a.c:1:1: error: x" }, 2,
	  false, "a.c:1:1: error: x" },
	{ "a sandbox that does not start", { "bwrap: No permissions to create new namespace" }, 1, true,
	  "bwrap: No permissions to create new namespace" },
	{ "a tree that speaks like the sandbox", { "  CC      a.o", "bwrap: boo", "/src/a.c:1:1: error: x" }, 1, false,
	  "a.c:1:1: error: x" },
	{ "a killed build", { "  CC      a.o" }, 137, true, "the build was killed" },
	{ "bytes that are no text", { "/src/\x1b[31m\xff.c:1:1: error: \x07z" }, 2, false, "[31m\xef\xbf\xbd.c:1:1: error: z" },
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		_cleanup_verdict_ struct verdict v = VERDICT_INIT;
		_cleanup_free_ char *text = NULL;
		bool infra;

		for (size_t n = 0; n < ARRAY_SIZE(examples[i].lines) && examples[i].lines[n]; n++)
			verdict_line(&v, examples[i].lines[n]);
		text = verdict_text(&v, examples[i].status, &infra);
		is_str(text, examples[i].text, "%s: text", examples[i].title);
		is_int(infra, examples[i].infra, "%s: whose fault", examples[i].title);
	}
	return done_testing();
}
