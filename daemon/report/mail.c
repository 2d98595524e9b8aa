// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/report/mail.h"

#include "daemon/report/address.h"
#include "daemon/report/lines.h"
#include "daemon/report/mime.h"
#include "lib/clock.h"
#include "lib/hash.h"

#define RECIPIENTS_MAX 100
#define REFERENCES_LAST 5 /* kept beside the first one */
#define ID_PART_MAX 100

struct items {
	struct str *items;
	size_t n;
};
#define _cleanup_items_ _cleanup_(items_done)

static void items_done(struct items *list)
{
	for (size_t i = 0; i < list->n; i++)
		str_done(&list->items[i]);
	free(list->items);
}

static size_t count(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static int items_init(struct items *list, size_t n)
{
	list->items = calloc(MAX(n, (size_t)1), sizeof(*list->items));
	if (!list->items)
		return -ENOMEM;
	for (; list->n < n; list->n++)
		list->items[list->n] = STR_INIT;
	return 0;
}

static int add_addresses(struct str *out, const char *name, const char *const *list, struct error *err)
{
	_cleanup_items_ struct items items = { 0 };
	size_t n = count(list);
	int r;

	if (n > RECIPIENTS_MAX)
		return error_set(err, -EINVAL, "more than %d addresses in %s", RECIPIENTS_MAX, name);
	r = items_init(&items, n);
	for (size_t i = 0; i < n && r >= 0; i++)
		r = address_add(list[i], i ? 1 : strlen(name) + 2, err, &items.items[i]);
	if (r < 0) {
		(void)error_prefix(err, "%s", name);
		return r;
	}
	if (n)
		mime_add_list_header(out, name, items.items, n, ",");
	return 0;
}

static int add_references(struct str *out, const char *const *list, struct error *err)
{
	_cleanup_items_ struct items items = { 0 };
	size_t n = count(list), kept = MIN(n, (size_t)REFERENCES_LAST + 1);
	int r = items_init(&items, kept);

	for (size_t i = 0; i < kept && r >= 0; i++) {
		const char *id = list[i ? n - kept + i : 0];

		r = message_id_check(id, err);
		if (r >= 0)
			r = str_add(&items.items[i], id);
	}
	if (r >= 0 && kept)
		mime_add_list_header(out, "References", items.items, kept, "");
	return r;
}

/* A header of one message id, which must not be missing. */
static int add_id(struct str *out, const char *name, const char *id, struct error *err)
{
	int r = message_id_check(id, err);

	if (r < 0)
		return r;
	return str_addf(out, "%s: %s\r\n", name, id);
}

static int add_subject(struct str *out, const char *name, const char *text)
{
	_cleanup_free_ char *clean = report_line(text);

	if (!clean)
		return -ENOMEM;
	mime_add_text_header(out, name, clean);
	return 0;
}

static int add_headers(struct str *out, const struct mail_headers *h, struct error *err)
{
	const char *const from[] = { h->from, NULL };
	char date[40];
	int r;

	if (!h->from || !count(h->to))
		return error_set(err, -EINVAL, "a mail needs a sender and a recipient");
	(void)str_addf(out, "Date: %s\r\n", clock_rfc5322(h->date_ns, date));
	r = add_addresses(out, "From", from, err);
	if (r >= 0)
		r = add_addresses(out, "To", h->to, err);
	if (r >= 0)
		r = add_addresses(out, "Cc", h->cc, err);
	if (r >= 0)
		r = add_subject(out, "Subject", h->subject);
	if (r >= 0)
		r = add_id(out, "Message-ID", h->message_id, err);
	if (r >= 0 && h->in_reply_to)
		r = add_id(out, "In-Reply-To", h->in_reply_to, err);
	if (r >= 0)
		r = add_references(out, h->references, err);
	if (r >= 0)
		r = add_subject(out, "X-Mailer", h->mailer ? h->mailer : "mmbisect");
	return r;
}

/* LF ends lines, CR does not exist, other control characters neither; the last line ends too. */
static char *clean_body(const char *body)
{
	_cleanup_free_ char *clean = str_sanitize(body, strlen(body));
	_cleanup_str_ struct str s = STR_INIT;

	if (!clean)
		return NULL;
	(void)str_add(&s, clean);
	if (s.len && s.data[s.len - 1] != '\n')
		(void)str_add(&s, "\n");
	return str_take(&s);
}

static int add_body(struct str *out, const char *body)
{
	_cleanup_free_ char *clean = clean_body(body);
	bool plain = clean && mime_is_7bit(clean);

	if (!clean)
		return -ENOMEM;
	(void)str_addf(out,
		       "Auto-Submitted: auto-generated\r\n"
		       "MIME-Version: 1.0\r\n"
		       "Content-Type: text/plain; charset=utf-8\r\n"
		       "Content-Transfer-Encoding: %s\r\n\r\n",
		       plain ? "7bit" : "quoted-printable");
	(plain ? mime_add_7bit : mime_add_quoted_printable)(out, clean);
	return 0;
}

int mail_compose(const struct mail_headers *h, const char *body, struct error *err, struct str *ret)
{
	_cleanup_str_ struct str mail = STR_INIT;
	int r = add_headers(&mail, h, err);

	if (r >= 0)
		r = add_body(&mail, body);
	if (r >= 0 && (mail.failed || str_add_mem(ret, mail.data, mail.len) < 0))
		r = -ENOMEM;
	if (r == -ENOMEM)
		return error_errno(err, r, "cannot write a mail");
	return r < 0 ? r : 0;
}

/* Letters, digits and single dots and hyphens: what every reader takes for an atom. */
static void add_id_part(struct str *out, const char *text, const char *otherwise)
{
	size_t start = out->len;

	for (; *text && out->len - start < ID_PART_MAX; text++) {
		bool good = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
			    (*text >= '0' && *text <= '9');

		if (good)
			(void)str_add_mem(out, text, 1);
		else if (out->len > start && out->data[out->len - 1] != '.' && out->data[out->len - 1] != '-')
			(void)str_add(out, *text == '.' ? "." : "-");
	}
	while (out->len > start && (out->data[out->len - 1] == '.' || out->data[out->len - 1] == '-'))
		out->data[--out->len] = '\0';
	if (out->len == start)
		(void)str_add(out, otherwise);
}

int mail_message_id(const char *identity, const char *token, const char *host, char **ret)
{
	_cleanup_str_ struct str id = STR_INIT;
	char digest[HASH_HEX_LEN + 1];
	char *text;
	int r = hash_mem(identity, strlen(identity), digest);

	if (r < 0)
		return r;
	(void)str_addf(&id, "<mmbisect.%.16s.", digest);
	add_id_part(&id, token, "0");
	(void)str_add(&id, "@");
	add_id_part(&id, host, "localhost");
	(void)str_add(&id, ">");
	text = str_take(&id);
	if (!text)
		return -ENOMEM;
	*ret = text;
	return 0;
}
