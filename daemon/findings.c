// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From open searches to findings and mails. A finding and its mail are one transaction; the mail's Message-ID is fixed then,
 * before the first try to send it. A patch has one finding: further searches that end in it join that, without a mail. What a
 * person has said of the tip in the meantime is said of its finding, which is not mailed then.
 */
#include "daemon/service.h"

#include "daemon/report/mail.h"
#include "daemon/report/text.h"
#include "daemon/session.h"
#include "daemon/watched.h"
#include "db/finding.h"
#include "db/search.h"
#include "db/tip.h"
#include "db/word.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/str.h"

/* A search whose infrastructure broke is looked at again with every look at a tree. */
static int step_search(struct service *s, const struct search *search, struct error *err)
{
	enum session_state state;
	int r = session_step(s->engine, search->id, err, &state);

	if (r < 0 && r != -ENOMEM && r != -ENOSPC && r != -EUCLEAN) {
		/* A history or a question that cannot be read must not stand in the way of all others, at every start again. */
		log_warning("search %lld: %s: given up", (long long)search->id, error_text(err));
		r = session_abandon(s->engine, search->id, error_text(err));
		error_done(err);
		return r < 0 ? error_errno(err, r, "database") : 0;
	}
	if (r < 0)
		return r;
	if (state == SESSION_BROKEN)
		log_debug("search %lld waits: %s", (long long)search->id, session_broken(s->engine, search->id));
	if (state == SESSION_DONE)
		log_info("search %lld: done", (long long)search->id);
	return 0;
}

static char *recipients_text(const struct service *s)
{
	_cleanup_str_ struct str text = STR_INIT;
	char **const lists[] = { s->mail_to, s->mail_cc };

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++)
		for (size_t i = 0; lists[l] && lists[l][i]; i++)
			(void)str_addf(&text, "%s\n", lists[l][i]);
	return str_take(&text);
}

static int make_mail(struct service *s, const json_t *document, const struct finding *f, int64_t finding_id, struct error *err,
		     struct mail *ret)
{
	_cleanup_str_ struct str subject = STR_INIT, message = STR_INIT;
	_cleanup_(mail_done) struct mail m = { .finding_id = finding_id };
	struct mail_headers h = { .from = s->mail_from, .to = (const char *const *)(uintptr_t)s->mail_to,
				  .cc = (const char *const *)(uintptr_t)s->mail_cc, .date_ns = now_wall_ns() };
	char host[256] = "localhost", token[64];
	int r = report_subject(document, &subject);

	(void)gethostname(host, sizeof(host) - 1);
	(void)snprintf(token, sizeof(token), "%lld.%llu", (long long)finding_id, (unsigned long long)h.date_ns);
	if (r >= 0)
		r = mail_message_id(f->patch_id, token, host, &m.message_id);
	if (r < 0)
		return error_errno(err, r, "mail");
	h.subject = subject.data;
	h.message_id = m.message_id;
	r = mail_compose(&h, f->report, err, &message);
	if (r < 0)
		return r;
	m.message_len = message.len;
	m.message = str_take(&message);
	m.sender = strdup(s->mail_from);
	m.recipients = recipients_text(s);
	if (!m.message || !m.sender || !m.recipients)
		return error_errno(err, -ENOMEM, "mail");
	*ret = m;
	m = (struct mail){ 0 };
	return 0;
}

static int add_mail(struct service *s, const json_t *document, const struct finding *f, int64_t id, struct error *err)
{
	_cleanup_(mail_done) struct mail mail = { 0 };
	int r = make_mail(s, document, f, id, err, &mail);

	return r < 0 ? r : db_mail_add(s->engine->db, &mail, now_wall_ns());
}

/* A new finding, with a mail if it is proved and no person knows already: *ret_id. */
static int add_new(struct service *s, const struct search *search, const json_t *document, const struct finding *f,
		   struct error *err, int64_t *ret_id)
{
	_cleanup_(word_done) struct word said = { 0 };
	struct db *db = s->engine->db;
	int r = db_finding_add(db, f, now_wall_ns(), ret_id);

	if (r <= 0)
		return r;
	r = db_word_of_tip(db, search->tree, search->bad, &said);
	if (r > 0)
		return db_word_add_finding(db, *ret_id, &said);
	return r < 0 || !s->mail_server || f->unproved ? r : add_mail(s, document, f, *ret_id, err);
}

/* One more search of a patch: its mail is due if this is the first that has a proof, and nobody has said a word. */
static int join(struct service *s, const struct search *search, const json_t *document, const struct finding *f, int64_t id,
		struct error *err)
{
	_cleanup_(word_done) struct word said = { 0 }, of_tip = { 0 };
	struct db *db = s->engine->db;
	int r = db_finding_join(db, id, f->search_id);

	if (r < 0 || f->unproved)
		return r;
	r = db_finding_prove(db, id, f);
	if (r <= 0)
		return r;
	r = db_word_of_finding(db, id, &said);
	if (r == 0)
		r = db_word_of_tip(db, search->tree, search->bad, &of_tip);
	return r != 0 || !s->mail_server ? MIN(r, 0) : add_mail(s, document, f, id, err);
}

static int store(struct service *s, const struct search *search, const json_t *document, const struct finding *f, struct error *err)
{
	struct db *db = s->engine->db;
	int64_t id = 0;
	int r = db_begin(db), known;

	if (r < 0)
		return error_errno(err, r, "database");
	known = db_finding_of_patch(db, f->patch_id, &id);
	r = known > 0 ? join(s, search, document, f, id, err) : known;
	if (known == 0)
		r = add_new(s, search, document, f, err, &id);
	r = db_end(db, r);
	if (r < 0)
		return err->code < 0 ? r : error_errno(err, r, "database");
	if (known > 0)
		log_info("finding %lld: %s: search %lld ended in it, too; one mail is enough", (long long)id, f->subject,
			 (long long)f->search_id);
	else
		log_info("finding %lld: %.12s %s%s%s", (long long)id, f->culprit, f->subject,
			 f->unproved ? ": not proved, not mailed: " : "", f->unproved ? f->unproved : "");
	return 0;
}

/* NULL: the proof shows the change. Of a set there is none: its ends are what was measured. */
static const char *why_unproved(const json_t *document)
{
	const json_t *proof = json_object_get(document, "proof");
	const char *reason = json_get_string(proof, "reason");

	if (!proof || str_eq(json_get_string(proof, "state"), "shown"))
		return NULL;
	return reason ? reason : "no reason is given";
}

/* A search with a culprit becomes a finding; so does one with a set, by its first commit that was measured to be bad. */
static int add_finding(struct service *s, const struct search *search, const json_t *answer, const char *oid, struct error *err)
{
	_cleanup_json_ json_t *document = json_copy((json_t *)(uintptr_t)answer);
	_cleanup_(finding_done) struct finding f = { .search_id = search->id };
	_cleanup_(commit_done) struct commit culprit = { 0 };
	_cleanup_str_ struct str text = STR_INIT;
	const char *fix = json_get_string(json_object_get(document, "fix"), "oid"), *unproved = why_unproved(document);
	int r = document ? repo_commit(s->engine->repo, oid, err, &culprit) : error_errno(err, -ENOMEM, "finding");

	if (r < 0)
		return r;
	if (json_object_set_new(document, "reporter", json_string(s->mail_from ? s->mail_from : "mmbisect")) < 0)
		return error_errno(err, -ENOMEM, "finding");
	r = report_text(document, &text);
	if (r >= 0)
		r = repo_patch_id(s->engine->repo, oid, &f.patch_id);
	f.culprit = strdup(oid);
	f.subject = strdup(culprit.subject);
	f.report = str_take(&text);
	if (r < 0 || !f.culprit || !f.subject || !f.report || str_set(&f.fix, fix) < 0 ||
	    str_set(&f.unproved, unproved) < 0)
		return error_errno(err, r < 0 ? r : -ENOMEM, "finding");
	return store(s, search, document, &f, err);
}

static int add_search(struct service *s, const struct search *ended, const char *metric, double claim, struct error *err)
{
	struct search question = { .tree = ended->tree, .ref = ended->ref, .good = ended->good, .bad = ended->bad,
				   .workload = ended->workload, .arch = ended->arch, .class = ended->class,
				   .metric = (char *)(uintptr_t)metric, .claim = claim };
	int64_t id;
	int r = db_search_asked(s->engine->db, ended->tree, ended->bad, ended->workload, ended->arch, metric, ended->class);

	if (r != 0)
		return r < 0 ? error_errno(err, r, "database") : 0;
	r = db_search_add(s->engine->db, &question, now_wall_ns(), &id);
	if (r < 0)
		return error_errno(err, r, "database");
	log_info("search %lld: %s moved, too, but not at its culprit: search %lld", (long long)ended->id, metric, (long long)id);
	engine_wake(s->engine);
	return 0;
}

/* A watched metric that got worse between the ends of a search, but not at its culprit, has another cause: a search of its own. */
static int search_elsewhere(struct service *s, const struct search *ended, struct error *err)
{
	_cleanup_(workload_done) struct workload workload = { 0 };
	_cleanup_(commit_done) struct commit culprit = { 0 };
	const char *metric;
	int r;

	if (!ended->culprit || !str_eq(ended->class, "exact") || !service_tree(s, ended->tree))
		return 0;
	r = workload_load(&s->engine->paths, ended->workload, err, &workload);
	if (r >= 0)
		r = repo_commit(s->engine->repo, ended->culprit, err, &culprit);
	for (size_t k = 0; r >= 0 && culprit.n_parents && (metric = watched_metric(&workload, k)); k++) {
		struct judge_comparison all = { 0 }, there = { 0 };

		r = str_eq(metric, ended->metric) ? 0 :
			watched_compare(s->engine, ended, &workload, metric, ended->good, ended->bad, err, &all);
		if (r <= 0 || all.relation != JUDGE_WORSE)
			continue;
		r = watched_compare(s->engine, ended, &workload, metric, culprit.parents[0], ended->culprit, err, &there);
		if (r > 0 && there.relation != JUDGE_WORSE)
			r = add_search(s, ended, metric, judge_relative_change(all.before, all.after), err);
	}
	return r < 0 ? r : 0;
}

static int set_tips(struct service *s, const struct search *search, const char *from, const char *to, const char *reason)
{
	_cleanup_(tip_list_done) struct tip_list tips = { 0 };
	int r = db_tip_list(s->engine->db, from, &tips);

	for (size_t i = 0; r >= 0 && i < tips.n; i++) {
		const struct tip *tip = &tips.items[i];

		if (!str_eq(tip->oid, search->bad) || !str_eq(tip->tree, search->tree))
			continue;
		if (str_eq(from, "searched") || str_starts(tip->reason ? tip->reason : "", "search "))
			r = db_tip_set(s->engine->db, tip->id, to, reason);
	}
	return r;
}

/*
 * What a search's end means for the tip that started it: its level is known from now on. What fails is no level to compare
 * with, also when another search of the same tip has ended before.
 */
static int settle_tip(struct service *s, const struct search *search, struct error *err)
{
	const bool fails = str_eq(search->metric, METRIC_STATUS) && !str_eq(search->verdict, "not-reproduced");
	const bool known = !fails && !str_eq(search->verdict, "gave-up");
	_cleanup_free_ char *reason = str_format("search %lld: %s", (long long)search->id, search->verdict);
	int r = reason ? set_tips(s, search, "searched", known ? "accepted" : "failed", reason) : -ENOMEM;

	if (r >= 0 && fails)
		r = set_tips(s, search, "accepted", "failed", reason);
	return r < 0 ? error_errno(err, r, "database") : 0;
}

static int add_finding_of(struct service *s, const struct search *search, struct error *err)
{
	_cleanup_json_ json_t *answer = search->document ? json_loads(search->document, 0, NULL) : NULL;
	const char *oid = search->culprit;

	if (!oid && str_eq(search->verdict, "set"))
		oid = json_get_string(answer, "first_bad");
	return oid && answer ? add_finding(s, search, answer, oid, err) : 0;
}

static int report_ended(struct service *s, struct error *err)
{
	_cleanup_(search_list_done) struct search_list ended = { 0 };
	int r = db_search_unsettled(s->engine->db, &ended);

	if (r < 0)
		return error_errno(err, r, "database");
	for (size_t i = 0; i < ended.n && r >= 0; i++) {
		r = add_finding_of(s, &ended.items[i], err);
		if (r >= 0)
			r = search_elsewhere(s, &ended.items[i], err);
		if (r >= 0)
			r = settle_tip(s, &ended.items[i], err);
		if (r >= 0)
			r = db_search_settle(s->engine->db, ended.items[i].id);
		if (r < 0 && err->code == 0)
			(void)error_errno(err, r, "search %lld", (long long)ended.items[i].id);
	}
	if (r >= 0) {
		r = db_tip_release(s->engine->db);
		if (r < 0)
			(void)error_errno(err, r, "database");
	}
	return r;
}

int findings_step(struct service *s, struct error *err)
{
	_cleanup_(search_list_done) struct search_list open = { 0 };
	int r = db_search_list(s->engine->db, true, &open);

	if (r < 0)
		return error_errno(err, r, "database");
	for (size_t i = 0; i < open.n && r >= 0; i++)
		r = step_search(s, &open.items[i], err);
	return r < 0 ? r : report_ended(s, err);
}
