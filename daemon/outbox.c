// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sending queued mails, one at a time, by a worker of its own. Temporary trouble is tried again with growing pauses for two
 * days; a server that says no for good ends it. A kill between "sent" and our note of it may send the mail again: it has the
 * same Message-ID, so it is no second mail to who reads it.
 */
#include "daemon/service.h"

#include "db/finding.h"
#include "lib/clock.h"
#include "lib/fs.h"
#include "lib/log.h"
#include "lib/str.h"

#define LIMIT_SECONDS 120
#define TRIES_MAX 40
#define PAUSE_MAX_NS (3600 * NSEC_PER_SEC)

struct outbox {
	struct service *service;
	struct task *task;
	int64_t mail_id, attempts;
	char *message_id;
	json_t *result;
	sd_event_source *timer;
};

static void note_result(struct outbox *o, const struct task_end *end)
{
	struct engine *e = o->service->engine;
	const char *status = json_get_string(o->result, "status"), *error = json_get_string(o->result, "error");
	uint64_t now = now_wall_ns(), pause = 5 * NSEC_PER_SEC;
	int r;

	for (int64_t i = 0; i < o->attempts && pause < PAUSE_MAX_NS; i++)
		pause *= 2;
	if (!error)
		error = *end->stderr_tail ? end->stderr_tail : "the mail worker gave no result";
	if (str_eq(status, "sent")) {
		log_info("mail %s sent", o->message_id);
		r = db_mail_sent(e->db, o->mail_id, now);
	} else if (str_eq(status, "refused") || o->attempts + 1 >= TRIES_MAX) {
		log_warning("mail %s not sent: %s; given up", o->message_id, error);
		r = db_mail_retry(e->db, o->mail_id, error, 0);
	} else {
		log_warning("mail %s not sent: %s; will be tried again", o->message_id, error);
		r = db_mail_retry(e->db, o->mail_id, error, now + pause);
	}
	if (r < 0)
		engine_fail(e, r);
}

static void on_line(struct task *task, json_t *line, void *userdata)
{
	struct outbox *o = userdata;

	(void)task;
	if (json_object_get(line, "result")) {
		json_decref(o->result);
		o->result = json_incref(json_object_get(line, "result"));
	}
}

static void on_end(struct task *task, const struct task_end *end, void *userdata)
{
	struct outbox *o = userdata;

	note_result(o, end);
	o->task = task_free(task);
	json_decref(o->result);
	o->result = NULL;
	free(TAKE_PTR(o->message_id));
	engine_wake(o->service->engine);
}

static int read_password(const struct service *s, struct error *err, char **ret)
{
	int r;

	if (!s->mail_password_file)
		return 0;
	r = fs_read(s->mail_password_file, 4096, ret, NULL);
	if (r < 0)
		return error_errno(err, r, "%s", s->mail_password_file);
	(*ret)[strcspn(*ret, "\r\n")] = '\0';
	return 0;
}

static json_t *lines_to_list(const char *text)
{
	json_t *list = json_array();

	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n')
		(void)json_array_append_new(list, json_stringn(p, strcspn(p, "\n")));
	return list;
}

static int send(struct outbox *o, const struct mail *m, struct error *err)
{
	const struct service *s = o->service;
	const struct task_callbacks callbacks = { .on_line = on_line, .on_end = on_end, .userdata = o };
	_cleanup_free_ char *program = str_format("%s/mmbisect-mail", s->engine->paths.bin), *password = NULL;
	_cleanup_json_ json_t *job = NULL;
	const char *argv[] = { program, NULL };
	struct spawn_options options = SPAWN_OPTIONS_INIT;
	char id[32];
	int r = read_password(s, err, &password);

	if (r < 0)
		return r;
	(void)snprintf(id, sizeof(id), "%lld", (long long)m->id);
	job = json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:s, s:s, s:o, s:s%, s:i}", "job", "mail", "id", id, "server",
			s->mail_server, "user", s->mail_user, "password", password, "tls", s->mail_tls ? s->mail_tls : "none",
			"sender", m->sender, "recipients", lines_to_list(m->recipients), "message", m->message, m->message_len,
			"limit_seconds", LIMIT_SECONDS);
	if (!job || !program || str_set(&o->message_id, m->message_id) < 0)
		return error_errno(err, -ENOMEM, "mail");
	options.argv = argv;
	o->mail_id = m->id;
	o->attempts = m->attempts;
	return task_start(s->loop, &options, job, (LIMIT_SECONDS + 60) * NSEC_PER_SEC, &callbacks, err, &o->task);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct outbox *o = userdata;

	(void)source;
	(void)usec;
	engine_wake(o->service->engine);
	return 0;
}

static int outbox_get(struct service *s, struct outbox **ret)
{
	int r;

	if (!s->outbox) {
		struct outbox *o = calloc(1, sizeof(*o));

		if (!o)
			return -ENOMEM;
		o->service = s;
		r = sd_event_add_time_relative(s->loop, &o->timer, CLOCK_MONOTONIC, UINT64_MAX / 4, 0, on_timer, o);
		if (r < 0) {
			free(o);
			return r;
		}
		s->outbox = o;
	}
	*ret = s->outbox;
	return 0;
}

static int wake_for_next(struct outbox *o)
{
	int64_t n, next;
	uint64_t now = now_wall_ns(), pause = 0;
	int r = db_mail_queued(o->service->engine->db, &n, &next);

	if (r < 0 || n == 0)
		return r;
	if (next > 0 && (uint64_t)next > now)
		pause = MIN((uint64_t)next - now, 60 * NSEC_PER_SEC);
	(void)sd_event_source_set_time_relative(o->timer, pause / 1000 + 1000);
	return sd_event_source_set_enabled(o->timer, SD_EVENT_ONESHOT);
}

int outbox_step(struct service *s, struct error *err)
{
	_cleanup_(mail_done) struct mail m = { 0 };
	struct outbox *o;
	int r = s->mail_server ? outbox_get(s, &o) : 0;

	if (r < 0)
		return error_errno(err, r, "outbox");
	if (!s->mail_server || o->task)
		return 0;
	r = db_mail_next(s->engine->db, now_wall_ns(), &m);
	if (r > 0 && send(o, &m, err) < 0) { /* it stays queued; the rest of the service goes on */
		log_warning("mail %s: %s; will be tried again", m.message_id, error_text(err));
		error_done(err);
		r = db_mail_retry(s->engine->db, m.id, "cannot be handed over", now_wall_ns() + 60 * NSEC_PER_SEC);
	}
	if (r >= 0 && !o->task)
		r = wake_for_next(o);
	return r < 0 ? error_errno(err, r, "database") : 0;
}

void outbox_stop(struct service *s)
{
	struct outbox *o = s->outbox;

	if (!o)
		return;
	(void)task_free(o->task);
	(void)sd_event_source_disable_unref(o->timer);
	json_decref(o->result);
	free(o->message_id);
	free(o);
	s->outbox = NULL;
}
