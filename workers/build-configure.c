// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/build-make.h"

#include "workers/build-checkout.h"
#include "workers/job.h"

#include "lib/fs.h"
#include "lib/str.h"

#include <sys/stat.h>

#define CONFIG_MAX (8 << 20)

/* Reads /obj/.config. -ENOENT when there is none. */
static int read_config(const struct slot *slot, char **ret, struct stat *ret_stat)
{
	_cleanup_close_ int fd = slot_obj_open(slot, ".config");
	_cleanup_free_ char *path = NULL;

	if (fd < 0)
		return fd;
	if (ret_stat && fstat(fd, ret_stat) < 0)
		return -errno;
	path = str_format("/proc/self/fd/%d", fd);
	return path ? fs_read(path, CONFIG_MAX, ret, NULL) : -ENOMEM;
}

/* The lines "path:config X" of all Kconfig files that define one of the options. */
static int ask_definitions(const struct build *b, const struct config_option *const *missed, size_t n,
			   struct error *err, char **ret)
{
	_cleanup_argv_ struct argv argv = ARGV_INIT;
	int r, status;

	argv_add(&argv, "grep");
	argv_add(&argv, "-E");
	for (size_t i = 0; i < n; i++) {
		argv_add(&argv, "-e");
		argv_add(&argv, "^[[:blank:]]*(menu)?config[[:blank:]]+%s[[:blank:]]*$",
			 missed[i]->name + strlen("CONFIG_"));
	}
	argv_add(&argv, "--");
	argv_add(&argv, "*Kconfig*");
	if (!argv_get(&argv))
		return error_errno(err, -ENOMEM, "git grep");
	r = checkout_ask(&b->slot, argv_get(&argv), err, &status, ret);
	if (r >= 0 && status > 1)
		return error_set(err, -EIO, "git grep failed with status %d", status);
	return r;
}

/* Another architecture's Kconfig files are not read for ours. */
static bool is_defined(const char *definitions, const char *symbol, const char *srcarch)
{
	_cleanup_free_ char *ours = str_format("arch/%s/", srcarch);

	for (const char *line = definitions; line && *line; line = strchr(line, '\n'), line += line ? 1 : 0) {
		size_t len = strcspn(line, "\n"), end = len, begin;

		while (end && strchr(" \t", line[end - 1]))
			end--;
		for (begin = end; begin && !strchr(" \t", line[begin - 1]);)
			begin--;
		if (end - begin != strlen(symbol) || strncmp(line + begin, symbol, end - begin) != 0)
			continue;
		if (!str_starts(line, "arch/") || str_starts(line, "arch/Kconfig") || (ours && str_starts(line, ours)))
			return true;
	}
	return false;
}

static int refuse(const struct config_option *o, const char *config, struct error *err)
{
	_cleanup_free_ char *value = NULL;
	int r = config_value(config, o->name, &value);

	if (r < 0)
		return error_errno(err, r, "%s", o->name);
	return error_set(err, BUILD_FAILED, "option %s=%s of %s did not take (is %.100s)", o->name,
			 o->value ? o->value : "n", o->fragment, value ? value : "not set");
}

static int check_config(struct build *b, const char *config, struct error *err)
{
	_cleanup_free_ const struct config_option **missed = NULL;
	_cleanup_free_ char *definitions = NULL;
	_cleanup_json_ json_t *unknown = json_array();
	size_t n;
	int r;

	r = config_request_missed(&b->request, config, &missed, &n);
	if (r < 0 || !unknown)
		return error_errno(err, -ENOMEM, "config");
	if (n) {
		r = ask_definitions(b, missed, n, err, &definitions);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < n; i++) {
		if (is_defined(definitions, missed[i]->name + strlen("CONFIG_"), b->job.arch->srcarch))
			return refuse(missed[i], config, err);
		if (json_array_append_new(unknown, json_string(missed[i]->name)) < 0)
			return error_errno(err, -ENOMEM, "config");
	}
	json_decref(b->unknown_options);
	b->unknown_options = TAKE_PTR(unknown);
	return 0;
}

/*
 * Identity of all that decides on a .config: request, toolchain and each file that takes part in configuring, by content. A file
 * that is missed here costs nothing but time: make itself then configures anew before it compiles.
 */
static int config_key(const struct build *b, struct error *err, char ret[HASH_HEX_LEN + 1])
{
	static const char *const argv[] = { "ls-files", "-s", "--", "*Kconfig*", "scripts", "Makefile",
					    "arch/*/Makefile", "arch/*/configs", "kernel/configs", NULL };
	_cleanup_free_ char *files = NULL, *text = NULL;
	int r, status;

	r = checkout_ask(&b->slot, argv, err, &status, &files);
	if (r < 0)
		return r;
	if (status)
		return error_set(err, -EIO, "git ls-files failed with status %d", status);
	text = str_format("%s\n%s\n%s\n%s", b->config_hash, b->toolchain, b->job.arch->name, files);
	r = text ? hash_mem(text, strlen(text), ret) : -ENOMEM;
	return r < 0 ? error_errno(err, r, "config") : 0;
}

/* What is remembered: the key, and the .config that came of it. */
static char *config_note(const char *key, const char *config)
{
	char hash[HASH_HEX_LEN + 1];

	return hash_mem(config, strlen(config), hash) < 0 ? NULL : str_format("%s %s\n", key, hash);
}

static bool is_current(const struct build *b, const char *key, const char *config)
{
	_cleanup_free_ char *note = config ? config_note(key, config) : NULL;
	_cleanup_free_ char *before = NULL;

	return note && slot_obj_recall(&b->slot, "config", &before) >= 0 && str_eq(note, before);
}

static int write_request(const struct build *b, struct error *err)
{
	_cleanup_free_ char *text = config_request_text(&b->request);
	int r = text ? fs_write_atomic(b->slot.request, text, strlen(text)) : -ENOMEM;

	return r < 0 ? error_errno(err, r, "cannot write %s", b->slot.request) : 0;
}

static int run_target(struct build *b, const char *target, struct error *err)
{
	_cleanup_argv_ struct argv argv = ARGV_INIT;

	build_add_make(b, &argv, true);
	argv_add(&argv, "%s", target);
	return build_step(b, &argv, NULL, NULL, err, NULL);
}

static int run_merge(struct build *b, struct error *err)
{
	static const char *const merge[] = { "sh", "/src/scripts/kconfig/merge_config.sh", "-m", "-O", "/obj",
					     "/obj/.config", "/request.config", NULL };
	_cleanup_argv_ struct argv argv = ARGV_INIT;

	argv_add_list(&argv, merge);
	return build_step(b, &argv, NULL, NULL, err, NULL);
}

/* A .config that came out as it was gets its old time back, or make would run syncconfig and more for nothing. */
static void keep_time(const struct build *b, const char *before, const struct stat *st, const char *now)
{
	const struct timespec times[2] = { st->st_atim, st->st_mtim };
	_cleanup_close_ int fd = -1;

	if (!str_eq(before, now))
		return;
	fd = slot_obj_open(&b->slot, ".config");
	if (fd >= 0)
		(void)futimens(fd, times);
}

static int configure(struct build *b, const char *key, const char *before, const struct stat *st, struct error *err)
{
	_cleanup_free_ char *config = NULL, *note = NULL;
	int r;

	r = write_request(b, err);
	if (r >= 0)
		r = run_target(b, b->job.base, err);
	if (r >= 0 && b->request.n)
		r = run_merge(b, err);
	if (r >= 0 && b->request.n)
		r = run_target(b, "olddefconfig", err);
	if (r >= 0)
		r = build_final_config(b, err, &config);
	if (r < 0)
		return r;
	if (before)
		keep_time(b, before, st, config);
	note = config ? config_note(key, config) : NULL;
	r = note ? slot_obj_remember(&b->slot, "config", note) : -ENOMEM;
	return r < 0 ? error_errno(err, r, "cannot write %s.config", b->slot.obj) : 0;
}

int build_final_config(struct build *b, struct error *err, char **ret)
{
	_cleanup_free_ char *config = NULL;
	int r = read_config(&b->slot, &config, NULL);

	if (r < 0 || !config)
		return error_set(err, BUILD_FAILED, "the tree made no usable .config");
	r = check_config(b, config, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(config);
	return 0;
}

int build_configure(struct build *b, struct error *err)
{
	_cleanup_free_ char *before = NULL;
	char key[HASH_HEX_LEN + 1];
	struct stat st = { 0 };
	int r;

	(void)job_progress("config", 0, 0);
	r = config_key(b, err, key);
	if (r < 0)
		return r;
	(void)read_config(&b->slot, &before, &st);
	if (is_current(b, key, before))
		return 0;
	r = slot_obj_begin(&b->slot, err);
	if (r >= 0)
		r = configure(b, key, before, &st, err);
	if (r >= 0 || r == BUILD_FAILED)
		slot_obj_end(&b->slot);
	return r;
}
