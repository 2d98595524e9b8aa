/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_RUN_CONSOLE_H
#define MMB_RUN_CONSOLE_H

/*
 * The guest's console: kept in a file up to a cap, and watched line by line for the kernel's cries.
 *
 * A table says what counts: fatal (the run is over) or noted (a warning of the result). Only kernel messages count: lines
 * that begin with printk's time stamp. As long as no stamp was seen at all (a kernel that does not know printk.time) lines without one
 * count as well. Text in the middle of a line never does. Titles are normalised, so that the same crash of two kernels has the
 * same title: addresses become ADDR, numbers NUM, and the name of the task that happened to run COMM.
 */
#include "lib/error.h"
#include "lib/json.h"

#define RUN_CONSOLE_FILE_MAX (8u << 20)
#define RUN_CONSOLE_LINE_MAX 1024
#define RUN_TITLE_MAX 120
#define RUN_WARNINGS_MAX 16

struct run_console {
	int fd;		/* of the file; -1: none is kept */
	uint64_t bytes; /* that the guest wrote */
	size_t kept;	/* that went into the file */
	bool cut;
	int write_error;
	struct str line;
	bool stamped;		/* a time stamp was seen */
	const char *crash_class; /* of the first fatal line: "panic", "oops", "bug"; NULL: none */
	char *crash_title;
	bool measured; /* set by the owner: the end record is here, nothing that comes now counts */
	bool want_place;  /* the title may still get " in function" */
	json_t *warnings; /* array of titles */
};

/* Opens the file for appending (NULL: none). -errno with a message when it cannot be opened. */
int run_console_open(struct run_console *console, const char *path, struct error *err);
void run_console_done(struct run_console *console);
#define _cleanup_run_console_ _cleanup_(run_console_done)

/* Takes bytes as they come. 0 or -ENOMEM. */
int run_console_feed(struct run_console *console, const char *data, size_t len);
/* The guest has ended: a last line without newline counts too. */
int run_console_end(struct run_console *console);

/* For tests, and for titles from elsewhere: a new normalised title; NULL when out of memory. */
char *run_title(const char *text);

#endif
