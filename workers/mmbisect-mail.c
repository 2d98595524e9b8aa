// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mmbisect-mail: sends one mail. A process of its own, for a slow or hostile server must not hold the daemon's loop.
 *
 * stdin:  {"job":"mail","id":"3","server":"smtp://127.0.0.1:2525","user":null,"password":null,"tls":"none|starttls|smtps",
 *          "sender":"a@b","recipients":["x@y"],"message":"<RFC 5322, ASCII, CRLF>","limit_seconds":60}
 * stdout: {"result":{"status":"sent"}}, or status "retry" or "refused" with an "error".
 * Exit status: 0 with a result, 2 for a malformed job, 1 otherwise.
 */
#include <curl/curl.h>

#include "workers/job.h"
#include "workers/mail-send.h"

static int print_result(enum mail_status status, const char *error)
{
	_cleanup_json_ json_t *result = json_pack("{ss}", "status", mail_status_name(status));

	if (!result || (error && json_object_set_new(result, "error", json_string(error)) < 0))
		return -ENOMEM;
	return job_result(result);
}

static int run(struct error *err, bool *ret_malformed)
{
	_cleanup_json_ json_t *json = NULL;
	_cleanup_free_ char *why = NULL;
	struct mail_job job;
	enum mail_status status;
	int r = job_read(STDIN_FILENO, "mail", err, &json);

	if (r >= 0)
		r = mail_job_parse(json, err, &job);
	*ret_malformed = r < 0;
	if (r < 0)
		return r;
	r = mail_send(&job, &status, &why);
	if (r < 0)
		return error_errno(err, r, "cannot send");
	r = print_result(status, why);
	return r < 0 ? error_errno(err, r, "cannot write the result") : 0;
}

int main(void)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	bool malformed = false;
	int r;

	if (job_die_with_parent() < 0 || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return EXIT_FAILURE;
	r = run(&err, &malformed);
	curl_global_cleanup();
	if (r >= 0)
		return EXIT_SUCCESS;
	(void)fprintf(stderr, "mmbisect-mail: %s\n", error_text(&err));
	return malformed ? JOB_EXIT_MALFORMED : EXIT_FAILURE;
}
