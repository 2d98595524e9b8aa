/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_REPORT_SECTIONS_H
#define MMB_REPORT_SECTIONS_H

/* The sections of report_text(); private to it. Each adds its lines, or nothing when the document has nothing for it. */
#include "lib/json.h"

typedef int (*report_section_fn)(const json_t *document, struct str *out);

int section_greeting(const json_t *document, struct str *out);
int section_commit(const json_t *document, struct str *out);
int section_noise(const json_t *document, struct str *out);
int section_changes(const json_t *document, struct str *out);
int section_proof(const json_t *document, struct str *out);
int section_candidates(const json_t *document, struct str *out);
int section_failure(const json_t *document, struct str *out);
int section_table(const json_t *document, struct str *out);
int section_checks(const json_t *document, struct str *out);
int section_words(const json_t *document, struct str *out);
int section_counters(const json_t *document, struct str *out);
int section_made_with(const json_t *document, struct str *out);
int section_reproduce(const json_t *document, struct str *out);
int section_steps(const json_t *document, struct str *out);
int section_log(const json_t *document, struct str *out);
int section_footer(const json_t *document, struct str *out);

/* The one of a search for a failure, in place of section_checks(). */
int section_failure_checks(const json_t *document, struct str *out);

/* The member `failure`: what is searched for when it is no metric; NULL else. */
const json_t *document_failure(const json_t *document);
/* Sentence and subject of it. */
void add_failure_noticed(struct str *out, const json_t *document);
void add_failure_subject(struct str *out, const json_t *document);

/* `verify` of a bisection, `rows` of the others. */
const json_t *document_rows(const json_t *document);
/* Rows of `compare` and `run` bear names that a person gave, which may be those of a finding. */
bool document_is_finding(const json_t *document);
bool document_has_culprit(const json_t *document);
/* The string member, cleaned and cut; "" when there is none. */
void add_member(struct str *out, const json_t *object, const char *key, size_t columns);
/* The first 12 digits of an object id member; nothing when it is none. */
void add_short_oid(struct str *out, const json_t *object, const char *key);
/* "5 709 to 166 997 ns/call, 29.3 times as much": the member `change`. False when there is none. */
bool add_change(struct str *out, const json_t *document);

#endif
