// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/build-image.h"

#include "workers/build-signature.h"
#include "workers/job.h"

#include "lib/clock.h"
#include "lib/fs.h"
#include "lib/str.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/stat.h>

#define RESULT_MAX (1 << 20)
#define COPY_BLOCK (1 << 20)

static bool is_hash(const char *s)
{
	return s && strlen(s) == HASH_HEX_LEN && str_is_oid(s);
}

json_t *image_recall(const struct build_job *job)
{
	_cleanup_free_ char *path = str_format("%s/build.json", job->out);
	_cleanup_free_ char *kernel = str_format("%s/kernel", job->out);
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ json_t *result = NULL;
	struct stat st;
	size_t len;

	if (!path || !kernel || fs_read(path, RESULT_MAX, &text, &len) < 0)
		return NULL;
	result = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	if (!str_eq(json_get_string(result, "status"), "ok") || !is_hash(json_get_string(result, "signature")) ||
	    !is_hash(json_get_string(result, "config_hash")) || !json_get_string(result, "toolchain"))
		return NULL;
	/* Those from before layouts have none: they are 0. */
	if (json_integer_value(json_object_get(result, "layout")) != job->layout)
		return NULL;
	if (stat(kernel, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size)
		return NULL;
	/* The folder may have been moved since. */
	if (json_object_set_new(result, "kernel", json_bytes(kernel)) < 0 ||
	    json_object_set_new(result, "cached", json_true()) < 0)
		return NULL;
	return TAKE_PTR(result);
}

static int copy(int from, const char *to)
{
	_cleanup_close_ int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	static char block[COPY_BLOCK];
	off_t at = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t n = pread(from, block, COPY_BLOCK, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return fsync(fd) < 0 ? -errno : 0;
		at += n;
		for (ssize_t done = 0; done < n;) {
			ssize_t m = write(fd, block + done, (size_t)(n - done));

			if (m < 0 && errno != EINTR)
				return -errno;
			done += MAX(m, 0);
		}
	}
}

static int take_file(const struct build *b, const char *from, const char *folder, const char *name, struct error *err)
{
	_cleanup_free_ char *to = str_format("%s/%s", folder, name);
	_cleanup_close_ int fd = slot_obj_open(&b->slot, from);
	int r;

	if (fd < 0)
		return error_set(err, BUILD_FAILED, "the tree built no usable %s: %s", from, strerror(-fd));
	r = to ? copy(fd, to) : -ENOMEM;
	return r < 0 ? error_errno(err, r, "cannot write %s/%s", folder, name) : 0;
}

static int put_text(const char *folder, const char *name, const char *text, struct error *err)
{
	_cleanup_free_ char *path = str_format("%s/%s", folder, name);
	int r = path ? fs_write_atomic(path, text, strlen(text)) : -ENOMEM;

	return r < 0 ? error_errno(err, r, "cannot write %s/%s", folder, name) : 0;
}

static int sign(const struct build *b, struct error *err, char ret[HASH_HEX_LEN + 1])
{
	_cleanup_close_ int fd = slot_obj_open(&b->slot, "vmlinux");
	int r;

	if (fd < 0)
		return error_set(err, BUILD_FAILED, "the tree built no usable vmlinux: %s", strerror(-fd));
	r = signature_of_elf(fd, err, ret);
	if (r == -EBADMSG) {
		(void)error_prefix(err, "vmlinux");
		err->code = BUILD_FAILED;
		return BUILD_FAILED;
	}
	return r;
}

static int make_result(const struct build *b, const char *config, const char *signature, uint64_t begin_ns,
		       json_t **ret)
{
	_cleanup_free_ char *kernel = str_format("%s/kernel", b->job.out);
	char final_hash[HASH_HEX_LEN + 1];
	json_t *result;

	if (!kernel || config_final_hash(config, final_hash) < 0)
		return -ENOMEM;
	result = json_pack("{ss ss ss ss ss ss ss ss si sO sf sb}", "status", "ok", "signature", signature, "kernel",
			   kernel, "commit", b->job.commit, "arch", b->job.arch->name, "config_hash", b->config_hash,
			   "final_config_hash", final_hash, "toolchain", b->toolchain, "layout",
			   (int)b->job.layout, "unknown_options", b->unknown_options, "seconds", (double)(now_mono_ns() - begin_ns) / 1e9, "cached", 0);
	if (!result)
		return -ENOMEM;
	*ret = result;
	return 0;
}

static int fill(struct build *b, const char *folder, uint64_t begin_ns, struct error *err, json_t **ret)
{
	_cleanup_json_ json_t *result = NULL;
	_cleanup_free_ char *config = NULL, *text = NULL;
	char signature[HASH_HEX_LEN + 2];
	int r;

	r = build_final_config(b, err, &config);
	if (r >= 0)
		r = sign(b, err, signature);
	if (r >= 0)
		r = take_file(b, b->job.arch->image, folder, "kernel", err);
	if (r >= 0)
		r = take_file(b, "System.map", folder, "System.map", err);
	if (r >= 0)
		r = put_text(folder, "config", config, err);
	if (r < 0)
		return r;
	r = make_result(b, config, signature, begin_ns, &result);
	text = r < 0 ? NULL : json_dumps(result, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
	if (!text)
		return error_errno(err, -ENOMEM, "result");
	signature[HASH_HEX_LEN] = '\n';
	signature[HASH_HEX_LEN + 1] = '\0';
	r = put_text(folder, "vmlinux.sig", signature, err);
	if (r >= 0)
		r = put_text(folder, "build.json", text, err);
	if (r >= 0)
		*ret = TAKE_PTR(result);
	return r;
}

/* Half-made folders of workers that are no more. */
static void remove_stale(const char *out)
{
	_cleanup_free_ char *pattern = str_format("%s.tmp-[0-9]*", out);
	glob_t found = { 0 };

	if (pattern && glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++) {
			const char *path = found.gl_pathv[i];
			uint64_t pid;

			if (str_to_u64(strrchr(path, '-') + 1, &pid) >= 0 && pid <= INT32_MAX &&
			    kill((pid_t)pid, 0) < 0 && errno == ESRCH)
				(void)fs_rm_rf(path);
		}
	globfree(&found);
}

static int sync_folder(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

/* Somebody else's complete result stays, a broken one makes way. */
static int move_in(const struct build_job *job, const char *folder)
{
	_cleanup_free_ char *parent = strndup(job->out, (size_t)(strrchr(job->out, '/') - job->out));
	_cleanup_free_ char *broken = str_format("%s.broken", folder);
	_cleanup_json_ json_t *other = NULL;
	int r = parent && broken ? sync_folder(folder) : -ENOMEM;

	if (r < 0)
		return r;
	if (rename(folder, job->out) < 0) {
		if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
			return -errno;
		other = image_recall(job);
		if (other)
			return 0;
		if (rename(job->out, broken) < 0)
			return -errno;
		r = rename(folder, job->out) < 0 ? -errno : 0;
		(void)fs_rm_rf(broken);
		if (r < 0)
			return r;
	}
	return sync_folder(*parent ? parent : "/");
}

int image_publish(struct build *b, uint64_t begin_ns, struct error *err, json_t **ret)
{
	_cleanup_(fs_rm_rf_free) char *folder = str_format("%s.tmp-%d", b->job.out, (int)getpid());
	_cleanup_json_ json_t *result = NULL;
	int r;

	(void)job_progress("sign", 0, 0);
	if (!folder)
		return error_errno(err, -ENOMEM, "%s", b->job.out);
	remove_stale(b->job.out);
	(void)fs_rm_rf(folder);
	r = fs_mkdir_p(folder, 0755);
	if (r < 0)
		return error_errno(err, r, "cannot make %s", folder);
	r = fill(b, folder, begin_ns, err, &result);
	if (r < 0)
		return r;
	r = move_in(&b->job, folder);
	if (r < 0)
		return error_errno(err, r, "cannot make %s", b->job.out);
	*ret = TAKE_PTR(result);
	return 0;
}
