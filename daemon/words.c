// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a person says of a finding or a tip over the control socket: {"verb":"accept|known|wrong","id":"12","reason":"why"}.
 * id: the number of a finding, or the start of the commit of a tip. An accepted finding makes the tip it was found on the
 * new base line; what is said of a tip is said of the findings on it, those that are still to come too (findings.c). A mail
 * that has not gone out is not sent any more.
 */
#include "daemon/service.h"

#include "db/finding.h"
#include "db/search.h"
#include "db/tip.h"
#include "db/word.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/str.h"

#define REASON_MAX 1000
#define PREFIX_MIN 7

static const struct {
	const char *verb, *state;
} verbs[] = { { "accept", "accepted" }, { "known", "known" }, { "wrong", "wrong" } };

static int say_tip(struct db *db, const struct tip *tip, const struct word *w)
{
	_cleanup_free_ char *reason = str_format("accepted: %s", w->reason);
	int r = reason ? db_word_add_tip(db, tip->id, w) : -ENOMEM;

	if (r >= 0 && str_eq(w->state, "accepted"))
		r = db_tip_set(db, tip->id, "accepted", reason);
	return r;
}

/* The tips that this finding was found on. */
static int accept_tips_of(struct db *db, const struct finding *f, const struct word *w)
{
	_cleanup_(search_done) struct search search = { 0 };
	_cleanup_(tip_list_done) struct tip_list tips = { 0 };
	int r = db_search_get(db, f->search_id, &search);

	if (r >= 0)
		r = db_tip_find(db, search.bad, &tips);
	for (size_t i = 0; r >= 0 && i < tips.n; i++)
		if (str_eq(tips.items[i].tree, search.tree))
			r = say_tip(db, &tips.items[i], w);
	return r;
}

static int say_finding(struct db *db, const struct finding *f, const struct word *w)
{
	int r = db_begin(db);

	if (r < 0)
		return r;
	r = db_word_add_finding(db, f->id, w);
	if (r >= 0)
		r = db_mail_withdraw(db, f->id, w->state);
	if (r >= 0 && str_eq(w->state, "accepted"))
		r = accept_tips_of(db, f, w);
	return db_end(db, r);
}

/* Words of several tips that are one commit: it may be the tip of more than one branch. */
static int say_tips(struct db *db, const struct tip_list *tips, const struct word *w)
{
	int r = db_begin(db);

	if (r < 0)
		return r;
	for (size_t i = 0; r >= 0 && i < tips->n; i++) {
		r = say_tip(db, &tips->items[i], w);
		/* one commit, which a tree may have had as its tip more than once */
		if (r >= 0 && (i == 0 || !str_eq(tips->items[i].tree, tips->items[i - 1].tree)))
			r = db_word_add_findings_of(db, tips->items[i].tree, tips->items[i].oid, w);
	}
	return db_end(db, r);
}

static int find_tips(struct db *db, const char *prefix, struct error *err, struct tip_list *ret)
{
	int r = db_tip_find(db, prefix, ret);

	if (r < 0)
		return error_errno(err, r, "database");
	if (ret->n == 0)
		return error_set(err, -ENOENT, "there is no finding and no tip '%s'", prefix);
	for (size_t i = 1; i < ret->n; i++)
		if (!str_eq(ret->items[i].oid, ret->items[0].oid))
			return error_set(err, -EINVAL, "'%s' is the start of more than one tip: give more digits", prefix);
	return 0;
}

static bool is_prefix(const char *id)
{
	size_t n = strlen(id);

	return n >= PREFIX_MIN && n <= 64 && strspn(id, "0123456789abcdef") == n;
}

/* 1 it is a finding, 0 it is none. */
static int find_finding(struct db *db, const char *id, struct finding *ret)
{
	uint64_t number;
	int r;

	if (str_to_u64(id, &number) < 0 || number > INT64_MAX)
		return 0;
	r = db_finding_get(db, (int64_t)number, ret);
	return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

static int say(struct service *s, const char *id, const struct word *w, struct error *err, char **ret_text)
{
	_cleanup_(finding_done) struct finding f = { 0 };
	_cleanup_(tip_list_done) struct tip_list tips = { 0 };
	struct db *db = s->engine->db;
	int r = find_finding(db, id, &f);

	if (r == 0 && !is_prefix(id))
		return error_set(err, -ENOENT, "there is no finding '%s' (a tip is given by 7 digits of its commit or more)", id);
	if (r == 0) {
		r = find_tips(db, id, err, &tips);
		if (r < 0)
			return r;
		r = say_tips(db, &tips, w);
		*ret_text = str_format("tip %.12s: %s", tips.items[0].oid, w->state);
	} else if (r > 0) {
		r = say_finding(db, &f, w);
		*ret_text = str_format("finding %lld: %s", (long long)f.id, w->state);
	}
	if (r < 0)
		return error_errno(err, r, "database");
	return *ret_text ? 0 : error_errno(err, -ENOMEM, "%s", id);
}

int words_control(void *userdata, const char *verb, const json_t *request, const char *who, struct error *err, json_t **ret)
{
	struct service *s = userdata;
	const char *id = json_get_string(request, "id"), *reason = json_get_string(request, "reason");
	_cleanup_free_ char *text = NULL, *line = NULL;
	struct word w = { .who = (char *)(uintptr_t)who, .at_ns = (int64_t)now_wall_ns() };
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (str_eq(verbs[i].verb, verb))
			w.state = (char *)(uintptr_t)verbs[i].state;
	if (!id || !*id)
		return error_set(err, -EINVAL, "%s: which finding or tip? a string 'id' is needed", verb);
	if (!reason || reason[strspn(reason, " \t\r\n")] == '\0')
		return error_set(err, -EINVAL, "%s: a reason is needed", verb);
	if (strlen(reason) > REASON_MAX)
		return error_set(err, -EINVAL, "%s: a reason of at most %d bytes", verb, REASON_MAX);
	line = str_sanitize_line(reason, strlen(reason));
	if (!line)
		return error_errno(err, -ENOMEM, "%s", verb);
	w.reason = line;
	r = say(s, id, &w, err, &text);
	if (r < 0)
		return r;
	log_info("%s by %s: %s", text, who, line);
	engine_wake(s->engine);
	*ret = json_pack("{s:s}", "text", text);
	return 0;
}
