// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/report/address.h"

#include "daemon/report/lines.h"
#include "daemon/report/mail.h"
#include "daemon/report/mime.h"

/* RFC 5321, section 4.5.3.1 */
#define LOCAL_MAX 64
#define ADDRESS_MAX 254
#define MESSAGE_ID_MAX 250
#define NAME_MAX_OCTETS 200

#define ALPHANUMERIC "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define ATOM ALPHANUMERIC "!#$%&'*+-/=?^_`{|}~"

/* Atoms with single dots between them. */
static bool is_dot_atom(const char *text, size_t len, const char *allowed)
{
	if (!len || text[0] == '.' || text[len - 1] == '.')
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '.' ? text[i - 1] == '.' : !strchr(allowed, text[i]))
			return false;
	}
	return true;
}

static bool is_domain(const char *text)
{
	size_t len = strlen(text);

	if (text[0] == '[')
		return len > 2 && strspn(text + 1, ALPHANUMERIC ".:") == len - 2 && text[len - 1] == ']';
	return text[0] != '-' && is_dot_atom(text, len, ALPHANUMERIC "-");
}

static bool is_address(const char *text)
{
	const char *at = strchr(text, '@');

	return at && strlen(text) <= ADDRESS_MAX && at - text <= LOCAL_MAX &&
	       is_dot_atom(text, (size_t)(at - text), ATOM) && is_domain(at + 1);
}

static char *trimmed(const char *text, size_t len)
{
	while (len && *text == ' ') {
		text++;
		len--;
	}
	while (len && text[len - 1] == ' ')
		len--;
	return strndup(text, len);
}

/* Takes `Name <a@b>` apart; *ret_name is "" when there is none. */
static int parse(const char *text, struct error *err, char **ret_name, char **ret_address)
{
	_cleanup_free_ char *clean = text ? report_line(text) : NULL, *name = NULL, *address = NULL;
	const char *open = text ? strrchr(text, '<') : NULL;
	size_t len = text ? strlen(text) : 0;

	if (!text)
		return error_set(err, -EINVAL, "an address is missing");
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return error_set(err, -EINVAL, "the address \"%s\" has control characters", clean);
	if (open && text[len - 1] == '>') {
		name = trimmed(text, (size_t)(open - text));
		address = trimmed(open + 1, len - (size_t)(open - text) - 2);
	} else {
		name = strdup("");
		address = trimmed(text, len);
	}
	if (!clean || !name || !address)
		return error_errno(err, -ENOMEM, "cannot read an address");
	if (!is_address(address))
		return error_set(err, -EINVAL, "\"%s\" is no mail address", clean);
	if (strlen(name) > NAME_MAX_OCTETS)
		return error_set(err, -EINVAL, "the name in \"%s\" is too long", clean);
	*ret_name = TAKE_PTR(name);
	*ret_address = TAKE_PTR(address);
	return 0;
}

int mail_address(const char *text, struct error *err, char **ret)
{
	_cleanup_free_ char *name = NULL;

	return parse(text, err, &name, ret);
}

static void add_quoted(struct str *out, const char *name)
{
	(void)str_add(out, "\"");
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			(void)str_add(out, "\\");
		(void)str_add_mem(out, name, 1);
	}
	(void)str_add(out, "\"");
}

/* A name that somebody wrote in quotes already is taken out of them. */
static void unquote(char *name)
{
	size_t len = strlen(name), to = 0;

	if (len < 2 || name[0] != '"' || name[len - 1] != '"')
		return;
	for (size_t i = 1; i + 1 < len; i++) {
		if (name[i] == '\\' && i + 2 < len)
			i++;
		name[to++] = name[i];
	}
	name[to] = '\0';
}

static void add_name(struct str *out, const char *name, size_t *column)
{
	size_t before = out->len;

	if (!mime_is_plain(name) || strlen(name) > MIME_FOLD - 20) {
		mime_add_encoded(out, name, column);
		return;
	}
	if (strspn(name, ATOM " ") == strlen(name))
		(void)str_add(out, name);
	else
		add_quoted(out, name);
	*column += out->len - before;
}

int address_add(const char *text, size_t column, struct error *err, struct str *out)
{
	_cleanup_free_ char *name = NULL, *address = NULL, *clean = NULL;
	int r = parse(text, err, &name, &address);

	if (r < 0)
		return r;
	unquote(name);
	clean = report_line(name);
	if (!clean)
		return -ENOMEM;
	if (!*clean) {
		(void)str_add(out, address);
		return out->failed ? -ENOMEM : 0;
	}
	add_name(out, clean, &column);
	(void)str_add(out, column + 3 + strlen(address) > MIME_FOLD ? "\r\n <" : " <");
	(void)str_addf(out, "%s>", address);
	return out->failed ? -ENOMEM : 0;
}

int message_id_check(const char *id, struct error *err)
{
	_cleanup_free_ char *clean = report_line(id);
	size_t len = id ? strlen(id) : 0;
	const char *at = id ? strchr(id, '@') : NULL;

	if (len < 5 || len > MESSAGE_ID_MAX || id[0] != '<' || id[len - 1] != '>' || !at || at == id + 1 ||
	    at == id + len - 2 || strspn(id + 1, ATOM ".@:[]") != len - 2)
		return error_set(err, -EINVAL, "\"%s\" is no message id", clean ? clean : "");
	return 0;
}
