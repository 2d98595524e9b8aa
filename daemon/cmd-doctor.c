// SPDX-License-Identifier: GPL-2.0-or-later
/* mmbisect doctor: what this host can do. Looks only. */
#include "daemon/cli.h"

#include "daemon/target.h"
#include "db/build.h"
#include "db/run.h"
#include "lib/fs.h"
#include "lib/str.h"

#include <fcntl.h>
#include <sys/utsname.h>

enum check { GOOD, NOTE, BAD };

struct findings {
	json_t *list;
	bool bad, text;
};

static void tell(struct findings *f, enum check check, const char *what, const char *says)
{
	static const char *const words[] = { "ok", "note", "missing" };

	if (check == BAD)
		f->bad = true;
	(void)json_array_append_new(f->list, json_pack("{s:s, s:s, s:s}", "what", what, "state", words[check], "text", says));
	if (f->text)
		(void)printf("%-8s %-22s %s\n", words[check], what, says);
}

static void check_tools(struct findings *f)
{
	static const struct {
		const char *program, *package, *why;
	} tools[] = {
		{ "git", "git", "fetching and checking out" },
		{ "clang", "clang", "building kernels" },
		{ "ld.lld", "lld", "building kernels" },
		{ "llvm-ar", "llvm", "building kernels" },
		{ "make", "make", "building kernels" },
		{ "flex", "flex", "kernel configuration" },
		{ "bison", "bison", "kernel configuration" },
		{ "bc", "bc", "building kernels" },
		{ "ccache", "ccache", "quick builds" },
		{ "bwrap", "bubblewrap", "the sandbox of builds" },
		{ "qemu-system-x86_64", "qemu-system-x86", "x86_64 guests" },
		{ "qemu-system-aarch64", "qemu-system-arm", "arm64 guests" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		_cleanup_free_ char *version = NULL, *text = NULL;

		if (program_version(tools[i].program, NULL, &version) >= 0)
			text = strdup(version);
		else
			text = str_format("not found: apt-get install %s (%s)", tools[i].package, tools[i].why);
		tell(f, version ? GOOD : BAD, tools[i].program, text ? text : "");
	}
}

static void check_disk(struct findings *f, const struct paths *paths)
{
	_cleanup_free_ char *at = strdup(paths->state), *text = NULL;
	uint64_t bytes = 0;
	int r = at ? 0 : -ENOMEM;

	if (r >= 0) {
		fs_existing_parent(at);
		r = fs_free_bytes(at, &bytes);
	}
	if (r < 0) {
		tell(f, BAD, "disk", strerror(-r));
		return;
	}
	text = bytes == 0 ? str_format("nothing can be kept at %s", at) : str_format("%llu GiB free at %s (5 are used by two arches)", (unsigned long long)(bytes >> 30), at);
	tell(f, bytes >> 30 >= 5 ? GOOD : BAD, "disk", text ? text : "");
}

static void check_host(struct findings *f)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	long mib = sysconf(_SC_PHYS_PAGES) / 1024 * (sysconf(_SC_PAGESIZE) / 1024);
	_cleanup_free_ char *text = str_format("%ld cores, %ld MiB memory", cores, mib);

	tell(f, cores >= 2 && mib >= 3000 ? GOOD : NOTE, "host", text ? text : "");
}

static void check_accel(struct findings *f, const struct paths *paths)
{
	_cleanup_(db_closep) struct db *db = NULL;
	_cleanup_free_ char *qemu = NULL, *host = NULL, *accel = NULL, *reason = NULL, *text = NULL;
	_cleanup_close_ int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	struct utsname u;

	if (uname(&u) == 0 && program_version("qemu-system-x86_64", NULL, &qemu) >= 0)
		host = str_format("%s, Linux %s, QEMU %s", u.nodename, u.release, qemu);
	if (host && db_open_read_only(paths->db, NULL, &db) >= 0 &&
	    db_probe_find(db, host, str_eq(u.machine, "aarch64") ? "arm64" : u.machine, &accel, &reason) > 0)
		text = str_format("%s: %s", accel, reason);
	else if (kvm < 0)
		text = strdup("tcg: /dev/kvm cannot be opened");
	else
		text = strdup("/dev/kvm opens, which proves nothing: a guest is booted with it under a time limit as soon as "
			      "a kernel is built");
	tell(f, accel || kvm < 0 ? GOOD : NOTE, "accelerator", text ? text : "");
}

static void check_guests(struct findings *f, const struct paths *paths)
{
	static const char *const arches[] = { "x86_64", "arm64" };

	for (size_t i = 0; i < ARRAY_SIZE(arches); i++) {
		_cleanup_free_ char *path = str_format("%s/%s/initramfs.cpio", paths->guest, arches[i]);
		_cleanup_free_ char *what = str_format("guest %s", arches[i]);

		if (path && what)
			tell(f, fs_exists(path) ? GOOD : BAD, what, fs_exists(path) ? path : "not built: make guest");
	}
}

int cmd_doctor(const struct cli *cli)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(paths_done) struct paths paths = PATHS_INIT;
	_cleanup_json_ json_t *document = NULL;
	struct findings f = { .list = json_array(), .text = !cli->json };
	int r = paths_init(cli->state, cli->configs, &err, &paths);

	if (r < 0) {
		json_decref(f.list);
		return cli_fail(&err);
	}
	check_tools(&f);
	check_host(&f);
	check_disk(&f, &paths);
	check_guests(&f, &paths);
	check_accel(&f, &paths);
	document = json_pack("{s:s, s:s, s:o}", "kind", "doctor", "status", f.bad ? "missing" : "ok", "checks", f.list);
	if (cli->json && cli_print_json(document) < 0)
		return CLI_INFRA;
	return f.bad ? CLI_NO_ANSWER : CLI_ANSWER;
}
