// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/definition.h"

#include "lib/fs.h"
#include "lib/str.h"

#include <stddef.h>

static int parse_floor(const struct conf_item *item, const char *section, const char *key, const char *value, void *field,
		       struct error *err)
{
	double v;

	if (str_to_double(value, &v) < 0 || v < 0)
		return error_set(err, -EINVAL, "floor of '%s' is no number >= 0: %s", key, value);
	return conf_parse_pairs(item, section, key, value, field, err);
}

#define W(section, key, parse, field, help) { section, key, parse, offsetof(struct workload, field), help }
static const struct conf_item workload_items[] = {
	W("workload", "name", conf_parse_string, name, "name, as on the command line"),
	W("workload", "version", conf_parse_unsigned, version, "raise it when results change their meaning"),
	W("workload", "driver", conf_parse_string, driver, "metric that is watched and searched"),
	W("workload", "driver_time", conf_parse_string, driver_time, "the same on machines of class time"),
	W("workload", "watch", conf_parse_list, watch, "more metrics that are watched on machines of class exact"),
	W("workload", "limit_seconds", conf_parse_unsigned, limit_seconds, "wall time of a run"),
	W("params.exact", "*", conf_parse_pairs, params_exact, "parameters on machines of class exact"),
	W("params.time", "*", conf_parse_pairs, params_time, "parameters on machines of class time"),
	W("floor", "*", parse_floor, floor_exact, "metric = smallest relative change that counts, class exact"),
	W("floor.time", "*", parse_floor, floor_time, "the same, class time: smallest change worth a search"),
	{ 0 },
};

#define M(key, parse, field, help) { "machine", key, parse, offsetof(struct machine, field), help }
static const struct conf_item machine_items[] = {
	M("name", conf_parse_string, name, "name"),
	M("class", conf_parse_string, class, "exact or time"),
	M("arch", conf_parse_string, arch, "x86_64, arm64"),
	M("accel", conf_parse_string, accel, "tcg, kvm, or auto: what the probe found"),
	M("qemu", conf_parse_string, qemu, "program"),
	M("type", conf_parse_string, type, "-machine"),
	M("cpu", conf_parse_string, cpu, "-cpu"),
	M("vcpus", conf_parse_string, vcpus, "number, or host: as many as the host has"),
	M("memory_mib", conf_parse_unsigned, memory_mib, "memory"),
	M("cmdline", conf_parse_string, cmdline, "added to the kernel command line"),
	{ 0 },
};

void workload_done(struct workload *w)
{
	free(w->name);
	free(w->driver);
	free(w->driver_time);
	strv_free(w->watch);
	conf_pairs_done(&w->params_exact);
	conf_pairs_done(&w->params_time);
	conf_pairs_done(&w->floor_exact);
	conf_pairs_done(&w->floor_time);
	*w = (struct workload){ 0 };
}

void machine_done(struct machine *m)
{
	char *const fields[] = { m->name, m->class, m->arch, m->accel, m->qemu, m->type, m->cpu, m->cmdline, m->vcpus };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		free(fields[i]);
	*m = (struct machine){ 0 };
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names of the .conf files in a folder that start with `prefix`, sorted, as "a, b, c" without prefix and ending. */
static char *known_names(const char *dir, const char *prefix)
{
	_cleanup_closedir_ DIR *d = opendir(dir);
	_cleanup_str_ struct str s = STR_INIT;
	char **names = NULL;
	size_t n = 0, capacity = 0;

	for (struct dirent *e; d && (e = readdir(d));) {
		if (!str_starts(e->d_name, prefix) || !str_ends(e->d_name, ".conf") ||
		    grow_array(&names, &capacity, n, sizeof(*names)) < 0)
			continue;
		names[n] = strndup(e->d_name + strlen(prefix), strlen(e->d_name) - strlen(prefix) - strlen(".conf"));
		if (names[n])
			n++;
	}
	if (n)
		qsort(names, n, sizeof(*names), compare_names);
	for (size_t i = 0; i < n; i++) {
		(void)str_addf(&s, "%s%s", i ? ", " : "", names[i]);
		free(names[i]);
	}
	free(names);
	return str_take(&s);
}

/* Finds dir/<prefix><name>.conf; names are plain words, so no path escapes. */
static int definition_path(const struct paths *paths, const char *dir, const char *prefix, const char *name,
			   const char *noun, struct error *err, char **ret)
{
	_cleanup_free_ char *folder = str_format("%s/%s", paths->configs, dir);
	_cleanup_free_ char *path = folder ? str_format("%s/%s%s.conf", folder, prefix, name) : NULL;

	if (!path)
		return error_errno(err, -ENOMEM, "%s", name);
	if (strchr(name, '/') || *name == '.' || !*name || !fs_exists(path)) {
		_cleanup_free_ char *known = known_names(folder, prefix);

		return error_set(err, -ENOENT, "unknown %s '%s' (known: %s)", noun, name, known ? known : "");
	}
	*ret = TAKE_PTR(path);
	return 0;
}

int workload_load(const struct paths *paths, const char *name, struct error *err, struct workload *ret)
{
	_cleanup_(workload_done) struct workload w = { .version = 1, .limit_seconds = 120 };
	_cleanup_free_ char *path = NULL;
	int r = definition_path(paths, "workloads", "", name, "workload", err, &path);

	if (r < 0)
		return r;
	r = conf_load(path, workload_items, &w, err);
	if (r < 0)
		return r;
	if (!w.name || !w.driver || !w.driver_time)
		return error_set(err, -EINVAL, "%s: name, driver and driver_time are needed in [workload]", path);
	*ret = w;
	w = (struct workload){ 0 };
	return 0;
}

double workload_floor(const struct workload *w, const char *class, const char *metric)
{
	const bool time = str_eq(class, "time");
	const struct conf_pairs *floor = time ? &w->floor_time : &w->floor_exact;
	const char *text = conf_pairs_get(floor, metric);
	double v;

	if (!text)
		text = conf_pairs_get(floor, "default");
	return text && str_to_double(text, &v) >= 0 ? v : time ? 0.02 : 0.005;
}

int machine_load(const struct paths *paths, const char *class, const char *arch, struct error *err, struct machine *ret)
{
	_cleanup_(machine_done) struct machine m = { 0 };
	_cleanup_free_ char *path = NULL, *prefix = str_format("%s-", class);
	int r = prefix ? definition_path(paths, "machines", prefix, arch, "arch", err, &path) : -ENOMEM;

	if (r < 0)
		return r;
	r = conf_load(path, machine_items, &m, err);
	if (r < 0)
		return r;
	if (!m.name || !m.class || !m.arch || !m.qemu || !m.type || !m.cpu || !m.vcpus || !m.memory_mib)
		return error_set(err, -EINVAL, "%s: name, class, arch, qemu, type, cpu, vcpus and memory_mib are needed", path);
	if (!str_eq(m.class, class) || !str_eq(m.arch, arch))
		return error_set(err, -EINVAL, "%s: class or arch do not fit the file's name", path);
	if (machine_vcpus(&m) < 1)
		return error_set(err, -EINVAL, "%s: vcpus is neither a number nor 'host'", path);
	if (str_eq(class, "exact") && machine_vcpus(&m) != 1)
		return error_set(err, -EINVAL, "%s: a machine of class exact has one vcpu", path);
	*ret = m;
	m = (struct machine){ 0 };
	return 0;
}

int machine_vcpus(const struct machine *m)
{
	uint64_t v;

	if (str_eq(m->vcpus, "host"))
		return (int)sysconf(_SC_NPROCESSORS_ONLN);
	return str_to_u64(m->vcpus, &v) < 0 || v > 4096 ? -EINVAL : (int)v;
}
