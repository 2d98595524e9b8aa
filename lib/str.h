/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_STR_H
#define MMB_STR_H

/*
 * Strings: a growing buffer (`struct str`), formatting into new memory, parsing of numbers, and making bytes of
 * strangers harmless.
 *
 * A `struct str` is a value, made by STR_INIT, released by str_done(). `data` is always NUL terminated (also when empty);
 * `len` does not count the NUL; the bytes may hold NULs. Appending fails with -ENOMEM and then leaves it as it was;
 * the error is also remembered in `failed`, so that a writer of many pieces may check once at the end.
 */
#include "lib/cleanup.h"

#include <stdarg.h>

struct str {
	char *data;
	size_t len;
	size_t capacity;
	bool failed;
};

extern char str_empty[];
#define STR_INIT ((struct str){ .data = str_empty })

void str_done(struct str *s);
void str_clear(struct str *s);
int str_add(struct str *s, const char *text);
int str_add_mem(struct str *s, const void *data, size_t len);
int str_addf(struct str *s, const char *format, ...) _printf_(2, 3);
int str_vaddf(struct str *s, const char *format, va_list ap) _printf_(2, 0);
/* Hands the memory over to the caller; NULL when an append failed. The str is empty afterwards. */
char *str_take(struct str *s);
#define _cleanup_str_ _cleanup_(str_done)

/* A new formatted string, NULL when out of memory. */
char *str_format(const char *format, ...) _printf_(1, 2);

/* Replaces *p by a copy of text (NULL allowed). 0 or -ENOMEM. */
int str_set(char **p, const char *text);

bool str_eq(const char *a, const char *b);
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);

/* Whole string a decimal number, else -EINVAL; out of range -ERANGE. */
int str_to_u64(const char *s, uint64_t *ret);
int str_to_double(const char *s, double *ret);

/* True for 40 or 64 lower-case hex digits: a git object id. */
bool str_is_oid(const char *s);

/*
 * A new string that is valid UTF-8 and has no control character but \n and \t: every other byte becomes U+FFFD (or is
 * dropped for controls). For text of strangers before it is shown anywhere. NULL when out of memory.
 */
char *str_sanitize(const char *bytes, size_t len);
/* The same, and on one line: \n and \t become blanks. */
char *str_sanitize_line(const char *bytes, size_t len);
/* Length of the valid UTF-8 sequence at s (at most len bytes), 0 when it is none. */
size_t utf8_sequence(const unsigned char *s, size_t len);

/* Seconds as a person reads them: "4.1 s", "2 min 05 s", "1 h 12 min". Static size: out holds at least 32 bytes. */
const char *str_duration(double seconds, char out[32]);

#endif
