// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mailed patches to commits, by git's own tools (mailsplit, mailinfo, apply): they know every mailer's ways. Works on an index
 * of its own in a scratch folder; no work tree is needed and nothing but objects is written to the mirror.
 */
#include "daemon/repo-internal.h"

#include "lib/clock.h"
#include "lib/fs.h"
#include "lib/spawn.h"
#include "lib/str.h"

#define PATCH_MAX (64 << 20)
#define MAILS_MAX 500
#define TIMEOUT_NS (120 * NSEC_PER_SEC)

struct scratch {
	const char *mirror;
	char *dir;
	char *index_env, *dir_env;
};

static void scratch_done(struct scratch *s)
{
	fs_rm_rf_free(&s->dir);
	free(s->index_env);
	free(s->dir_env);
}

/* Runs git with our index; *ret_out (may be NULL) without the last newline. -EDOM when git says no. */
static int git(const struct scratch *s, const char *const argv[], const char *input, size_t len, struct error *err, char **ret_out)
{
	const char *const env[] = { s->dir_env,
				    s->index_env,
				    "GIT_AUTHOR_NAME=mmbisect",
				    "GIT_AUTHOR_EMAIL=mmbisect@localhost",
				    "GIT_AUTHOR_DATE=1000000000 +0000",
				    "GIT_COMMITTER_NAME=mmbisect",
				    "GIT_COMMITTER_EMAIL=mmbisect@localhost",
				    "GIT_COMMITTER_DATE=1000000000 +0000",
				    "GIT_CONFIG_NOSYSTEM=1",
				    "GIT_CONFIG_GLOBAL=/dev/null",
				    NULL };
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	_cleanup_free_ char *out = NULL, *text = NULL;
	int status, r;

	o.argv = argv;
	o.extra_env = env;
	o.cwd = s->dir;
	r = spawn_communicate(&o, input, len, PATCH_MAX, TIMEOUT_NS, err, &status, &out, NULL, &text);
	if (r < 0)
		return r;
	if (status != 0) {
		_cleanup_free_ char *line = text ? str_sanitize_line(text, MIN(strlen(text), (size_t)300)) : NULL;

		return error_set(err, -EDOM, "git %s: %s", argv[1], line ? line : "failed");
	}
	if (ret_out) {
		out[strcspn(out, "\n")] = '\0';
		*ret_out = TAKE_PTR(out);
	}
	return 0;
}

static int apply_diff(const struct scratch *s, const char *diff_path, struct error *err)
{
	const char *const argv[] = { "git", "apply", "--cached", "--3way", "--whitespace=nowarn", diff_path, NULL };

	return git(s, argv, NULL, 0, err, NULL);
}

/* Mail number n of the split mbox: its diff is applied; a mail without one (cover letter) is passed over. */
static int apply_mail(const struct scratch *s, int n, struct error *err, int *ret_applied)
{
	_cleanup_free_ char *path = str_format("%s/mails/%04d", s->dir, n), *diff = str_format("%s/diff", s->dir);
	_cleanup_free_ char *mail = NULL, *patch = NULL;
	const char *const argv[] = { "git", "mailinfo", "--quoted-cr=strip", "message", "diff", NULL };
	size_t len;
	int r = path && diff ? fs_read(path, PATCH_MAX, &mail, &len) : -ENOMEM;

	if (r < 0)
		return error_errno(err, r, "mail %d", n);
	r = git(s, argv, mail, len, err, NULL);
	if (r >= 0)
		r = fs_read(diff, PATCH_MAX, &patch, NULL);
	if (r < 0)
		return err && err->code ? r : error_errno(err, r, "mail %d", n);
	if (!strstr(patch, "diff --git ") && !strstr(patch, "\n+++ "))
		return 0;
	r = apply_diff(s, diff, err);
	if (r >= 0)
		(*ret_applied)++;
	return r;
}

static int apply_all(const struct scratch *s, const char *file, struct error *err)
{
	_cleanup_free_ char *mails = str_format("-o%s/mails", s->dir), *dir = str_format("%s/mails", s->dir);
	_cleanup_free_ char *head = NULL, *count = NULL;
	const char *const split[] = { "git", "mailsplit", "-b", mails, file, NULL }; /* -b: a saved mail has no "From " line */
	uint64_t n = 0;
	int applied = 0, r;

	if (!mails || !dir)
		return error_errno(err, -ENOMEM, "patch");
	r = fs_read(file, PATCH_MAX, &head, NULL);
	if (r < 0)
		return error_errno(err, r, "%s", file);
	if (str_starts(head, "diff ") || str_starts(head, "--- ") || str_starts(head, "Index: "))
		return apply_diff(s, file, err);
	r = fs_mkdir_p(dir, 0700);
	if (r < 0)
		return error_errno(err, r, "%s", dir);
	r = git(s, split, NULL, 0, err, &count);
	if (r < 0)
		return r;
	if (str_to_u64(count, &n) < 0 || n > MAILS_MAX)
		return error_set(err, -EDOM, "%s: not a mail or too many of them", file);
	for (int i = 1; i <= (int)n && r >= 0; i++)
		r = apply_mail(s, i, err, &applied);
	if (r >= 0 && applied == 0)
		r = error_set(err, -EDOM, "%s holds no patch", file);
	return r;
}

int repo_apply_file(struct repo *repo, const char *file, const char *onto, struct error *err, char **ret_oid)
{
	_cleanup_(scratch_done) struct scratch s = { .mirror = repo->path };
	_cleanup_free_ char *full = NULL, *tree = NULL;
	const char *const read_tree[] = { "git", "read-tree", onto, NULL };
	const char *const write_tree[] = { "git", "write-tree", NULL };
	int r = fs_realpath(file, &full);

	if (r < 0)
		return error_errno(err, r, "patch %s", file);
	r = fs_mkdtemp(NULL, "mmbisect-patch", &s.dir);
	s.index_env = str_format("GIT_INDEX_FILE=%s/index", s.dir ? s.dir : "");
	s.dir_env = str_format("GIT_DIR=%s", repo->path);
	if (r < 0 || !s.index_env || !s.dir_env)
		return error_errno(err, r < 0 ? r : -ENOMEM, "patch");
	r = git(&s, read_tree, NULL, 0, err, NULL);
	if (r >= 0)
		r = apply_all(&s, full, err);
	if (r >= 0)
		r = git(&s, write_tree, NULL, 0, err, &tree);
	if (r >= 0) {
		const char *const commit_tree[] = { "git", "commit-tree", "-p", onto, "-m", "patch under test", tree, NULL };

		r = git(&s, commit_tree, NULL, 0, err, ret_oid);
	}
	if (r < 0)
		(void)error_prefix(err, "%s on %.12s", file, onto);
	return r;
}
