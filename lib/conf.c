// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/conf.h"

#include "lib/str.h"

#include <ini.h>
#include <limits.h>

struct load {
	const char *path;
	const struct conf_item *items;
	void *target;
	struct error *err;
	struct conf_pairs seen; /* "section\nkey" -> "": doubled keys are mistakes */
	FILE *file;
	int line;
	int r; /* of the first mistake, which is in this line: reading stops there */
};

static bool section_matches(const char *pattern, const char *section)
{
	size_t n = strlen(pattern);

	if (n >= 2 && str_ends(pattern, " *"))
		return strncmp(pattern, section, n - 1) == 0 && section[n - 1];
	return str_eq(pattern, section);
}

static const struct conf_item *find_item(const struct load *l, const char *section, const char *key,
					 bool *ret_section_known)
{
	for (const struct conf_item *i = l->items; i->section; i++) {
		if (!section_matches(i->section, section))
			continue;
		*ret_section_known = true;
		if (str_eq(i->key, "*") || str_eq(i->key, key))
			return i;
	}
	return NULL;
}

static int load_key(struct load *l, const char *section, const char *key, const char *value)
{
	_cleanup_free_ char *seen = str_format("%s\n%s", section, key);
	bool section_known = false;
	const struct conf_item *item = find_item(l, section, key, &section_known);
	int r;

	if (!seen)
		return error_errno(l->err, -ENOMEM, "reading");
	if (!section_known)
		return error_set(l->err, -EINVAL, "unknown section [%s]", section);
	if (!item)
		return error_set(l->err, -EINVAL, "unknown key '%s' in [%s]", key, section);
	if (conf_pairs_get(&l->seen, seen))
		return error_set(l->err, -EINVAL, "key '%s' given twice in [%s]", key, section);
	r = conf_pairs_add(&l->seen, seen, "");
	if (r < 0)
		return error_errno(l->err, r, "reading");
	return item->parse(item, section, key, value, (char *)l->target + item->offset, l->err);
}

static int on_key(void *userdata, const char *section, const char *key, const char *value)
{
	struct load *l = userdata;
	int r;

	if (l->r < 0)
		return 1;
	r = load_key(l, section, key, value ? value : "");
	if (r < 0)
		l->r = r;
	return r >= 0;
}

/* inih cuts long lines and goes on with the rest as a line of its own; and it ends lines at a NUL. */
static char *read_line(char *line, int size, void *stream)
{
	struct load *l = stream;
	_cleanup_free_ char *text = NULL;
	size_t capacity = 0;
	ssize_t n;

	if (l->r < 0)
		return NULL;
	errno = 0;
	n = getline(&text, &capacity, l->file);
	if (n < 0) {
		if (ferror(l->file))
			l->r = error_errno(l->err, errno ? -errno : -EIO, "reading");
		return NULL;
	}
	l->line++;
	if (strlen(text) != (size_t)n)
		l->r = error_set(l->err, -EINVAL, "a NUL byte");
	else if (n >= size)
		l->r = error_set(l->err, -EINVAL, "a line of %zd bytes: %d are the most", n, size - 1);
	if (l->r < 0)
		return NULL;
	memcpy(line, text, (size_t)n + 1);
	return line;
}

int conf_load(const char *path, const struct conf_item *items, void *target, struct error *err)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	struct load l = { .path = path, .items = items, .target = target, .err = err, .file = file };
	int line;

	if (!file)
		return error_errno(err, -errno, "%s", path);
	line = ini_parse_stream(read_line, &l, on_key, &l);
	conf_pairs_done(&l.seen);
	if (line < 0)
		return error_errno(err, -ENOMEM, "%s", path);
	/* inih knows the first line that it cannot read, we the first that we cannot use. */
	if (line > 0 && (l.r >= 0 || line < l.line))
		return error_set(err, -EINVAL, "%s:%d: no 'key = value' and no [section]", path, line);
	if (l.r < 0) {
		(void)error_prefix(err, "%s:%d", path, l.line);
		return l.r;
	}
	return 0;
}

int conf_parse_string(const struct conf_item *item, const char *section, const char *key, const char *value,
		      void *field, struct error *err)
{
	(void)item;
	(void)section;
	if (!*value)
		return error_set(err, -EINVAL, "'%s' is empty", key);
	if (str_set(field, value) < 0)
		return error_errno(err, -ENOMEM, "%s", key);
	return 0;
}

int conf_parse_unsigned(const struct conf_item *item, const char *section, const char *key, const char *value,
			void *field, struct error *err)
{
	uint64_t v;

	(void)item;
	(void)section;
	if (str_to_u64(value, &v) < 0 || v > UINT_MAX)
		return error_set(err, -EINVAL, "'%s' is no whole number: %s", key, value);
	*(unsigned *)field = (unsigned)v;
	return 0;
}

int conf_parse_double(const struct conf_item *item, const char *section, const char *key, const char *value,
		      void *field, struct error *err)
{
	(void)item;
	(void)section;
	if (str_to_double(value, field) < 0)
		return error_set(err, -EINVAL, "'%s' is no number: %s", key, value);
	return 0;
}

int conf_parse_bool(const struct conf_item *item, const char *section, const char *key, const char *value,
		    void *field, struct error *err)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = { { "yes", true }, { "true", true }, { "on", true }, { "1", true },
		      { "no", false }, { "false", false }, { "off", false }, { "0", false } };

	(void)item;
	(void)section;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (str_eq(words[i].word, value)) {
			*(bool *)field = words[i].value;
			return 0;
		}
	return error_set(err, -EINVAL, "'%s' is neither yes nor no: %s", key, value);
}

void conf_pairs_done(struct conf_pairs *pairs)
{
	for (size_t i = 0; i < pairs->n; i++) {
		free(pairs->items[i].key);
		free(pairs->items[i].value);
	}
	free(pairs->items);
	*pairs = (struct conf_pairs){ 0 };
}

const char *conf_pairs_get(const struct conf_pairs *pairs, const char *key)
{
	for (size_t i = 0; i < pairs->n; i++)
		if (str_eq(pairs->items[i].key, key))
			return pairs->items[i].value;
	return NULL;
}

int conf_pairs_add(struct conf_pairs *pairs, const char *key, const char *value)
{
	_cleanup_free_ char *k = strdup(key), *v = strdup(value);

	if (!k || !v || grow_array(&pairs->items, &pairs->capacity, pairs->n, sizeof(*pairs->items)) < 0)
		return -ENOMEM;
	pairs->items[pairs->n++] = (struct conf_pair){ TAKE_PTR(k), TAKE_PTR(v) };
	return 0;
}

int conf_parse_pairs(const struct conf_item *item, const char *section, const char *key, const char *value,
		     void *field, struct error *err)
{
	(void)item;
	(void)section;
	if (conf_pairs_add(field, key, value) < 0)
		return error_errno(err, -ENOMEM, "%s", key);
	return 0;
}

void strv_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

int conf_split_list(const char *text, char ***ret, size_t *ret_n)
{
	size_t n = 0, capacity = 0;
	char **list = NULL;

	for (const char *p = text; *p;) {
		size_t len = strcspn(p, " ,\t");

		if (len) {
			if (grow_array(&list, &capacity, n + 1, sizeof(*list)) < 0 ||
			    !(list[n] = strndup(p, len))) {
				if (list)
					list[n] = NULL;
				strv_free(list);
				return -ENOMEM;
			}
			list[++n] = NULL;
		}
		p += len;
		p += strspn(p, " ,\t");
	}
	if (!list) {
		list = calloc(1, sizeof(*list));
		if (!list)
			return -ENOMEM;
	}
	*ret = list;
	if (ret_n)
		*ret_n = n;
	return 0;
}

int conf_parse_list(const struct conf_item *item, const char *section, const char *key, const char *value,
		    void *field, struct error *err)
{
	char **list;
	int r = conf_split_list(value, &list, NULL);

	(void)item;
	(void)section;
	if (r < 0)
		return error_errno(err, r, "%s", key);
	strv_free(*(char ***)field);
	*(char ***)field = list;
	return 0;
}
