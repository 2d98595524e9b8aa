// SPDX-License-Identifier: GPL-2.0-or-later
#include "web/reply.h"

#include <microhttpd.h>

#define TYPE_JSON "application/json"
#define TYPE_HTML "text/html; charset=utf-8"
#define RETRY_SECONDS 5

void reply_done(struct reply *reply)
{
	free(reply->owned);
	*reply = REPLY_INIT;
}

int html_txt(struct str *out, const char *text)
{
	static const char *const entities[128] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;",
	};

	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;
		const char *entity = c < ARRAY_SIZE(entities) ? entities[c] : NULL;
		int r = entity ? str_add(out, entity) : str_add_mem(out, p, 1);

		if (r < 0)
			return r;
	}
	return 0;
}

static int reply_take(struct reply *reply, unsigned status, const char *type, char *body)
{
	if (!body)
		return -ENOMEM;
	reply_done(reply);
	reply->status = status;
	reply->type = type;
	reply->owned = body;
	reply->len = strlen(body);
	return 0;
}

int reply_json(struct reply *reply, const json_t *object)
{
	return reply_take(reply, MHD_HTTP_OK, TYPE_JSON,
			  object ? json_dumps(object, JSON_COMPACT) : NULL);
}

static char *error_json(const char *text)
{
	_cleanup_json_ json_t *object = json_pack("{s:o}", "error", json_bytes(text));

	return object ? json_dumps(object, JSON_COMPACT) : NULL;
}

static char *error_html(unsigned status, const char *text)
{
	_cleanup_str_ struct str s = STR_INIT;

	(void)str_add(&s,
		      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
		(void)str_addf(&s, "<meta http-equiv=\"refresh\" content=\"%d\">\n", RETRY_SECONDS);
	(void)str_add(&s, "<meta name=\"viewport\" content=\"width=device-width\">\n"
			  "<link rel=\"icon\" href=\"/icon.svg\">\n<link rel=\"stylesheet\" "
			  "href=\"/style.css\">\n<title>");
	(void)html_txt(&s, text);
	(void)str_add(&s,
		      "</title>\n</head>\n<body>\n<main>\n<h1>mmbisect</h1>\n<p class=\"empty\">");
	(void)html_txt(&s, text);
	if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
		(void)str_add(&s, " This page tries again by itself.");
	(void)str_add(&s,
		      "</p>\n<p><a href=\"/\">All findings</a></p>\n</main>\n</body>\n</html>\n");
	return str_take(&s);
}

int reply_error(struct reply *reply, bool api, unsigned status, const char *text)
{
	int r = reply_take(reply, status, api ? TYPE_JSON : TYPE_HTML,
			   api ? error_json(text) : error_html(status, text));

	if (r >= 0 && status == MHD_HTTP_SERVICE_UNAVAILABLE)
		reply->retry_seconds = RETRY_SECONDS;
	return r;
}
