// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/build-config.h"

#include "lib/str.h"

#define NAME_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

static void option_done(struct config_option *o)
{
	free(o->name);
	free(o->value);
	free(o->fragment);
}

void config_request_done(struct config_request *request)
{
	for (size_t i = 0; i < request->n; i++)
		option_done(&request->options[i]);
	free(request->options);
	free(request->base);
	*request = CONFIG_REQUEST_INIT;
}

int config_request_init(struct config_request *request, const char *base)
{
	return str_set(&request->base, base);
}

static void drop_option(struct config_request *request, const char *name)
{
	for (size_t i = 0; i < request->n; i++) {
		if (!str_eq(request->options[i].name, name))
			continue;
		option_done(&request->options[i]);
		memmove(&request->options[i], &request->options[i + 1],
			(request->n - i - 1) * sizeof(*request->options));
		request->n--;
		return;
	}
}

static int add_option(struct config_request *request, const char *path, const char *name, size_t name_len,
		      const char *value)
{
	const char *slash = strrchr(path, '/');
	struct config_option o = { .name = strndup(name, name_len) };

	if (!o.name || str_set(&o.value, value) < 0 || str_set(&o.fragment, slash ? slash + 1 : path) < 0 ||
	    grow_array(&request->options, &request->capacity, request->n, sizeof(o)) < 0) {
		option_done(&o);
		return -ENOMEM;
	}
	drop_option(request, o.name);
	request->options[request->n++] = o;
	return 0;
}

/* "CONFIG_X=value", "# CONFIG_X is not set"; 1 for a comment or an empty line, -EINVAL for anything else. */
static int add_line(struct config_request *request, const char *path, const char *line)
{
	static const char off[] = " is not set";
	size_t len;

	if (str_starts(line, "# CONFIG_")) {
		len = strspn(line + 2, NAME_CHARS);
		return str_eq(line + 2 + len, off) ? add_option(request, path, line + 2, len, NULL) : 1;
	}
	if (*line == '\0' || *line == '#')
		return 1;
	len = strspn(line, NAME_CHARS);
	if (!str_starts(line, "CONFIG_") || line[len] != '=')
		return -EINVAL;
	return add_option(request, path, line, len, str_eq(line + len, "=n") ? NULL : line + len + 1);
}

int config_request_add(struct config_request *request, const char *path, const char *text, struct error *err)
{
	_cleanup_free_ char *copy = strdup(text);
	unsigned number = 1;

	if (!copy)
		return error_errno(err, -ENOMEM, "%s", path);
	for (char *line = copy; line; number++) {
		char *next = strchr(line, '\n');
		size_t len;
		int r;

		if (next)
			*next++ = '\0';
		len = strlen(line);
		while (len && strchr(" \t\r", line[len - 1]))
			line[--len] = '\0';
		r = add_line(request, path, line);
		if (r == -EINVAL)
			return error_set(err, r, "%s:%u: neither CONFIG_X=... nor # CONFIG_X is not set", path, number);
		if (r < 0)
			return error_errno(err, r, "%s", path);
		line = next;
	}
	return 0;
}

char *config_request_text(const struct config_request *request)
{
	_cleanup_str_ struct str s = STR_INIT;

	for (size_t i = 0; i < request->n; i++) {
		const struct config_option *o = &request->options[i];

		if (o->value)
			(void)str_addf(&s, "%s=%s\n", o->name, o->value);
		else
			(void)str_addf(&s, "# %s is not set\n", o->name);
	}
	return s.failed ? NULL : str_take(&s);
}

int config_request_hash(const struct config_request *request, char ret[HASH_HEX_LEN + 1])
{
	_cleanup_free_ char *options = config_request_text(request);
	_cleanup_free_ char *text = options ? str_format("%s\n%s", request->base, options) : NULL;

	return text ? hash_mem(text, strlen(text), ret) : -ENOMEM;
}

int config_value(const char *config, const char *name, char **ret)
{
	size_t len = strlen(name);

	for (const char *line = config; line && *line; line = strchr(line, '\n'), line += line ? 1 : 0) {
		char *value;

		if (strncmp(line, name, len) != 0 || line[len] != '=')
			continue;
		value = strndup(line + len + 1, strcspn(line + len + 1, "\n"));
		if (!value)
			return -ENOMEM;
		*ret = value;
		return 0;
	}
	*ret = NULL;
	return 0;
}

int config_request_missed(const struct config_request *request, const char *config,
			  const struct config_option ***ret, size_t *ret_n)
{
	_cleanup_free_ const struct config_option **missed = calloc(request->n + 1, sizeof(void *));
	size_t n = 0;

	if (!missed)
		return -ENOMEM;
	for (size_t i = 0; i < request->n; i++) {
		_cleanup_free_ char *value = NULL;
		int r = config_value(config, request->options[i].name, &value);

		if (r < 0)
			return r;
		if (!str_eq(value ? value : "n", request->options[i].value ? request->options[i].value : "n"))
			missed[n++] = &request->options[i];
	}
	*ret = TAKE_PTR(missed);
	*ret_n = n;
	return 0;
}

static bool names_toolchain(const char *line, size_t len)
{
	static const char *const ends[] = { "_VERSION", "_VERSION_TEXT" };
	static const char *const tools[] = { "CONFIG_CC_", "CONFIG_GCC_", "CONFIG_CLANG_", "CONFIG_AS_",
					     "CONFIG_LD_", "CONFIG_LLD_", "CONFIG_RUSTC_", "CONFIG_PAHOLE_" };
	size_t name = strcspn(line, "=");
	bool tool = false;

	if (name >= len)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		tool |= str_starts(line, tools[i]);
	for (size_t i = 0; tool && i < ARRAY_SIZE(ends); i++)
		if (name > strlen(ends[i]) && strncmp(line + name - strlen(ends[i]), ends[i], strlen(ends[i])) == 0)
			return true;
	return false;
}

int config_final_hash(const char *config, char ret[HASH_HEX_LEN + 1])
{
	_cleanup_(hash_freep) struct hash *hash = NULL;
	int r = hash_new(&hash);

	for (const char *line = config; r >= 0 && *line;) {
		size_t len = strcspn(line, "\n");

		len += line[len] == '\n';
		if (str_starts(line, "CONFIG_") && !names_toolchain(line, len))
			r = hash_add(hash, line, len);
		line += len;
	}
	return r < 0 ? r : hash_hex(hash, ret);
}
