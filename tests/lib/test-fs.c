// SPDX-License-Identifier: GPL-2.0-or-later
/* Files and folders, with links in the way and disks that are full. */
#include "lib/fs.h"

#include "lib/str.h"
#include "tap.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char *dir;

static char *in_dir(const char *name)
{
	return str_format("%s/%s", dir, name);
}

static void put(const char *name, const char *text)
{
	_cleanup_free_ char *path = in_dir(name);
	_cleanup_fclose_ FILE *f = fopen(path, "we");

	if (f)
		(void)fputs(text, f);
}

static bool there(const char *name)
{
	_cleanup_free_ char *path = in_dir(name);
	struct stat st;

	return lstat(path, &st) == 0;
}

static void test_mkdir(void)
{
	_cleanup_free_ char *deep = in_dir("a/b//c/"), *file = in_dir("file"), *below = in_dir("file/x");

	is_int(fs_mkdir_p(deep, 0755), 0, "mkdir_p");
	ok(there("a/b/c"), "all of them");
	is_int(fs_mkdir_p(deep, 0755), 0, "twice is fine");
	put("file", "x");
	is_int(fs_mkdir_p(below, 0755), -ENOTDIR, "a file in the way");
	is_int(fs_mkdir_p(file, 0755), -ENOTDIR, "a file in its place");
	ok(fs_mkdir_p("", 0755) < 0, "no name");
}

static void test_rm(void)
{
	_cleanup_free_ char *tree = in_dir("tree"), *out_link = in_dir("tree/sub/out"), *dead = in_dir("tree/dead");
	_cleanup_free_ char *outside = in_dir("outside"), *dir_link = in_dir("link"), *none = in_dir("none");
	_cleanup_free_ char *sub = in_dir("tree/sub"), *hidden = in_dir("tree/.hidden");

	(void)fs_mkdir_p(sub, 0755);
	(void)fs_mkdir_p(hidden, 0755);
	(void)fs_mkdir_p(outside, 0755);
	put("outside/keep", "x");
	put("tree/.hidden/f", "x");
	put("tree/with space\n", "x");
	ok(symlink(outside, out_link) == 0 && symlink("/nowhere", dead) == 0 && symlink(outside, dir_link) == 0, "links are made");
	is_int(fs_rm_rf(tree), 0, "rm_rf");
	ok(!there("tree"), "the tree is gone");
	ok(there("outside/keep"), "what a link in it points at is not");
	is_int(fs_rm_rf(dir_link), 0, "rm_rf of a link to a folder");
	ok(!there("link") && there("outside/keep"), "removes the link");
	is_int(fs_rm_rf(none), 0, "what does not exist is fine");
}

static void test_files(void)
{
	_cleanup_free_ char *path = in_dir("data"), *beside = in_dir("data.new"), *text = NULL, *same = NULL, *folder = in_dir("a");
	_cleanup_free_ char *lost = in_dir("none/data"), *link = in_dir("datalink"), *real = NULL, *big = NULL;
	size_t len = 0;

	is_int(fs_write_atomic(path, "a\0b", 3), 0, "write");
	is_int(fs_read(path, 3, &text, &len), 0, "read");
	ok(len == 3 && memcmp(text, "a\0b", 4) == 0, "bytes and their number, terminated");
	ok(!fs_exists(beside), "nothing is left beside it");
	is_int(fs_read(path, 2, &big, NULL), -EFBIG, "larger than may be");
	is_int(fs_write_atomic(path, "", 0), 0, "an empty file");
	is_int(fs_read(path, 0, &same, &len), 0, "is read");
	is_int(len, 0, "as nothing");
	is_int(fs_read(lost, 10, &big, NULL), -ENOENT, "a file that is not there");
	is_int(fs_read(folder, 10, &big, NULL), -EISDIR, "a folder is no file");
	is_int(fs_write_atomic(lost, "x", 1), -ENOENT, "nor can one be written there");
	is_int(fs_write_atomic(folder, "x", 1), -EISDIR, "a folder is not replaced");
	ok(!there("a.new"), "and nothing is left of the try");
	ok(!big, "outputs are untouched on failure");
	if (symlink("data", link) == 0 && fs_realpath(link, &real) >= 0)
		ok(str_ends(real, "/data"), "realpath");
	is_int(fs_realpath(lost, &real), -ENOENT, "realpath of nothing");
}

static void test_programs(void)
{
	_cleanup_free_ char *bin = in_dir("bin"), *folder = in_dir("bin/prog"), *bin2 = in_dir("bin2"), *found = NULL, *plain = NULL;
	_cleanup_free_ char *path = str_format("%s:/nowhere::%s", bin, bin2), *want = in_dir("bin2/prog"), *none = NULL;
	_cleanup_free_ char *old = strdup(getenv("PATH"));

	(void)fs_mkdir_p(folder, 0755);
	(void)fs_mkdir_p(bin2, 0755);
	put("bin2/prog", "#!/bin/sh\n");
	put("bin2/plain", "data");
	(void)chmod(want, 0755);
	(void)setenv("PATH", path, 1);
	is_int(fs_find_program("prog", &found), 0, "find a program");
	is_str(found, want, "a folder of that name is not one");
	is_int(fs_find_program("plain", &plain), -ENOENT, "nor is a plain file");
	is_int(fs_find_program("absent", &none), -ENOENT, "nor what is not there");
	is_int(fs_find_program(bin, &none), -ENOENT, "nor a folder by its path");
	(void)unsetenv("PATH");
	is_int(fs_find_program("prog", &none), -ENOENT, "without PATH there is none");
	(void)setenv("PATH", old, 1);
}

static void test_full(void)
{
	_cleanup_free_ char *mnt = in_dir("mnt"), *path = in_dir("mnt/data"), *text = NULL;
	_cleanup_free_ char *big = calloc(1, 1 << 20);
	uint64_t bytes = 0;

	(void)fs_mkdir_p(mnt, 0755);
	if (mount("tmpfs", mnt, "tmpfs", 0, "size=64k") < 0) {
		skip(strerror(errno), "a full disk needs a mount");
		return;
	}
	is_int(fs_free_bytes(mnt, &bytes), 0, "free bytes");
	ok(bytes > 0 && bytes <= 65536, "as many as there are");
	is_int(fs_write_atomic(path, "old", 3), 0, "a file on a small disk");
	is_int(fs_write_atomic(path, big, 1 << 20), -ENOSPC, "a full disk");
	is_int(fs_read(path, 100, &text, NULL), 0, "the old content");
	is_str(text, "old", "is still there, whole");
	ok(!there("mnt/data.new"), "and no half file beside it");
	(void)umount(mnt);
}

static void test_mkdtemp(void)
{
	_cleanup_(fs_rm_rf_free) char *one = NULL, *two = NULL;
	char *none = NULL;
	struct stat st;

	is_int(fs_mkdtemp(dir, "pre", &one), 0, "mkdtemp");
	is_int(fs_mkdtemp(dir, "pre", &two), 0, "another");
	ok(!str_eq(one, two), "they differ");
	ok(stat(one, &st) == 0 && (st.st_mode & 0777) == 0700, "nobody else may look");
	is_int(fs_mkdtemp("/nowhere", "pre", &none), -ENOENT, "no such parent");
}

int main(void)
{
	_cleanup_(fs_rm_rf_free) char *scratch = NULL;

	if (fs_mkdtemp(NULL, "mmbisect-test", &scratch) < 0)
		return 1;
	dir = scratch;
	test_mkdir();
	test_rm();
	test_files();
	test_programs();
	test_full();
	test_mkdtemp();
	return done_testing();
}
