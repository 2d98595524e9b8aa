// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/build-verdict.h"

#include "lib/str.h"

#include <ctype.h>

enum rank { RANK_NONE, RANK_MAKE_TARGET, RANK_MAKE, RANK_TOOL, RANK_LOCATED };

void verdict_done(struct verdict *v)
{
	free(v->error);
	free(v->host);
	free(v->missing);
	*v = VERDICT_INIT;
}

/* How lines end that only a host in trouble writes. */
static const char *const host_endings[] = {
	"No space left on device",
	"Disk quota exceeded",
	"Cannot allocate memory",
	"unable to execute command: Killed",
	"LLVM ERROR: out of memory",
	"Input/output error",
	"Read-only file system",
	"Too many open files in system",
	" Killed", /* make: *** [...] Killed */
};

static bool is_host_line(const struct verdict *v, const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(host_endings); i++)
		if (str_ends(line, host_endings[i]))
			return true;
	/* The sandbox did not come up; later in the log it could be anybody's text. */
	return str_eq(line, "Killed") || (v->n_lines == 0 && str_starts(line, "bwrap: "));
}

/* "file:12:3: error: text" or "file:12: error: text" */
static bool is_located(const char *line)
{
	const char *p = line;

	while ((p = strstr(p, "rror: "))) {
		const char *q = p;

		p += 6;
		if (q - line < 3)
			continue;
		q -= q[-1] == 'e' || q[-1] == 'E' ? 1 : 0;
		if (q - line > 6 && memcmp(q - 6, "fatal ", 6) == 0)
			q -= 6;
		if (q - line > 3 && q[-1] == ' ' && q[-2] == ':' && isdigit((unsigned char)q[-3]))
			return true;
	}
	return false;
}

static enum rank rank_of(const char *line)
{
	if (is_located(line))
		return RANK_LOCATED;
	if (strstr(line, "error: ") || str_starts(line, "ERROR: ") || strstr(line, "LLVM ERROR"))
		return RANK_TOOL;
	if (strstr(line, ": *** ["))
		return RANK_MAKE_TARGET;
	if (strstr(line, "*** "))
		return RANK_MAKE;
	return RANK_NONE;
}

/* The fixed path of the sandbox says nothing to a reader. */
static char *readable(const char *line)
{
	_cleanup_str_ struct str s = STR_INIT;

	while (*line) {
		if (str_starts(line, "/src/"))
			line += 5;
		(void)str_add_mem(&s, line, *line ? 1 : 0);
		line += *line ? 1 : 0;
	}
	return s.failed ? NULL : str_sanitize_line(s.data, s.len);
}

/* "sh: 1: ld.lld: not found", "make: ccache: No such file or directory": a program, which is no file of the tree. */
static char *missing_program(const char *line)
{
	static const char *const endings[] = { ": not found", ": command not found", ": No such file or directory" };

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t end = strlen(line), begin;

		if (!str_ends(line, endings[i]))
			continue;
		if (i == 2 && !str_starts(line, "make"))
			continue;
		end -= strlen(endings[i]);
		for (begin = end; begin > 0 && line[begin - 1] != ' '; begin--)
			if (line[begin - 1] == '/')
				return NULL;
		if (begin > 0 && begin < end)
			return str_format("%.*s not found", (int)MIN(end - begin, 100U), line + begin);
	}
	return NULL;
}

void verdict_line(struct verdict *v, const char *line)
{
	enum rank rank = rank_of(line);

	if (!v->host && is_host_line(v, line))
		v->host = readable(line);
	if (!v->missing)
		v->missing = missing_program(line);
	if (strstr(line, "modification time") && strstr(line, "in the future"))
		v->clock_skew = true;
	if ((int)rank > v->rank) {
		free(v->error);
		v->error = readable(line);
		v->rank = (int)rank;
	}
	v->n_lines++;
}

bool verdict_is_sure(const struct verdict *v)
{
	return v->rank >= RANK_TOOL;
}

char *verdict_text(const struct verdict *v, int status, bool *ret_infra)
{
	*ret_infra = true;
	if (v->host)
		return strdup(v->host);
	if (status == 128 + 9)
		return strdup("the build was killed");
	if (v->rank < RANK_LOCATED && v->missing)
		return str_sanitize_line(v->missing, strlen(v->missing));
	if (v->rank < RANK_TOOL && v->clock_skew)
		return strdup("clock skew: files are newer than now");
	*ret_infra = false;
	return v->error ? strdup(v->error) : str_format("make ended with status %d and no word", status);
}
