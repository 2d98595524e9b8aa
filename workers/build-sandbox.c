// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/build-sandbox.h"

#include "workers/build-argv.h"
#include "workers/build-toolchain.h"

#include "lib/fs.h"
#include "lib/str.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define NOBODY 65534
#define MOUNT_POINT "/run/mmbisect-slot"
#define TMP_BYTES (1ULL << 30)
#define FILE_BYTES_MAX (4ULL << 30)
#define PROCESSES_MAX 8192

uid_t sandbox_uid(void)
{
	return geteuid() == 0 ? NOBODY : 0;
}

static bool others_may_enter(const char *path)
{
	_cleanup_free_ char *copy = strdup(path);
	struct stat st;

	if (!copy)
		return false;
	for (char *p = copy + 1;; p++) {
		char c = *p;

		if (c != '/' && c != '\0')
			continue;
		*p = '\0';
		if (stat(copy, &st) < 0 || !(st.st_mode & S_IXOTH))
			return false;
		*p = c;
		if (c == '\0')
			return true;
	}
}

/* In a mount namespace of our own the slot gets a second name that everybody may walk to. */
static int bind_slot(struct slot *slot, struct error *err)
{
	struct stat st;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return error_errno(err, -errno, "%s is closed to nobody, and a mount namespace cannot be made",
				   slot->path);
	if (mkdir(MOUNT_POINT, 0755) < 0 && errno != EEXIST)
		return error_errno(err, -errno, "cannot make %s", MOUNT_POINT);
	if (lstat(MOUNT_POINT, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != 0)
		return error_set(err, -EPERM, "%s is not a folder of root", MOUNT_POINT);
	if (mount(slot->path, MOUNT_POINT, NULL, MS_BIND, NULL) < 0)
		return error_errno(err, -errno, "cannot mount %s", slot->path);
	return 0;
}

/* Path `part` of the slot under its other name. */
static int rename_part(const struct slot *slot, char **part)
{
	char *moved = str_format("%s%s", MOUNT_POINT, *part + strlen(slot->path));

	if (!moved)
		return -ENOMEM;
	free(*part);
	*part = moved;
	return 0;
}

static void set_limit(int what, uint64_t value)
{
	struct rlimit limit;

	if (getrlimit(what, &limit) < 0)
		return;
	limit.rlim_cur = MIN(limit.rlim_max, value);
	limit.rlim_max = limit.rlim_cur;
	(void)setrlimit((__rlimit_resource_t)what, &limit);
}

int sandbox_prepare(struct slot *slot, struct error *err)
{
	char **parts[] = { &slot->src, &slot->ccache, &slot->obj, &slot->request, &slot->linker };
	int r;

	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_FSIZE, FILE_BYTES_MAX);
	set_limit(RLIMIT_NPROC, PROCESSES_MAX);
	if (!sandbox_uid() || others_may_enter(slot->path))
		return 0;
	r = bind_slot(slot, err);
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(parts); i++) {
		r = rename_part(slot, parts[i]);
		if (r < 0)
			return error_errno(err, r, "%s", slot->path);
	}
	return r;
}

/* What programs need of the host: libraries and programs, the linker's cache, Debian's alternatives. */
static void add_host(struct argv *a)
{
	static const char *const roots[] = { "bin", "sbin", "lib", "lib32", "lib64", "libx32" };
	static const char *const files[] = { "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf",
					     "/etc/ld.so.conf.d" };
	static const char *const usr[] = { "--ro-bind", "/usr", "/usr", NULL };

	argv_add_list(a, usr);
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		_cleanup_free_ char *path = str_format("/%s", roots[i]);
		struct stat st;

		if (!path || lstat(path, &st) < 0)
			continue;
		argv_add(a, S_ISLNK(st.st_mode) ? "--symlink" : "--ro-bind");
		argv_add(a, S_ISLNK(st.st_mode) ? "usr%s" : "%s", path);
		argv_add(a, "%s", path);
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		argv_add(a, "--ro-bind-try");
		argv_add(a, "%s", files[i]);
		argv_add(a, "%s", files[i]);
	}
}

static void add_bind(struct argv *a, const char *how, const char *from, const char *to)
{
	argv_add(a, "%s", how);
	argv_add(a, "%s", from);
	argv_add(a, "%s", to);
}

static void add_namespaces(struct argv *a, const struct slot *slot)
{
	static const char *const fixed[] = { "bwrap", "--unshare-all", "--unshare-user", "--disable-userns",
					     "--die-with-parent", "--new-session", "--uid", "65534", "--gid", "65534",
					     "--hostname", "mmbisect", NULL };

	argv_add_list(a, fixed);
	/* The sandbox's first process keeps the slot's lock, the programs in it do not get to see it. */
	argv_add(a, "--sync-fd");
	argv_add(a, "%d", slot->lock_fd);
	add_host(a);
	argv_add(a, "--proc");
	argv_add(a, "/proc");
	argv_add(a, "--dev");
	argv_add(a, "/dev");
	argv_add(a, "--size");
	argv_add(a, "%llu", TMP_BYTES);
	argv_add(a, "--tmpfs");
	argv_add(a, "/tmp");
	add_bind(a, "--ro-bind", slot->src, "/src");
	add_bind(a, "--bind", slot->obj, "/obj");
	add_bind(a, "--bind", slot->ccache, "/ccache");
	if (fs_exists(slot->request))
		add_bind(a, "--ro-bind", slot->request, "/request.config");
	if (slot->relink)
		add_bind(a, "--ro-bind", slot->linker, "/layout");
	argv_add(a, "--remount-ro");
	argv_add(a, "/");
	argv_add(a, "--chdir");
	argv_add(a, "/obj");
	argv_add(a, "--");
}

/* CCACHE_DEPEND: a miss compiles once; the dependency file says what was read (cold mm/ and fs/proc/: 51 s, with a preprocessor run first 75). */
static void add_env(struct argv *env, const struct slot *slot)
{
	static const char *const fixed[] = { "HOME=/tmp", "TMPDIR=/tmp", "LC_ALL=C", "TZ=UTC", "USER=nobody",
					     "SHELL=/bin/sh", "CCACHE_DIR=/ccache", "CCACHE_MAXSIZE=2G",
					     "CCACHE_NOHASHDIR=1", "CCACHE_DEPEND=1", "CCACHE_TEMPDIR=/ccache/tmp", NULL };
	_cleanup_free_ char *path = toolchain_sandbox_path();

	env->failed |= !path;
	argv_add(env, "PATH=%s%s", slot->relink ? "/layout:" : "", path ? path : "");
	argv_add_list(env, fixed);
}

int sandbox_run(const struct slot *slot, struct build_run *run, const char *const *argv, build_line_fn line,
		void *userdata, struct error *err, int *ret_status)
{
	_cleanup_argv_ struct argv all = ARGV_INIT, env = ARGV_INIT;
	struct spawn_options o = SPAWN_OPTIONS_INIT;

	add_namespaces(&all, slot);
	argv_add_list(&all, argv);
	add_env(&env, slot);
	o.argv = argv_get(&all);
	o.env = argv_get(&env);
	o.uid = sandbox_uid();
	if (!o.argv || !o.env)
		return error_errno(err, -ENOMEM, "bwrap");
	o.cwd = "/";
	return build_run(run, &o, line, userdata, err, ret_status);
}
