// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/log.h"

#include "lib/clock.h"
#include "lib/str.h"

#include <sys/ioctl.h>

static struct {
	const char *program;
	enum log_level max_level;
	bool journal;
	bool terminal;
	bool progress_open;
	uint64_t progress_at_ns;
	char progress_word[32];
} log_state = { .program = "mmbisect", .max_level = LOG_LEVEL_INFO };

void log_init(const char *program, enum log_level max_level)
{
	log_state.program = program;
	log_state.max_level = max_level;
	log_state.journal = getenv("JOURNAL_STREAM") != NULL;
	log_state.terminal = isatty(STDERR_FILENO) == 1;
}

void log_write(enum log_level level, const char *format, ...)
{
	static const char *const words[] = { "error", "warning", NULL, "debug" };
	static const int priorities[] = { 3, 4, 6, 7 };
	_cleanup_str_ struct str s = STR_INIT;
	va_list ap;

	if (level > log_state.max_level)
		return;
	log_progress_end();
	if (log_state.journal)
		(void)str_addf(&s, "<%d>", priorities[level]);
	else
		(void)str_addf(&s, "%s: ", log_state.program);
	if (words[level])
		(void)str_addf(&s, "%s: ", words[level]);
	va_start(ap, format);
	(void)str_vaddf(&s, format, ap);
	va_end(ap);
	(void)str_add(&s, "\n");
	(void)fwrite(s.data, 1, s.len, stderr);
}

static int terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 20)
		return 80;
	return size.ws_col;
}

void log_progress(const char *format, ...)
{
	_cleanup_str_ struct str s = STR_INIT;
	uint64_t now = now_mono_ns();
	size_t word;
	va_list ap;

	if (log_state.max_level < LOG_LEVEL_INFO)
		return;
	va_start(ap, format);
	(void)str_vaddf(&s, format, ap);
	va_end(ap);
	if (log_state.terminal) {
		(void)fprintf(stderr, "\r\033[K%.*s", terminal_width() - 1, s.data);
		(void)fflush(stderr);
		log_state.progress_open = true;
		return;
	}
	word = MIN(strcspn(s.data, " "), sizeof(log_state.progress_word) - 1);
	if (strncmp(log_state.progress_word, s.data, word) == 0 &&
	    log_state.progress_word[word] == '\0' &&
	    now - log_state.progress_at_ns < 10 * NSEC_PER_SEC)
		return;
	memcpy(log_state.progress_word, s.data, word);
	log_state.progress_word[word] = '\0';
	log_state.progress_at_ns = now;
	(void)fprintf(stderr, "%s: %s\n", log_state.program, s.data);
}

void log_progress_end(void)
{
	if (log_state.progress_open)
		(void)fputs("\r\033[K", stderr);
	log_state.progress_open = false;
}
