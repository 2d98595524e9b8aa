// SPDX-License-Identifier: GPL-2.0-or-later
/* Mails as octets: encoded words, folding, quoted-printable, and strangers who want a header of their own. */
#include "tap.h"

#include "daemon/report/mail.h"
#include "daemon/report/mime.h"

static const char *const to[] = { "list@example.org", NULL };

static struct mail_headers plain_headers(void)
{
	return (struct mail_headers){
		.from = "mmbisect <mmbisect@example.org>",
		.to = to,
		.subject = "a subject",
		.message_id = "<mmbisect.1@example.org>",
		.date_ns = UINT64_C(1796050745000000000),
	};
}

static char *compose(const struct mail_headers *h, const char *body)
{
	struct str s = STR_INIT;

	if (mail_compose(h, body, NULL, &s) < 0) {
		str_done(&s);
		return strdup("");
	}
	return str_take(&s);
}

static char *compose_subject(const char *subject)
{
	struct mail_headers h = plain_headers();

	h.subject = subject;
	return compose(&h, "x\n");
}

/* The header's text from behind ": " to its end, folds included. A new string, NULL: none. */
static char *header_of(const char *mail, const char *name)
{
	_cleanup_free_ char *start = str_format("%s: ", name);
	const char *p = mail, *end;

	while (!str_starts(p, start)) {
		p = strstr(p, "\r\n");
		if (!p || str_starts(p, "\r\n\r\n"))
			return NULL;
		p += 2;
	}
	p += strlen(start);
	for (end = strstr(p, "\r\n"); end && (end[2] == ' ' || end[2] == '\t');)
		end = strstr(end + 2, "\r\n");
	return end ? strndup(p, (size_t)(end - p)) : NULL;
}

static size_t longest_line(const char *mail)
{
	size_t max = 0;

	for (const char *end; (end = strstr(mail, "\r\n")); mail = end + 2)
		max = MAX(max, (size_t)(end - mail));
	return max;
}

/* CR and LF only as pairs, ASCII only, ends in CRLF. */
static bool is_clean(const char *mail)
{
	size_t len = strlen(mail);

	for (size_t i = 0; i < len; i++) {
		if (mail[i] < 0 || (mail[i] == '\r' && mail[i + 1] != '\n') ||
		    (mail[i] == '\n' && (!i || mail[i - 1] != '\r')))
			return false;
	}
	return len > 2 && str_eq(mail + len - 2, "\r\n");
}

static const char *body_of(const char *mail)
{
	const char *p = strstr(mail, "\r\n\r\n");

	return p ? p + 4 : "";
}

static int hex(char c)
{
	return c >= 'A' ? c - 'A' + 10 : c - '0';
}

/* Undoes Q and quoted-printable: soft breaks go, CRLF becomes LF; `word`: "_" is a blank. */
static char *decode_q(const char *p, size_t len, bool word)
{
	struct str s = STR_INIT;

	for (size_t i = 0; i < len; i++) {
		char c = p[i];

		if (c == '=' && p[i + 1] == '\r') {
			i += 2;
			continue;
		}
		if (c == '\r')
			continue;
		if (c == '=') {
			c = (char)(hex(p[i + 1]) * 16 + hex(p[i + 2]));
			i += 2;
		} else if (word && c == '_') {
			c = ' ';
		}
		(void)str_add_mem(&s, &c, 1);
	}
	return str_take(&s);
}

/* Decodes adjacent encoded words; each has to hold whole characters. NULL when it is not made of them. */
static char *decode_words(const char *text)
{
	struct str s = STR_INIT;

	while (*text) {
		_cleanup_free_ char *part = NULL;
		const char *end;

		text += strspn(text, " \r\n");
		end = str_starts(text, "=?UTF-8?Q?") ? strstr(text + 10, "?=") : NULL;
		if (!end || end - text > 73) {
			str_done(&s);
			return NULL;
		}
		part = decode_q(text + 10, (size_t)(end - text - 10), true);
		for (size_t i = 0, n; i < strlen(part); i += n) {
			n = utf8_sequence((const unsigned char *)part + i, strlen(part) - i);
			if (!n) {
				str_done(&s);
				return NULL;
			}
		}
		(void)str_add(&s, part);
		text = end + 2;
	}
	return str_take(&s);
}

static void test_plain(void)
{
	struct mail_headers h = plain_headers();
	_cleanup_free_ char *mail = compose(&h, "Hello,\n.\nlast");

	is_str(mail,
	       "Date: Mon, 30 Nov 2026 14:59:05 +0000\r\n"
	       "From: mmbisect <mmbisect@example.org>\r\n"
	       "To: list@example.org\r\n"
	       "Subject: a subject\r\n"
	       "Message-ID: <mmbisect.1@example.org>\r\n"
	       "X-Mailer: mmbisect\r\n"
	       "Auto-Submitted: auto-generated\r\n"
	       "MIME-Version: 1.0\r\n"
	       "Content-Type: text/plain; charset=utf-8\r\n"
	       "Content-Transfer-Encoding: 7bit\r\n"
	       "\r\n"
	       "Hello,\r\n.\r\nlast\r\n",
	       "a plain mail, octet by octet");
}

#define LETTERS "\xc3\xa5\xc3\xa4\xc3\xb6\xc3\xa5\xc3\xa4\xc3\xb6\xc3\xa5\xc3\xa4\xc3\xb6"
#define LONG_SUBJECT "very long: " LETTERS LETTERS LETTERS " and some more words behind it, \xe4\xb8\xad\xe6\x96\x87"

static void test_subjects(void)
{
	static const char *const encoded[] = {
		"Zo\xc3\xab's subject", "=?UTF-8?Q?Bcc?=", "\xe2\x82\xac \xe2\x82\xac \xe2\x82\xac",
		LONG_SUBJECT,
		"ends with a blank, and is long enough that it has to be folded somewhere on the way \xc3\xa5 ",
	};
	char word[400];

	for (size_t i = 0; i < ARRAY_SIZE(encoded); i++) {
		_cleanup_free_ char *mail = compose_subject(encoded[i]), *header = header_of(mail, "Subject");
		_cleanup_free_ char *back = header ? decode_words(header) : NULL;

		is_str(back, encoded[i], "encoded words, %zu", i);
		ok(longest_line(mail) <= 78 && is_clean(mail), "... in lines of 78 octets at most");
	}
	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	_cleanup_free_ char *mail = compose_subject(word), *header = header_of(mail, "Subject");
	_cleanup_free_ char *back = decode_words(header);
	is_str(back, word, "a word that cannot be folded is encoded");
	ok(longest_line(mail) <= 78, "... in lines of 78 octets at most");
}

static void test_fold(void)
{
	static const char subject[] = "[mmbisect] thread-stack madvise_call: 29.3 times as much since f35b5d7d676e "
				      "(\"mm: align larger anonymous mappings on THP boundaries\")";
	_cleanup_free_ char *mail = compose_subject(subject), *header = header_of(mail, "Subject");
	struct str unfolded = STR_INIT;

	ok(longest_line(mail) <= 78 && strstr(header, "\r\n "), "a long subject is folded at blanks");
	for (const char *p = header; *p; p++)
		if (*p != '\r' && *p != '\n')
			(void)str_add_mem(&unfolded, p, 1);
	is_str(unfolded.data, subject, "... and unfolds to what it was");
	str_done(&unfolded);
}

static void test_injection(void)
{
	static const char *const bad[] = {
		"a@b\r\nBcc: x@y", "a@b\nBcc: x@y", "Name\r\n <a@b>", "a@b@c", "a", "@b", "a@", "a b@c", "a..b@c",
		".a@b", "a@b..c", "a@-b", "<a@b", "a@b, c@d", "\xc3\xa5@b", "Name <a@b> x", "", "a@b\x7f",
	};
	static const char *const subjects[] = { "x\r\nBcc: victim@example.org", "x\nBcc: victim@example.org",
						"x\r\n\r\nbody", "x\rBcc: y@z", "x\v\f\x1b[31m" };
	char longer[300];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct mail_headers h = plain_headers();
		const char *const list[] = { "fine@example.org", bad[i], NULL };
		_cleanup_error_ struct error err = ERROR_INIT;
		_cleanup_str_ struct str s = STR_INIT;

		h.cc = list;
		is_int(mail_compose(&h, "x", &err, &s), -EINVAL, "Cc %zu is no address", i);
		ok(s.len == 0 && strstr(error_text(&err), "Cc") && !strpbrk(error_text(&err), "\r\n"),
		   "... and one line says so: %s", error_text(&err));
	}
	memset(longer, 'a', sizeof(longer));
	memcpy(longer + 10, "@", 1);
	longer[260] = '\0';
	struct mail_headers h = plain_headers();
	struct str none = STR_INIT;
	h.from = longer;
	is_int(mail_compose(&h, "x", NULL, &none), -EINVAL, "an address over 254 octets");
	h = plain_headers();
	h.message_id = "<a@b>\r\nBcc: x@y>";
	is_int(mail_compose(&h, "x", NULL, &none), -EINVAL, "a message id with a line break");
	h = plain_headers();
	h.in_reply_to = "<a b@c>";
	is_int(mail_compose(&h, "x", NULL, &none), -EINVAL, "a message id with a blank");
	for (size_t i = 0; i < ARRAY_SIZE(subjects); i++) {
		_cleanup_free_ char *mail = compose_subject(subjects[i]), *bcc = header_of(mail, "Bcc");
		const char *body = body_of(mail);

		ok(*mail && !bcc && is_clean(mail) && str_eq(body, "x\r\n") && !strchr(mail, '\x1b'),
		   "subject %zu stays a subject", i);
	}
}

static void test_names(void)
{
	static const char *const names[] = { "Jos\xc3\xa9 M\xc3\xbcller <jose@example.org>", "\"Huang, Ying\" <ying@example.org>",
					     "Doe, Jane \"J\" <jane@example.org>", "bare@example.org", NULL };
	static const char want[] = "=?UTF-8?Q?Jos=C3=A9_M=C3=BCller?= <jose@example.org>,\r\n"
				   " \"Huang, Ying\" <ying@example.org>, \"Doe, Jane \\\"J\\\"\" <jane@example.org>,\r\n"
				   " bare@example.org";
	struct mail_headers h = plain_headers();
	_cleanup_free_ char *mail = NULL, *header = NULL, *address = NULL;

	h.to = names;
	mail = compose(&h, "x");
	header = header_of(mail, "To");
	is_str(header, want, "names are encoded or quoted, and folded between");
	ok(longest_line(mail) <= 78, "... in lines of 78 octets at most");
	is_int(mail_address(names[0], NULL, &address), 0, "the bare address of a name");
	is_str(address, "jose@example.org", "... for the envelope");
}

static void test_references(void)
{
	const char *ids[21] = { 0 };
	char text[20][32];
	struct mail_headers h = plain_headers();
	_cleanup_free_ char *mail = NULL, *header = NULL;

	for (size_t i = 0; i < 20; i++) {
		(void)snprintf(text[i], sizeof(text[i]), "<id-%zu@example.org>", i);
		ids[i] = text[i];
	}
	h.references = ids;
	h.in_reply_to = ids[19];
	mail = compose(&h, "x");
	header = header_of(mail, "References");
	ok(header && str_starts(header, "<id-0@example.org> <id-15@") && strstr(header, "<id-19@example.org>"),
	   "the first and the last references are kept");
	ok(longest_line(mail) <= 78, "... folded");
}

static void test_bodies(void)
{
	static const char *const bodies[] = {
		"Jos\xc3\xa9 wrote = this\n.\n..\ntrailing blank \ntrailing tab\t\n\nFrom me\n",
		"\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87"
		"\xe4\xb8\xad\xe6\x96\x87 \xe4\xb8\xad\xe6\x96\x87\n",
	};
	struct mail_headers h = plain_headers();

	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
		_cleanup_free_ char *mail = compose(&h, bodies[i]);
		const char *body = body_of(mail);
		_cleanup_free_ char *back = decode_q(body, strlen(body), false);

		ok(strstr(mail, "Content-Transfer-Encoding: quoted-printable\r\n") && is_clean(mail),
		   "body %zu goes as quoted-printable", i);
		is_str(back, bodies[i], "... and comes back");
		ok(longest_line(mail) <= 76, "... in lines of 76 octets at most");
	}
	for (size_t len = 60; len < 90; len++) {
		_cleanup_free_ char *text = malloc(len + 4), *mail = NULL, *back = NULL;

		memset(text, 'y', len);
		memcpy(text + len, "\xc3\xa5\n", 4);
		mail = compose(&h, text);
		back = decode_q(body_of(mail), strlen(body_of(mail)), false);
		if (!str_eq(back, text) || longest_line(mail) > 76)
			ok(false, "a soft break near column %zu", len);
	}
	for (size_t len = 997; len <= 999; len++) {
		_cleanup_free_ char *text = malloc(len + 1), *mail = NULL, *back = NULL;

		memset(text, 'z', len);
		text[len] = '\0';
		mail = compose(&h, text);
		back = decode_q(body_of(mail), strlen(body_of(mail)), false);
		ok(!!strstr(mail, "quoted-printable") == (len > 998) && str_starts(back, text),
		   "a line of %zu octets", len);
	}
	_cleanup_free_ char *mail = compose(&h, "a\r\nb\rc\x01\x7f\xff\nd");
	_cleanup_free_ char *back = decode_q(body_of(mail), strlen(body_of(mail)), false);
	is_str(back, "a\nbc\xef\xbf\xbd\nd\n", "no bare CR, no control characters, valid UTF-8");
	ok(is_clean(mail), "... on the wire either");
	_cleanup_free_ char *empty = compose(&h, "");
	ok(str_ends(empty, "\r\n\r\n"), "an empty body");
}

static void test_message_id(void)
{
	_cleanup_free_ char *a = NULL, *b = NULL, *c = NULL, *d = NULL;
	struct mail_headers h = plain_headers();

	is_int(mail_message_id("culprit f35b5d7d", "1.17", "host.example.org", &a), 0, "a message id");
	is_int(mail_message_id("culprit f35b5d7d", "1.17", "host.example.org", &b), 0, "... again");
	is_str(a, b, "... is the same");
	is_int(mail_message_id("culprit f35b5d7d", "1.18", "host.example.org", &c), 0, "another token");
	ok(!str_eq(a, c), "... another id");
	is_int(mail_message_id("x", "a>\r\nBcc: x@y", "h\xc3\xb6st..@", &d), 0, "strange parts");
	h.message_id = d;
	_cleanup_free_ char *mail = compose(&h, "x");
	ok(*mail && is_clean(mail), "... make an id that mail_compose() takes: %s", d);
}

int main(void)
{
	test_plain();
	test_subjects();
	test_fold();
	test_injection();
	test_names();
	test_references();
	test_bodies();
	test_message_id();
	return done_testing();
}
