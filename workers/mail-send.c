// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/mail-send.h"

#include <curl/curl.h>

#include "lib/str.h"

#define CONNECT_SECONDS_MAX 30L
#define REPLY_MAX 300

/* What libcurl reads from and writes to on the way. */
struct transfer {
	const struct mail_job *job;
	size_t at;	   /* in the message */
	struct str reply; /* last reply of the server that is an error */
};

static const char *const status_names[] = {
	[MAIL_SENT] = "sent",
	[MAIL_RETRY] = "retry",
	[MAIL_REFUSED] = "refused",
};

const char *mail_status_name(enum mail_status status)
{
	return status_names[status];
}

static size_t read_message(char *into, size_t size, size_t n, void *userdata)
{
	struct transfer *t = userdata;
	size_t len = MIN(size * n, t->job->message_len - t->at);

	memcpy(into, t->job->message + t->at, len);
	t->at += len;
	return len;
}

/* A retry after the connection was lost starts from the beginning. */
static int seek_message(void *userdata, curl_off_t offset, int origin)
{
	struct transfer *t = userdata;

	if (origin != SEEK_SET || offset < 0 || (size_t)offset > t->job->message_len)
		return CURL_SEEKFUNC_CANTSEEK;
	t->at = (size_t)offset;
	return CURL_SEEKFUNC_OK;
}

/* Replies of the server, a line at a time: the last one of class 4 or 5 says why. */
static size_t take_reply(char *line, size_t size, size_t n, void *userdata)
{
	struct transfer *t = userdata;
	size_t len = size * n;

	if (len && (line[0] == '4' || line[0] == '5')) {
		str_clear(&t->reply);
		(void)str_add_mem(&t->reply, line, MIN(len, (size_t)REPLY_MAX));
	}
	return len;
}

static size_t drop(char *data, size_t size, size_t n, void *userdata)
{
	(void)data;
	(void)userdata;
	return size * n;
}

static int make_recipients(const struct mail_job *job, struct curl_slist **ret)
{
	struct curl_slist *list = NULL;

	for (size_t i = 0; i < json_array_size(job->recipients); i++) {
		struct curl_slist *longer =
			curl_slist_append(list, json_string_value(json_array_get(job->recipients, i)));

		if (!longer) {
			curl_slist_free_all(list);
			return -ENOMEM;
		}
		list = longer;
	}
	*ret = list;
	return 0;
}

#define SET(option, value)                                                                         \
	do {                                                                                       \
		if (code == CURLE_OK)                                                              \
			code = curl_easy_setopt(curl, option, value);                              \
	} while (0)

static CURLcode set_options(CURL *curl, struct transfer *t, struct curl_slist *recipients, char *error)
{
	const struct mail_job *job = t->job;
	CURLcode code = CURLE_OK;

	SET(CURLOPT_URL, job->server);
	SET(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
	SET(CURLOPT_PROXY, ""); /* whatever the environment says */
	SET(CURLOPT_USE_SSL, (long)(job->tls == MAIL_TLS_NONE ? CURLUSESSL_NONE : CURLUSESSL_ALL));
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (job->user)
		SET(CURLOPT_USERNAME, job->user);
	if (job->password)
		SET(CURLOPT_PASSWORD, job->password);
	SET(CURLOPT_MAIL_FROM, job->sender);
	SET(CURLOPT_MAIL_RCPT, recipients);
	SET(CURLOPT_UPLOAD, 1L);
	SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)job->message_len);
	SET(CURLOPT_READFUNCTION, read_message);
	SET(CURLOPT_READDATA, t);
	SET(CURLOPT_SEEKFUNCTION, seek_message);
	SET(CURLOPT_SEEKDATA, t);
	SET(CURLOPT_HEADERFUNCTION, take_reply);
	SET(CURLOPT_HEADERDATA, t);
	SET(CURLOPT_WRITEFUNCTION, drop);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_CONNECTTIMEOUT, MIN((long)job->limit_seconds, CONNECT_SECONDS_MAX));
	SET(CURLOPT_TIMEOUT, (long)job->limit_seconds);
	SET(CURLOPT_ERRORBUFFER, error);
	return code;
}

/*
 * A refusal of this mail is for good. What is wrong with our login or with the way to the server is worth a retry once a
 * person has put it right, and so is all that the server calls temporary.
 */
static enum mail_status judge_failure(long reply)
{
	static const long ours[] = { 530, 534, 535, 538 }; /* RFC 4954, section 6 */

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (reply == ours[i])
			return MAIL_RETRY;
	return reply >= 500 && reply < 600 ? MAIL_REFUSED : MAIL_RETRY;
}

/* The code of the reply that was an error, 0: there was none. */
static long reply_code(const struct transfer *t)
{
	long code = 0;

	for (size_t i = 0; i < 3; i++) {
		if (i >= t->reply.len || t->reply.data[i] < '0' || t->reply.data[i] > '9')
			return 0;
		code = code * 10 + t->reply.data[i] - '0';
	}
	return code;
}

static char *explain(const struct transfer *t, const char *error, CURLcode code)
{
	_cleanup_free_ char *line = NULL;
	size_t len = t->reply.len;

	if (!len)
		return str_format("%s", *error ? error : curl_easy_strerror(code));
	while (len && strchr("\r\n ", t->reply.data[len - 1]))
		len--;
	line = str_sanitize_line(t->reply.data, len);
	return line ? TAKE_PTR(line) : NULL;
}

int mail_send(const struct mail_job *job, enum mail_status *ret, char **ret_error)
{
	struct transfer t = { .job = job, .reply = STR_INIT };
	char error[CURL_ERROR_SIZE] = "", *why = NULL;
	struct curl_slist *recipients = NULL;
	CURL *curl = curl_easy_init();
	CURLcode code = CURLE_OUT_OF_MEMORY;

	if (curl && make_recipients(job, &recipients) == 0) {
		code = set_options(curl, &t, recipients, error);
		if (code == CURLE_OK)
			code = curl_easy_perform(curl);
	}
	curl_easy_cleanup(curl);
	curl_slist_free_all(recipients);
	if (code != CURLE_OK && code != CURLE_OUT_OF_MEMORY)
		why = explain(&t, error, code);
	if (code == CURLE_OUT_OF_MEMORY || (code != CURLE_OK && !why)) {
		str_done(&t.reply);
		return -ENOMEM;
	}
	*ret = code == CURLE_OK ? MAIL_SENT : judge_failure(reply_code(&t));
	*ret_error = why;
	str_done(&t.reply);
	return 0;
}
