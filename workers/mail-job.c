// SPDX-License-Identifier: GPL-2.0-or-later
/* The first half of mail-send.h: a job is read and checked. */
#include "workers/job.h"
#include "workers/mail-send.h"

#define LINE_MAX_OCTETS 998
#define ADDRESS_MAX 254
#define RECIPIENTS_MAX 100

static const struct {
	const char *name, *scheme;
} tls_modes[] = {
	[MAIL_TLS_NONE] = { "none", "smtp://" },
	[MAIL_TLS_STARTTLS] = { "starttls", "smtp://" },
	[MAIL_TLS_SMTPS] = { "smtps", "smtps://" },
};

static int parse_server(const json_t *job, struct error *err, struct mail_job *m)
{
	const char *tls;
	int r = job_need_string(job, "server", err, &m->server);

	if (r >= 0)
		r = job_need_string(job, "tls", err, &tls);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(tls_modes); i++) {
		if (!str_eq(tls, tls_modes[i].name))
			continue;
		if (!str_starts(m->server, tls_modes[i].scheme))
			return error_set(err, -EINVAL, "\"server\" of the job does not start with %s, as tls=%s asks",
					 tls_modes[i].scheme, tls);
		m->tls = (enum mail_tls)i;
		return 0;
	}
	return error_set(err, -EINVAL, "\"tls\" of the job is not none, starttls or smtps");
}

static int parse_login(const json_t *job, struct error *err, struct mail_job *m)
{
	int r = 0;

	if (json_is_string(json_object_get(job, "user")))
		r = job_need_string(job, "user", err, &m->user);
	if (r >= 0 && json_is_string(json_object_get(job, "password")))
		r = job_need_string(job, "password", err, &m->password);
	if (r < 0)
		return r;
	if ((m->user || m->password) && m->tls == MAIL_TLS_NONE)
		return error_set(err, -EINVAL, "a password is only sent over TLS: set tls to starttls or smtps");
	return 0;
}

static int check_address(const char *text, const char *key, struct error *err)
{
	size_t len = text ? strlen(text) : 0;
	bool good = len && len <= ADDRESS_MAX && strchr(text, '@') && !strpbrk(text, "<> ,;");

	for (size_t i = 0; i < len && good; i++)
		good = text[i] > ' ' && text[i] <= '~';
	return good ? 0 : error_set(err, -EINVAL, "\"%s\" of the job has what is no mail address", key);
}

static int parse_envelope(const json_t *job, struct error *err, struct mail_job *m)
{
	size_t n;
	int r = job_need_string(job, "sender", err, &m->sender);

	if (r >= 0)
		r = check_address(m->sender, "sender", err);
	if (r >= 0)
		r = job_need_array(job, "recipients", err, &m->recipients);
	if (r < 0)
		return r;
	n = json_array_size(m->recipients);
	if (!n || n > RECIPIENTS_MAX)
		return error_set(err, -EINVAL, "\"recipients\" of the job are not 1 to %d", RECIPIENTS_MAX);
	for (size_t i = 0; i < n && r >= 0; i++)
		r = check_address(json_string_value(json_array_get(m->recipients, i)), "recipients", err);
	return r;
}

/* ASCII in lines that end in CRLF. */
static int parse_message(const json_t *job, struct error *err, struct mail_job *m)
{
	const json_t *v = json_object_get(job, "message");
	size_t line = 0;

	m->message = json_string_value(v);
	m->message_len = json_string_length(v);
	if (!m->message_len)
		return error_set(err, -EINVAL, "the job has no \"message\"");
	for (size_t i = 0; i < m->message_len; i++) {
		unsigned char c = (unsigned char)m->message[i];

		if (c == '\r' && i + 1 < m->message_len && m->message[i + 1] == '\n') {
			line = 0;
			i++;
			continue;
		}
		if (c == '\r' || c == '\n' || (c < ' ' && c != '\t') || c > '~')
			return error_set(err, -EINVAL, "\"message\" of the job has byte 0x%02x at %zu", c, i);
		if (++line > LINE_MAX_OCTETS)
			return error_set(err, -EINVAL, "\"message\" of the job has a line over %d octets",
					 LINE_MAX_OCTETS);
	}
	return line ? error_set(err, -EINVAL, "\"message\" of the job does not end in CRLF") : 0;
}

int mail_job_parse(const json_t *job, struct error *err, struct mail_job *ret)
{
	struct mail_job m = { 0 };
	int r = parse_server(job, err, &m);

	if (r >= 0)
		r = parse_login(job, err, &m);
	if (r >= 0)
		r = parse_envelope(job, err, &m);
	if (r >= 0)
		r = parse_message(job, err, &m);
	if (r >= 0)
		r = job_need_int(job, "limit_seconds", 1, 3600, err, &m.limit_seconds);
	if (r < 0)
		return r;
	*ret = m;
	return 0;
}
