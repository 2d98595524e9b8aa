// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers/build-checkout.h"

#include "workers/build-argv.h"
#include "workers/job.h"

#include "lib/clock.h"
#include "lib/fs.h"
#include "lib/str.h"

#define GIT_OUTPUT_MAX (64 << 20)
#define GIT_LIMIT_NS (600 * NSEC_PER_SEC)
#define PROGRESS_EVERY_NS (200 * NSEC_PER_MSEC)

/* Nothing of the user, the system or the repository may steer git. */
static void add_plain_env(struct argv *env)
{
	static const char *const fixed[] = { "HOME=/nonexistent",      "LC_ALL=C",
					     "GIT_CONFIG_NOSYSTEM=1",  "GIT_CONFIG_GLOBAL=/dev/null",
					     "GIT_ATTR_NOSYSTEM=1",    "GIT_TERMINAL_PROMPT=0",
					     "GIT_NO_LAZY_FETCH=1",    "GIT_NO_REPLACE_OBJECTS=1", NULL };
	const char *path = getenv("PATH");

	argv_add(env, "PATH=%s", path ? path : "/usr/bin:/bin");
	argv_add_list(env, fixed);
}

/* A list of paths in which every path is quoted, as git reads it: colons, quotes and blanks are then harmless. */
static void add_alternate(struct argv *env, const char *objects)
{
	_cleanup_str_ struct str s = STR_INIT;

	for (; *objects; objects++) {
		if (*objects == '"' || *objects == '\\')
			(void)str_add(&s, "\\");
		(void)str_add_mem(&s, objects, 1);
	}
	argv_add(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES=\"%s\"", s.data);
	env->failed |= s.failed;
}

static void add_slot_env(struct argv *env, const struct slot *slot, const char *objects)
{
	add_plain_env(env);
	argv_add(env, "GIT_DIR=%s", slot->git);
	argv_add(env, "GIT_WORK_TREE=%s", slot->src);
	argv_add(env, "GIT_INDEX_FILE=%s/index", slot->git);
	if (objects)
		add_alternate(env, objects);
}

static void add_git(struct argv *argv)
{
	static const char *const fixed[] = {
		"git", "-c", "core.bare=false", "-c", "core.hooksPath=/dev/null", "-c", "core.attributesFile=/dev/null",
		"-c", "core.autocrlf=false", "-c", "core.symlinks=true", "-c", "core.fileMode=true",
		"-c", "core.ignoreCase=false", "-c", "core.fsmonitor=false", "-c", "safe.directory=*",
		"-c", "advice.detachedHead=false", "-c", "gc.auto=0", NULL
	};

	argv_add_list(argv, fixed);
}

/* The folder of the objects of any kind of repository: work tree, its .git, a linked work tree, a bare one. */
static int find_objects(const char *repo, struct error *err, char **ret)
{
	_cleanup_argv_ struct argv argv = ARGV_INIT, env = ARGV_INIT;
	_cleanup_free_ char *real = NULL, *out = NULL, *text = NULL;
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	int r, status;

	r = fs_realpath(repo, &real);
	if (r < 0)
		return error_errno(err, r, "the repository %s", repo);
	add_plain_env(&env);
	argv_add(&env, "GIT_CEILING_DIRECTORIES=%.*s", (int)(strrchr(real, '/') - real), real);
	argv_add(&argv, "git");
	argv_add(&argv, "-c");
	argv_add(&argv, "safe.directory=*");
	argv_add(&argv, "rev-parse");
	argv_add(&argv, "--path-format=absolute");
	argv_add(&argv, "--git-path");
	argv_add(&argv, "objects");
	o.argv = argv_get(&argv);
	o.env = argv_get(&env);
	o.cwd = real;
	if (!o.argv || !o.env)
		return error_errno(err, -ENOMEM, "git");
	r = spawn_capture(&o, 65536, GIT_LIMIT_NS, err, &status, &out, NULL, &text);
	if (r < 0)
		return error_prefix(err, "the repository %s", repo);
	if (status)
		return error_set(err, -ENOENT, "%s is not a git repository: %.*s", repo,
				 (int)strcspn(text ? text : "", "\n"), text ? text : "");
	if (str_ends(out, "\n"))
		out[strlen(out) - 1] = '\0';
	return fs_realpath(out, ret) < 0 ? error_set(err, -ENOENT, "%s has no objects", repo) : 0;
}

static int ask(const struct slot *slot, const char *objects, const char *const *args, struct error *err,
	       int *ret_status, char **ret_out, char **ret_err_text)
{
	_cleanup_argv_ struct argv argv = ARGV_INIT, env = ARGV_INIT;
	struct spawn_options o = SPAWN_OPTIONS_INIT;

	add_git(&argv);
	argv_add_list(&argv, args);
	add_slot_env(&env, slot, objects);
	o.argv = argv_get(&argv);
	o.env = argv_get(&env);
	o.cwd = slot->src;
	o.pass_fds = &slot->lock_fd;
	o.n_pass_fds = 1;
	if (!o.argv || !o.env)
		return error_errno(err, -ENOMEM, "git");
	return spawn_capture(&o, GIT_OUTPUT_MAX, GIT_LIMIT_NS, err, ret_status, ret_out, NULL, ret_err_text);
}

int checkout_ask(const struct slot *slot, const char *const *argv, struct error *err, int *ret_status,
		 char **ret_out)
{
	return ask(slot, NULL, argv, err, ret_status, ret_out, NULL);
}

/* Makes our git folder, or finds it made. The locks in it are stale: the slot is ours. */
static int prepare_git(const struct slot *slot, struct error *err)
{
	static const char *const locks[] = { "index.lock", "config.lock", "HEAD.lock" };
	_cleanup_free_ char *head = str_format("%s/HEAD", slot->git);
	const char *argv[] = { "git", "init", "-q", "--bare", "--template=", "--object-format", NULL, slot->git, NULL };
	_cleanup_argv_ struct argv env = ARGV_INIT;
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	_cleanup_free_ char *text = NULL;
	int r, status;

	for (size_t i = 0; i < ARRAY_SIZE(locks); i++) {
		_cleanup_free_ char *path = str_format("%s/%s", slot->git, locks[i]);

		if (path)
			(void)unlink(path);
	}
	if (head && fs_exists(head))
		return 0;
	add_plain_env(&env);
	argv[6] = str_ends(slot->git, "sha256") ? "sha256" : "sha1";
	o.argv = argv;
	o.env = argv_get(&env);
	r = spawn_capture(&o, 65536, GIT_LIMIT_NS, err, &status, NULL, NULL, &text);
	if (r < 0)
		return r;
	return status ? error_set(err, -EIO, "git init: %.300s", text ? text : "") : 0;
}

/* -ENOENT: there is none; -EIO: our git folder is broken. */
static int need_commit(const struct slot *slot, const struct build_job *job, const char *objects, struct error *err)
{
	const char *type[] = { "cat-file", "-t", job->commit, NULL };
	static const char *const healthy[] = { "rev-parse", "--git-dir", NULL };
	_cleanup_free_ char *out = NULL, *text = NULL;
	int r, status = 0, broken = 0;

	r = ask(slot, objects, type, err, &status, &out, NULL);
	if (r < 0 || (!status && str_eq(out, "commit\n")))
		return r;
	r = ask(slot, objects, healthy, err, &broken, NULL, &text);
	if (r < 0)
		return r;
	if (broken)
		return error_set(err, -EIO, "git: %.300s", text ? text : "");
	return error_set(err, -ENOENT, "no such commit: %s in %s", job->commit, job->repo);
}

struct progress {
	uint64_t last_ns;
	char last_line[300]; /* what git said last, for the error */
};

/* "Updating files:  13% (10/75)" */
static void on_line(void *userdata, const char *line)
{
	struct progress *p = userdata;
	const char *open = strrchr(line, '(');
	char *end;
	unsigned long long done;

	if (!str_starts(line, "Updating files:") || !open) {
		(void)snprintf(p->last_line, sizeof(p->last_line), "%s", line);
		return;
	}
	if (now_mono_ns() - p->last_ns < PROGRESS_EVERY_NS)
		return;
	p->last_ns = now_mono_ns();
	done = strtoull(open + 1, &end, 10);
	if (*end == '/')
		(void)job_progress("checkout", (int64_t)done, (int64_t)strtoull(end + 1, NULL, 10));
}

static int run_git(const struct slot *slot, const char *objects, const char *const *args, struct build_run *run,
		   struct error *err)
{
	_cleanup_argv_ struct argv argv = ARGV_INIT, env = ARGV_INIT;
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	struct progress progress = { 0 };
	int r, status;

	add_git(&argv);
	argv_add_list(&argv, args);
	add_slot_env(&env, slot, objects);
	o.argv = argv_get(&argv);
	o.env = argv_get(&env);
	o.cwd = slot->src;
	if (!o.argv || !o.env)
		return error_errno(err, -ENOMEM, "git");
	r = build_run(run, &o, on_line, &progress, err, &status);
	if (r < 0)
		return r;
	if (status) {
		_cleanup_free_ char *line = str_sanitize_line(progress.last_line, strlen(progress.last_line));

		return error_set(err, -EIO, "git %s: %s", args[0], line ? line : "failed");
	}
	return 0;
}

static int update(struct slot *slot, const struct build_job *job, const char *objects, struct build_run *run,
		  struct error *err)
{
	_cleanup_free_ char *workers = str_format("checkout.workers=%u", job->jobs);
	const char *read_tree[] = { "-c", workers, "read-tree", "--reset", "-u", "-v", job->commit, NULL };
	static const char *const clean[] = { "clean", "-ffdxq", NULL };
	static const char *const verify[] = { "diff-files", "--quiet", NULL };
	bool was_dirty = slot_src_is_dirty(slot);
	int r;

	if (!workers)
		return error_errno(err, -ENOMEM, "git");
	r = slot_src_begin(slot, err);
	if (r >= 0)
		r = run_git(slot, objects, read_tree, run, err);
	/* Somebody was killed in the middle: files of his commit may lie about that no index knows. */
	if (r >= 0 && was_dirty)
		r = run_git(slot, objects, clean, run, err);
	if (r >= 0 && was_dirty)
		r = run_git(slot, objects, verify, run, err);
	if (r >= 0)
		slot_src_end(slot);
	return r;
}

static int attempt(struct slot *slot, const struct build_job *job, const char *objects, struct build_run *run,
		   struct error *err)
{
	int r = prepare_git(slot, err);

	if (r >= 0)
		r = need_commit(slot, job, objects, err);
	if (r >= 0)
		r = update(slot, job, objects, run, err);
	return r;
}

int checkout(struct slot *slot, const struct build_job *job, struct build_run *run, struct error *err)
{
	_cleanup_free_ char *objects = NULL;
	int r;

	(void)job_progress("checkout", 0, 0);
	r = find_objects(job->repo, err, &objects);
	if (r < 0)
		return r;
	r = attempt(slot, job, objects, run, err);
	if (r != -EIO)
		return r;
	/* Whatever a crash has left of our git folder: it holds nothing that the repository does not. */
	error_done(err);
	r = slot_src_begin(slot, err);
	if (r >= 0 && fs_rm_rf(slot->git) < 0)
		r = error_set(err, -EIO, "cannot remove %s", slot->git);
	return r < 0 ? r : attempt(slot, job, objects, run, err);
}
