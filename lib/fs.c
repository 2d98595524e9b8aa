// SPDX-License-Identifier: GPL-2.0-or-later
#define _XOPEN_SOURCE_EXTENDED 1
#include "lib/fs.h"

#include "lib/str.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

int fs_mkdir_p(const char *path, mode_t mode)
{
	_cleanup_free_ char *copy = strdup(path);
	struct stat st;

	if (!copy)
		return -ENOMEM;
	if (!*path)
		return -ENOENT;
	for (char *p = copy + 1;; p++) {
		char c = *p;

		if (c != '/' && c != '\0')
			continue;
		*p = '\0';
		if (mkdir(copy, mode) < 0 && errno != EEXIST)
			return -errno;
		*p = c;
		if (c == '\0')
			break;
	}
	/* EEXIST is also said of what is no folder. */
	if (stat(path, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

int fs_rm_rf(const char *path)
{
	if (nftw(path, remove_entry, 32, FTW_DEPTH | FTW_PHYS) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

int fs_read(const char *path, size_t max, char **ret, size_t *ret_len)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_str_ struct str s = STR_INIT;
	char block[65536];
	char *data;
	size_t len;

	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t n = read(fd, block, sizeof(block));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		if (s.len + (size_t)n > max)
			return -EFBIG;
		if (str_add_mem(&s, block, (size_t)n) < 0)
			return -ENOMEM;
	}
	len = s.len;
	data = str_take(&s);
	if (!data)
		return -ENOMEM;
	*ret = data;
	if (ret_len)
		*ret_len = len;
	return 0;
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

int fs_write_atomic(const char *path, const void *data, size_t len)
{
	_cleanup_free_ char *beside = str_format("%s.new", path);
	_cleanup_close_ int fd = -1;
	int r;

	if (!beside)
		return -ENOMEM;
	fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	r = write_all(fd, data, len);
	if (r >= 0 && fsync(fd) < 0)
		r = -errno;
	if (r >= 0 && rename(beside, path) < 0)
		r = -errno;
	if (r < 0)
		(void)unlink(beside);
	return r;
}

int fs_mkdtemp(const char *parent, const char *prefix, char **ret)
{
	_cleanup_free_ char *path = NULL;

	if (!parent)
		parent = getenv("TMPDIR");
	path = str_format("%s/%s-XXXXXX", parent && *parent ? parent : "/tmp", prefix);
	if (!path)
		return -ENOMEM;
	if (!mkdtemp(path))
		return -errno;
	*ret = TAKE_PTR(path);
	return 0;
}

void fs_rm_rf_free(char **path)
{
	if (*path)
		(void)fs_rm_rf(*path);
	free(*path);
	*path = NULL;
}

bool fs_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

int fs_realpath(const char *path, char **ret)
{
	char *real = realpath(path, NULL);

	if (!real)
		return -errno;
	*ret = real;
	return 0;
}

void fs_existing_parent(char *path)
{
	char *slash;

	while (!fs_exists(path) && (slash = strrchr(path, '/')) && path[1])
		slash[slash == path] = '\0';
}

bool fs_is_storage(const char *path)
{
	struct statvfs v;

	return statvfs(path, &v) == 0 && v.f_blocks > 0;
}

int fs_free_bytes(const char *path, uint64_t *ret)
{
	struct statvfs v;

	if (statvfs(path, &v) < 0)
		return -errno;
	*ret = (uint64_t)v.f_bavail * v.f_frsize;
	return 0;
}

/* A folder may be searched, which access(2) calls executable. */
static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int fs_find_program(const char *name, char **ret)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return is_program(name) ? fs_realpath(name, ret) : -ENOENT;
	if (!path)
		return -ENOENT;
	for (const char *p = path; *p;) {
		size_t n = strcspn(p, ":");
		_cleanup_free_ char *full = str_format("%.*s/%s", (int)n, p, name);

		if (!full)
			return -ENOMEM;
		if (n && is_program(full)) {
			*ret = TAKE_PTR(full);
			return 0;
		}
		p += n + (p[n] == ':');
	}
	return -ENOENT;
}
