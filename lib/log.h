/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_LOG_H
#define MMB_LOG_H

/*
 * The process's own log on stderr: one line a message, "<N>" priority prefixes when stderr is the journal
 * ($JOURNAL_STREAM), else a time and a level word. Only programs and their verbs log; lib/ and db/ return errors.
 * A progress line (log_progress) is redrawn in place on a terminal and dropped or thinned out elsewhere.
 */
#include "lib/cleanup.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_init(const char *program, enum log_level max_level);
void log_write(enum log_level level, const char *format, ...) _printf_(2, 3);
#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...) log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

/* What is being done now. On a terminal it overwrites itself; elsewhere a line is written when the text's first word
 * changes or 10 s have gone by. */
void log_progress(const char *format, ...) _printf_(1, 2);
/* Ends the line under construction, so that other output starts on a fresh one. */
void log_progress_end(void);

#endif
