// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/build-slot.h"

#include "workers/build-sandbox.h"

#include "lib/clock.h"
#include "lib/fs.h"
#include "lib/str.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>

#define RECALL_MAX (4 << 20)

/* What an O= tree is remembered by; wiped with it. */
static const char *const memory[] = { "config", "count", "layout" };

void slot_done(struct slot *slot)
{
	free(slot->path);
	free(slot->src);
	free(slot->git);
	free(slot->ccache);
	free(slot->obj);
	free(slot->request);
	free(slot->linker);
	slot->lock_fd = close_fd(slot->lock_fd);
	*slot = SLOT_INIT;
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* Blocks until the lock is ours. The timer ticks again and again, so that no tick can be missed between two calls. */
static int lock_wait(int fd, const struct build_run *run)
{
	struct sigaction sa = { .sa_handler = on_alarm }, old;
	struct itimerval tick = { { 1, 0 }, { 1, 0 } }, off = { 0 };
	int r = 0;

	(void)sigaction(SIGALRM, &sa, &old);
	(void)setitimer(ITIMER_REAL, &tick, NULL);
	while (flock(fd, LOCK_EX) < 0) {
		r = errno == EINTR ? build_run_check_time(run, NULL) : -errno;
		if (r < 0)
			break;
	}
	(void)setitimer(ITIMER_REAL, &off, NULL);
	(void)sigaction(SIGALRM, &old, NULL);
	return r;
}

static int lock(struct slot *slot, struct build_run *run, struct error *err)
{
	_cleanup_free_ char *path = str_format("%s/lock", slot->path);
	int r;

	if (!path)
		return error_errno(err, -ENOMEM, "%s", slot->path);
	slot->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (slot->lock_fd < 0)
		return error_errno(err, -errno, "cannot open %s", path);
	r = lock_wait(slot->lock_fd, run);
	if (r == -ETIME)
		return error_set(err, r, "the slot %s is still in use after %u s", slot->path, run->limit_seconds);
	if (r < 0)
		return error_errno(err, r, "cannot lock %s", path);
	run->lock_fd = slot->lock_fd;
	return 0;
}

static int remove_tree(const char *path, struct error *err)
{
	const char *argv[] = { "rm", "-rf", "--one-file-system", "--", path, NULL };
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	_cleanup_free_ char *text = NULL;
	int r, status;

	o.argv = argv;
	r = spawn_capture(&o, 1 << 16, 0, err, &status, NULL, NULL, &text);
	if (r < 0)
		return r;
	return status ? error_set(err, -EIO, "cannot remove %s: %.200s", path, text ? text : "") : 0;
}

/* Trees that were being thrown away when somebody was killed. */
static void remove_leftovers(const struct slot *slot)
{
	_cleanup_closedir_ DIR *d = opendir(slot->path);
	const struct dirent *entry;

	while (d && (entry = readdir(d))) {
		_cleanup_free_ char *path = str_format("%s/%s", slot->path, entry->d_name);

		if (path && strstr(entry->d_name, ".old-"))
			(void)remove_tree(path, NULL);
	}
}

/* A folder that the build writes, or (owned by us) only reads. */
static int make_folder(const char *path, bool for_build, struct error *err)
{
	uid_t owner = for_build ? sandbox_uid() : 0;

	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return error_errno(err, -errno, "cannot make %s", path);
	if (owner && lchown(path, owner, owner) < 0)
		return error_errno(err, -errno, "cannot give %s to uid %u", path, (unsigned)owner);
	return 0;
}

static int name_parts(struct slot *slot, const struct build_job *job, const char *config_hash)
{
	const char *format = strlen(job->commit) == 64 ? "sha256" : "sha1";

	slot->src = str_format("%s/src", slot->path);
	slot->git = str_format("%s/git-%s", slot->path, format);
	slot->ccache = str_format("%s/ccache", slot->path);
	slot->obj = str_format("%s/obj-%s-%.16s", slot->path, job->arch->name, config_hash);
	slot->request = str_format("%s.request", slot->obj);
	slot->linker = str_format("%s/layout", slot->path);
	return slot->src && slot->git && slot->ccache && slot->obj && slot->request && slot->linker ? 0 : -ENOMEM;
}

static char *beside(const char *path, const char *name)
{
	return str_format("%s.%s", path, name);
}

static bool is_dirty(const char *path)
{
	_cleanup_free_ char *mark = beside(path, "dirty");

	return !mark || fs_exists(mark);
}

static int set_dirty(const char *path, struct error *err)
{
	_cleanup_free_ char *mark = beside(path, "dirty");
	int r = mark ? fs_write_atomic(mark, "", 0) : -ENOMEM;

	return r < 0 ? error_errno(err, r, "cannot write %s.dirty", path) : 0;
}

static void set_clean(const char *path)
{
	_cleanup_free_ char *mark = beside(path, "dirty");

	if (mark)
		(void)unlink(mark);
}

int slot_open(const struct build_job *job, const char *config_hash, struct build_run *run, struct error *err,
	      struct slot *slot)
{
	_cleanup_free_ char *makefile = NULL;
	int r;

	r = fs_mkdir_p(job->slot, 0755);
	if (r >= 0)
		r = fs_realpath(job->slot, &slot->path);
	if (r < 0)
		return error_errno(err, r, "cannot make the slot %s", job->slot);
	r = lock(slot, run, err);
	if (r < 0)
		return r;
	if (name_parts(slot, job, config_hash) < 0)
		return error_errno(err, -ENOMEM, "%s", slot->path);
	remove_leftovers(slot);
	r = make_folder(slot->src, false, err);
	if (r >= 0)
		r = make_folder(slot->ccache, true, err);
	if (r >= 0 && is_dirty(slot->obj))
		r = slot_obj_wipe(slot, err);
	if (r >= 0)
		r = make_folder(slot->obj, true, err);
	makefile = str_format("%s/Makefile", slot->obj);
	slot->warm = makefile && fs_exists(makefile);
	return r;
}

int slot_obj_begin(struct slot *slot, struct error *err)
{
	return set_dirty(slot->obj, err);
}

void slot_obj_end(struct slot *slot)
{
	set_clean(slot->obj);
}

int slot_obj_wipe(struct slot *slot, struct error *err)
{
	_cleanup_free_ char *old = str_format("%s.old-%d", slot->obj, (int)getpid());
	int r;

	if (!old)
		return error_errno(err, -ENOMEM, "%s", slot->obj);
	for (size_t i = 0; i < ARRAY_SIZE(memory); i++) {
		_cleanup_free_ char *path = beside(slot->obj, memory[i]);

		if (!path || (unlink(path) < 0 && errno != ENOENT))
			return error_errno(err, -errno, "cannot empty %s", slot->obj);
	}
	/* Moved away first: a compiler of a killed build that has yet to die keeps writing into the old one. */
	if (rename(slot->obj, old) < 0 && errno != ENOENT)
		return error_errno(err, -errno, "cannot empty %s", slot->obj);
	r = remove_tree(old, err);
	if (r >= 0)
		r = make_folder(slot->obj, true, err);
	if (r < 0)
		return r;
	set_clean(slot->obj);
	slot->warm = false;
	return 0;
}

int slot_obj_open(const struct slot *slot, const char *path)
{
	_cleanup_close_ int at = open(slot->obj, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (at < 0)
		return -errno;
	for (const char *slash; (slash = strchr(path, '/')); path = slash + 1) {
		_cleanup_free_ char *name = strndup(path, (size_t)(slash - path));
		int next;

		if (!name)
			return -ENOMEM;
		next = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			return -errno;
		(void)close(at);
		at = next;
	}
	fd = openat(at, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? TAKE_FD(fd) : -EBADF;
}

int slot_obj_unlink(const struct slot *slot, const char *name)
{
	_cleanup_close_ int at = open(slot->obj, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (at < 0)
		return -errno;
	return unlinkat(at, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

int slot_obj_recall(const struct slot *slot, const char *name, char **ret)
{
	_cleanup_free_ char *path = beside(slot->obj, name);

	return path ? fs_read(path, RECALL_MAX, ret, NULL) : -ENOMEM;
}

int slot_obj_remember(const struct slot *slot, const char *name, const char *text)
{
	_cleanup_free_ char *path = beside(slot->obj, name);

	return path ? fs_write_atomic(path, text, strlen(text)) : -ENOMEM;
}

bool slot_src_is_dirty(const struct slot *slot)
{
	return is_dirty(slot->src);
}

int slot_src_begin(const struct slot *slot, struct error *err)
{
	return set_dirty(slot->src, err);
}

void slot_src_end(const struct slot *slot)
{
	set_clean(slot->src);
}
