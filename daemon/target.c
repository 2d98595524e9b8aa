// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/target.h"

#include "daemon/accel.h"
#include "db/run.h"
#include "lib/fs.h"
#include "lib/hash.h"
#include "lib/spawn.h"
#include "lib/str.h"

#define FRAGMENT_MAX (1 << 20)
#define INITRAMFS_MAX (256 << 20)
#define CONFIG_BASE "tinyconfig"

int program_version(const char *program, struct error *err, char **ret)
{
	const char *argv[] = { program, "--version", NULL };
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	_cleanup_free_ char *out = NULL;
	const char *at;
	int status, r;

	o.argv = argv;
	r = spawn_capture(&o, 1 << 16, 20000000000, err, &status, &out, NULL, NULL);
	if (r < 0)
		return r;
	if (status != 0)
		return error_set(err, -ENOENT, "%s --version ends with status %d", program, status);
	at = strpbrk(out, "0123456789");
	while (at && at[strspn(at, "0123456789")] != '.')
		at = strpbrk(at + strspn(at, "0123456789"), "0123456789");
	*ret = at ? strndup(at, strspn(at, "0123456789.")) : strdup("unknown");
	return *ret ? 0 : error_errno(err, -ENOMEM, "%s", program);
}

int toolchain_text(struct error *err, char **ret)
{
	_cleanup_free_ char *clang = NULL, *lld = NULL, *make = NULL;
	int r = program_version("clang", err, &clang);

	if (r >= 0)
		r = program_version("ld.lld", err, &lld);
	if (r >= 0)
		r = program_version("make", err, &make);
	if (r < 0)
		return r;
	*ret = str_format("clang %s, ld.lld %s, make %s", clang, lld, make);
	return *ret ? 0 : error_errno(err, -ENOMEM, "toolchain");
}

int target_fragments(struct engine *e, const char *arch, struct error *err, json_t **ret)
{
	const char *const names[] = { "base", arch };
	_cleanup_json_ json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *path = str_format("%s/kernel/%s.config", e->paths.configs, names[i]);

		if (!path || !list)
			return error_errno(err, -ENOMEM, "config");
		if (!fs_exists(path))
			return error_set(err, -ENOENT, "no kernel config fragment %s", path);
		(void)json_array_append_new(list, json_string(path));
	}
	*ret = TAKE_PTR(list);
	return 0;
}

static int hash_config(struct engine *e, const char *arch, struct error *err, char ret[65])
{
	_cleanup_(hash_freep) struct hash *hash = NULL;
	_cleanup_json_ json_t *fragments = NULL;
	const json_t *path;
	size_t i;
	int r = target_fragments(e, arch, err, &fragments);

	if (r < 0)
		return r;
	r = hash_new(&hash);
	if (r >= 0)
		r = hash_add(hash, CONFIG_BASE, sizeof(CONFIG_BASE));
	if (r < 0)
		return error_errno(err, r, "config");
	json_array_foreach (fragments, i, path) {
		_cleanup_free_ char *text = NULL;
		size_t len;

		r = fs_read(json_string_value(path), FRAGMENT_MAX, &text, &len);
		if (r < 0)
			return error_errno(err, r, "%s", json_string_value(path));
		r = hash_add(hash, text, len + 1);
		if (r < 0)
			return error_errno(err, r, "config");
	}
	r = hash_hex(hash, ret);
	return r < 0 ? error_errno(err, r, "config") : 0;
}

int target_config(struct engine *e, const char *arch, struct error *err, char ret[65])
{
	struct config_hash *c;
	int r;

	for (c = e->configs; c; c = c->next)
		if (str_eq(c->arch, arch)) {
			memcpy(ret, c->hash, sizeof(c->hash));
			return 0;
		}
	c = calloc(1, sizeof(*c));
	r = c ? str_set(&c->arch, arch) : -ENOMEM;
	r = r < 0 ? error_errno(err, r, "config") : hash_config(e, arch, err, c->hash);
	if (r < 0) {
		if (c)
			free(c->arch);
		free(c);
		return r;
	}
	memcpy(ret, c->hash, sizeof(c->hash));
	c->next = e->configs;
	e->configs = c;
	return 0;
}

static const struct conf_pairs *target_params(const struct target *t)
{
	return str_eq(t->class, "exact") ? &t->workload.params_exact : &t->workload.params_time;
}

/* A line a fact, so that a mismatch can be told by name. */
static int describe(struct engine *e, struct target *t, const char *config, const char *qemu, const char *guest)
{
	const struct conf_pairs *params = target_params(t);
	const struct machine *m = &t->machine;
	_cleanup_str_ struct str s = STR_INIT;

	(void)str_addf(&s, "arch=%s\nconfig=%s\ntoolchain=%s\nworkload=%s version %u\nparams=", t->arch, config, e->toolchain,
		       t->workload.name, t->workload.version);
	for (size_t i = 0; i < params->n; i++)
		(void)str_addf(&s, "%s%s=%s", i ? " " : "", params->items[i].key, params->items[i].value);
	(void)str_addf(&s, "\nguest=%s\nmachine=%s class %s\naccel=%s\nqemu=%s %s\ntype=%s\ncpu=%s\nvcpus=%d\nmemory_mib=%u\ncmdline=%s\n",
		       guest, m->name, m->class, t->accel, m->qemu, qemu, m->type, m->cpu, machine_vcpus(m), m->memory_mib,
		       m->cmdline ? m->cmdline : "");
	t->text = str_take(&s);
	t->hash = calloc(1, HASH_HEX_LEN + 1);
	if (!t->text || !t->hash)
		return -ENOMEM;
	return hash_mem(t->text, strlen(t->text), t->hash);
}

static int register_series(struct engine *e, struct target *t, struct error *err)
{
	_cleanup_free_ char *machine = str_format("%s: %s %s, %d vCPU, %u MiB, %s", t->machine.name, t->machine.qemu,
						  t->machine.type, machine_vcpus(&t->machine), t->machine.memory_mib, t->accel);
	const struct series s = { .hash = t->hash, .text = t->text, .arch = t->arch, .workload = t->workload.name,
				  .class = t->class, .machine = machine };
	int r = machine ? db_series_put(e->db, &s) : -ENOMEM;

	return r < 0 ? error_errno(err, r, "database") : 0;
}

static struct target *target_free(struct target *t)
{
	if (!t)
		return NULL;
	workload_done(&t->workload);
	machine_done(&t->machine);
	free(t->arch);
	free(t->class);
	free(t->accel);
	free(t->initramfs);
	free(t->text);
	free(t->hash);
	free(t);
	return NULL;
}
DEFINE_CLEANUP(struct target *, target_free);

static int file_hash(const char *path, struct error *err, char ret[65])
{
	_cleanup_free_ char *data = NULL;
	size_t len;
	int r = fs_read(path, INITRAMFS_MAX, &data, &len);

	if (r >= 0)
		r = hash_mem(data, len, ret);
	return r < 0 ? error_errno(err, r, "guest %s (make guest)", path) : 0;
}

static int guest_hash(struct engine *e, struct target *t, struct error *err, char ret[65])
{
	t->initramfs = str_format("%s/%s/initramfs.cpio", e->paths.guest, t->arch);
	return t->initramfs ? file_hash(t->initramfs, err, ret) : error_errno(err, -ENOMEM, "guest");
}

static int target_new(struct engine *e, const char *arch, const char *workload, const char *class, struct error *err,
		      struct target **ret)
{
	_cleanup_(target_freep) struct target *t = calloc(1, sizeof(*t));
	_cleanup_free_ char *qemu = NULL;
	char config[65], guest[65];
	int r;

	if (!t || str_set(&t->arch, arch) < 0 || str_set(&t->class, class) < 0)
		return error_errno(err, -ENOMEM, "target");
	r = workload_load(&e->paths, workload, err, &t->workload);
	if (r >= 0)
		r = machine_load(&e->paths, class, arch, err, &t->machine);
	if (r >= 0)
		r = target_config(e, arch, err, config);
	if (r >= 0)
		r = guest_hash(e, t, err, guest);
	if (r >= 0)
		r = program_version(t->machine.qemu, err, &qemu);
	if (r >= 0)
		r = accel_resolve(e, &t->machine, qemu, err, &t->accel);
	if (r < 0)
		return r;
	r = describe(e, t, config, qemu, guest);
	if (r < 0)
		return error_errno(err, r, "target");
	r = register_series(e, t, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(t);
	return 0;
}

int target_get(struct engine *e, const char *arch, const char *workload, const char *class, struct error *err,
	       const struct target **ret)
{
	struct target *t;
	int r;

	for (t = e->targets; t; t = t->next)
		if (str_eq(t->arch, arch) && str_eq(t->workload.name, workload) && str_eq(t->class, class)) {
			*ret = t;
			return 0;
		}
	r = target_new(e, arch, workload, class, err, &t);
	if (r < 0)
		return r;
	t->next = e->targets;
	e->targets = t;
	*ret = t;
	return 0;
}

void target_free_all(struct engine *e)
{
	while (e->targets) {
		struct target *next = e->targets->next;

		(void)target_free(e->targets);
		e->targets = next;
	}
	while (e->configs) {
		struct config_hash *next = e->configs->next;

		free(e->configs->arch);
		free(e->configs);
		e->configs = next;
	}
}

static int build_current(struct engine *e, const json_t *spec, struct error *err)
{
	_cleanup_free_ char *toolchain = NULL;
	const char *arch = json_get_string(spec, "arch");
	char config[65], now[65];
	int r = target_config(e, arch, err, config);

	if (r >= 0)
		r = hash_config(e, arch, err, now);
	if (r >= 0)
		r = toolchain_text(err, &toolchain);
	if (r < 0)
		return r;
	if (!str_eq(config, now) || !str_eq(toolchain, e->toolchain))
		return error_set(err, -ESTALE, "%s has changed: start again for a new baseline",
				 str_eq(config, now) ? "the toolchain" : "the kernel config");
	return str_eq(json_get_string(spec, "config"), config) && str_eq(json_get_string(spec, "toolchain"), toolchain);
}

static int run_current(struct engine *e, const json_t *spec, struct error *err)
{
	const char *class = json_get_string(json_object_get(spec, "machine"), "class");
	const char *workload = json_get_string(json_object_get(spec, "workload"), "name");
	const struct target *t;
	char guest[65], line[80];
	int r = target_get(e, json_get_string(spec, "arch"), workload, class, err, &t);

	if (r >= 0)
		r = file_hash(t->initramfs, err, guest);
	if (r < 0)
		return r == -ENOENT || r == -EINVAL ? 0 : r; /* a workload that is gone */
	(void)snprintf(line, sizeof(line), "\nguest=%s\n", guest);
	if (!strstr(t->text, line))
		return error_set(err, -ESTALE, "the guest %s has changed: start again for a new baseline", t->initramfs);
	return str_eq(json_get_string(spec, "series"), t->hash);
}

int target_job_current(struct engine *e, const json_t *spec, struct error *err)
{
	return str_eq(json_get_string(spec, "job"), "build") ? build_current(e, spec, err) : run_current(e, spec, err);
}

int target_job_parts(const struct target *t, json_t **ret_machine, json_t **ret_workload)
{
	const struct conf_pairs *params = target_params(t);
	const struct machine *m = &t->machine;
	_cleanup_json_ json_t *pairs = json_object(), *machine = NULL, *workload = NULL;

	for (size_t i = 0; i < params->n; i++)
		(void)json_object_set_new(pairs, params->items[i].key, json_string(params->items[i].value));
	machine = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:s}", "name", m->name, "class", m->class, "accel",
			    t->accel, "qemu", m->qemu, "type", m->type, "cpu", m->cpu, "vcpus", machine_vcpus(m),
			    "memory_mib", (int)m->memory_mib, "cmdline", m->cmdline ? m->cmdline : "");
	workload = json_pack("{s:s, s:O}", "name", t->workload.name, "params", pairs);
	if (!machine || !workload)
		return -ENOMEM;
	*ret_machine = TAKE_PTR(machine);
	*ret_workload = TAKE_PTR(workload);
	return 0;
}
