// SPDX-License-Identifier: GPL-2.0-or-later
/* What configs/ ships loads, and what a person writes wrong is told with file and line. */
#include "daemon/definition.h"
#include "daemon/service.h"

#include "lib/fs.h"
#include "lib/str.h"
#include "tap.h"

static char *dir;

static void put(const char *name, const char *text)
{
	_cleanup_free_ char *path = str_format("%s/%s", dir, name);

	(void)fs_write_atomic(path, text, strlen(text));
}

/* Every file of a folder in configs/ whose name starts with the prefix. */
static void test_shipped(void)
{
	struct paths paths = { .configs = (char *)(uintptr_t) "configs" };
	_cleanup_closedir_ DIR *workloads = opendir("configs/workloads"), *machines = opendir("configs/machines");
	int n = 0;

	for (struct dirent *e; workloads && (e = readdir(workloads));) {
		_cleanup_(workload_done) struct workload w = { 0 };
		_cleanup_error_ struct error err = ERROR_INIT;
		_cleanup_free_ char *name = strndup(e->d_name, strcspn(e->d_name, "."));

		if (!str_ends(e->d_name, ".conf"))
			continue;
		ok(workload_load(&paths, name, &err, &w) >= 0 && str_eq(w.name, name), "%s loads: %s", e->d_name, error_text(&err));
		ok(workload_floor(&w, "exact", w.driver) > 0 && workload_floor(&w, "time", "no-such-metric") > 0, "and has floors");
		n++;
	}
	for (struct dirent *e; machines && (e = readdir(machines));) {
		_cleanup_(machine_done) struct machine m = { 0 };
		_cleanup_error_ struct error err = ERROR_INIT;
		_cleanup_free_ char *class = strndup(e->d_name, strcspn(e->d_name, "-")), *arch = NULL;

		if (!str_ends(e->d_name, ".conf"))
			continue;
		arch = strndup(e->d_name + strlen(class) + 1, strcspn(e->d_name + strlen(class) + 1, "."));
		ok(machine_load(&paths, class, arch, &err, &m) >= 0, "%s loads: %s", e->d_name, error_text(&err));
		ok(machine_vcpus(&m) >= 1, "and has processors");
		n++;
	}
	ok(n >= 3, "there were some");
}

#define WORKLOAD "[workload]\nname = w\ndriver = d\ndriver_time = t\n"
#define MACHINE                                                                                                         \
	"[machine]\nname = exact-x\nclass = exact\narch = x\nqemu = q\ntype = t\ncpu = c\nvcpus = 1\nmemory_mib = 64\n"

static void test_workloads(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ WORKLOAD "verison = 2\n", "w.conf:5: unknown key 'verison' in [workload]" },
		{ WORKLOAD "version = two\n", "w.conf:5: 'version' is no whole number: two" },
		{ WORKLOAD "[parms.exact]\na = 1\n", "w.conf:6: unknown section [parms.exact]" },
		{ WORKLOAD "[floor]\ndefault = x\n", "w.conf:6: floor of 'default' is no number >= 0: x" },
		{ WORKLOAD "[floor]\nd = -0.1\n", "w.conf:6: floor of 'd' is no number >= 0: -0.1" },
		{ "[workload]\nname = w\ndriver = d\n", "w.conf: name, driver and driver_time are needed in [workload]" },
	};
	struct paths paths = { .configs = dir };
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(workload_done) struct workload w = { 0 };

	put("workloads/w.conf", WORKLOAD "[params.exact]\na = 1\n[floor]\ndefault = 0.1\nd = 0.2\n[floor.time]\nd = 0.3\n");
	is_int(workload_load(&paths, "w", &err, &w), 0, "a workload: %s", error_text(&err));
	is_int(w.version, 1, "default of version");
	is_near(workload_floor(&w, "exact", "d"), 0.2, 0, "a floor");
	is_near(workload_floor(&w, "exact", "e"), 0.1, 0, "the default floor");
	is_near(workload_floor(&w, "time", "d"), 0.3, 0, "a floor of the other class");
	is_near(workload_floor(&w, "time", "e"), 0.02, 0, "its default floor, which the file does not say");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct workload bad = { 0 };

		put("workloads/w.conf", cases[i].text);
		is_int(workload_load(&paths, "w", &err, &bad), -EINVAL, "bad workload %zu", i);
		ok(str_ends(error_text(&err), cases[i].says), "is told: %s", error_text(&err));
	}
	for (size_t i = 0; i < 4; i++) {
		static const char *const names[] = { "none", "../workloads/w", ".w", "" };
		struct workload bad = { 0 };

		is_int(workload_load(&paths, names[i], &err, &bad), -ENOENT, "no workload '%s'", names[i]);
		ok(strstr(error_text(&err), "(known: w)"), "is told, with those there are: %s", error_text(&err));
	}
}

static void test_machines(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ MACHINE "ram = 5\n", "exact-x.conf:10: unknown key 'ram' in [machine]" },
		{ MACHINE "memory_mib = 5\n", "exact-x.conf:10: key 'memory_mib' given twice in [machine]" },
		{ "[machine]\nname = x\n", "exact-x.conf: name, class, arch, qemu, type, cpu, vcpus and memory_mib are needed" },
	};
	static const char *const vcpus[] = { "2", "0", "-1", "many", "4097", "host" };
	struct paths paths = { .configs = dir };
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(machine_done) struct machine m = { 0 };

	put("machines/exact-x.conf", MACHINE);
	is_int(machine_load(&paths, "exact", "x", &err, &m), 0, "a machine: %s", error_text(&err));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct machine bad = { 0 };

		put("machines/exact-x.conf", cases[i].text);
		is_int(machine_load(&paths, "exact", "x", &err, &bad), -EINVAL, "bad machine %zu", i);
		ok(str_ends(error_text(&err), cases[i].says), "is told: %s", error_text(&err));
	}
	for (size_t i = 0; i < ARRAY_SIZE(vcpus); i++) {
		_cleanup_free_ char *text = str_format("[machine]\nname = exact-x\nclass = exact\narch = x\nqemu = q\ntype = t\ncpu = c\n"
						       "vcpus = %s\nmemory_mib = 64\n", vcpus[i]);
		struct machine bad = { 0 };

		if (str_eq(vcpus[i], "host") && sysconf(_SC_NPROCESSORS_ONLN) == 1)
			continue;
		put("machines/exact-x.conf", text);
		is_int(machine_load(&paths, "exact", "x", &err, &bad), -EINVAL, "an exact machine with %s vcpus", vcpus[i]);
	}
	put("machines/exact-y.conf", MACHINE);
	is_int(machine_load(&paths, "exact", "y", &err, &m), -EINVAL, "a machine under another's name: %s", error_text(&err));
	is_int(machine_load(&paths, "time", "x", &err, &m), -ENOENT, "no machine of that class: %s", error_text(&err));
}

int main(void)
{
	_cleanup_(fs_rm_rf_free) char *scratch = NULL;
	_cleanup_free_ char *w = NULL, *m = NULL;

	if (fs_mkdtemp(NULL, "mmbisect-test", &scratch) < 0)
		return 1;
	dir = scratch;
	w = str_format("%s/workloads", dir);
	m = str_format("%s/machines", dir);
	if (fs_mkdir_p(w, 0755) < 0 || fs_mkdir_p(m, 0755) < 0)
		return 1;
	test_shipped();
	test_workloads();
	test_machines();
	return done_testing();
}
