/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_CONF_H
#define MMB_CONF_H

/*
 * Config files: INI (inih) against a static table of keys.
 *
 * A table entry names section, key, parser and the offset of the field in the caller's struct. Unknown sections and keys,
 * bad values and doubled keys are errors with file:line. A section "*" in the table with a key "*" takes free pairs (its
 * parser sees section and key). Fields of parsed strings belong to the caller's struct.
 */
#include "lib/error.h"

struct conf_item;
typedef int (*conf_parse_fn)(const struct conf_item *item, const char *section, const char *key,
			     const char *value, void *field, struct error *err);

struct conf_item {
	const char *section; /* exact, or "name *" for any `name "..."`-like section that starts with "name " */
	const char *key;     /* exact, or "*" */
	conf_parse_fn parse;
	size_t offset;    /* of the field in the target struct */
	const char *help; /* one line, for manuals */
};

/* Parses path into target. items ends with a NULL section. */
int conf_load(const char *path, const struct conf_item *items, void *target, struct error *err);

int conf_parse_string(const struct conf_item *item, const char *section, const char *key, const char *value,
		      void *field, struct error *err); /* char ** */
int conf_parse_unsigned(const struct conf_item *item, const char *section, const char *key, const char *value,
			void *field, struct error *err); /* unsigned * */
int conf_parse_double(const struct conf_item *item, const char *section, const char *key, const char *value,
		      void *field, struct error *err); /* double * */
int conf_parse_bool(const struct conf_item *item, const char *section, const char *key, const char *value,
		    void *field, struct error *err); /* bool *: yes no true false on off 1 0 */

/* An ordered list of key = value pairs, for free sections. */
struct conf_pairs {
	struct conf_pair {
		char *key, *value;
	} *items;
	size_t n, capacity;
};
void conf_pairs_done(struct conf_pairs *pairs);
const char *conf_pairs_get(const struct conf_pairs *pairs, const char *key);
int conf_pairs_add(struct conf_pairs *pairs, const char *key, const char *value);
int conf_parse_pairs(const struct conf_item *item, const char *section, const char *key, const char *value,
		     void *field, struct error *err); /* struct conf_pairs * */

/* Splits "a, b c" at blanks and commas into a NULL-terminated list; strv_free() frees it. */
int conf_split_list(const char *text, char ***ret, size_t *ret_n);
int conf_parse_list(const struct conf_item *item, const char *section, const char *key, const char *value,
		    void *field, struct error *err); /* char *** */
void strv_free(char **list);

#endif
