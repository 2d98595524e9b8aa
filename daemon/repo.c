// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/repo-internal.h"

#include "lib/fs.h"
#include "lib/str.h"

#include <ftw.h>
#include <git2.h>
#include <iconv.h>

int repo_git_error(struct error *err, int code, const char *what)
{
	const git_error *e = git_error_last();
	_cleanup_free_ char *text = e && e->message ? str_sanitize_line(e->message, strlen(e->message)) : NULL;
	int r = code == GIT_ENOTFOUND ? -ENOENT : code == GIT_EAMBIGUOUS || code == GIT_EINVALIDSPEC ? -EINVAL : -EIO;

	return error_set(err, r, "%s: %s", what, text ? text : "git error");
}

static int git_ready(void)
{
	static bool done;

	if (done)
		return 0;
	if (git_libgit2_init() < 0)
		return -EIO;
	/* Who owns the repository is no concern of ours: nothing in it is executed by libgit2. */
	(void)git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	done = true;
	return 0;
}

static int remove_lock(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (flag == FTW_F && (str_ends(path, ".lock") || strstr(path, "/objects/pack/tmp_")))
		(void)unlink(path);
	return 0;
}

void repo_remove_locks(const char *mirror)
{
	static const char *const below[] = { "refs", "objects/pack" };
	static const char *const files[] = { "packed-refs.lock", "HEAD.lock", "config.lock", "shallow.lock" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_free_ char *path = str_format("%s/%s", mirror, files[i]);

		if (path)
			(void)unlink(path);
	}
	for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
		_cleanup_free_ char *path = str_format("%s/%s", mirror, below[i]);

		if (path)
			(void)nftw(path, remove_lock, 16, FTW_PHYS);
	}
}

int repo_open(const char *mirror, struct error *err, struct repo **ret)
{
	_cleanup_(repo_closep) struct repo *repo = calloc(1, sizeof(*repo));
	int r = git_ready();

	if (!repo || r < 0)
		return error_errno(err, repo ? r : -ENOMEM, "git");
	r = git_repository_open_bare(&repo->mirror, mirror);
	if (r == GIT_ENOTFOUND) /* not there, or only half made when somebody was killed */
		r = git_repository_init(&repo->mirror, mirror, 1);
	if (r < 0)
		return repo_git_error(err, r, mirror);
	repo_remove_locks(mirror);
	repo->path = strdup(mirror);
	if (!repo->path)
		return error_errno(err, -ENOMEM, "git");
	*ret = TAKE_PTR(repo);
	return 0;
}

/* Finds what `git -C user_dir` would: a work tree, a worktree, a bare repository; parents are searched. */
static int open_user(const char *user_dir, struct error *err, git_repository **ret)
{
	int r = git_repository_open_ext(ret, user_dir, 0, NULL);

	if (r >= 0)
		return 0;
	if (r == GIT_ENOTFOUND)
		return error_set(err, -EINVAL, "no git repository at %s", user_dir);
	(void)repo_git_error(err, r, user_dir); /* SHA-256 ids, an extension that libgit2 does not know */
	(void)error_prefix(err, "cannot read the git repository");
	return err ? (err->code = -EINVAL) : -EINVAL;
}

int repo_open_read_only(const char *user_dir, struct error *err, struct repo **ret)
{
	_cleanup_(repo_closep) struct repo *repo = calloc(1, sizeof(*repo));
	int r = git_ready();

	if (!repo || r < 0)
		return error_errno(err, repo ? r : -ENOMEM, "git");
	r = open_user(user_dir, err, &repo->mirror);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(repo);
	return 0;
}

/* line ends in a newline; only whole lines count: one path may be the end of another. */
static bool has_line(const char *text, const char *line)
{
	for (const char *at = text; at && (at = strstr(at, line)); at++)
		if (at == text || at[-1] == '\n')
			return true;
	return false;
}

int repo_attach(struct repo *repo, const char *user_dir, struct error *err)
{
	git_buf objects = { 0 };
	_cleanup_free_ char *alternates = str_format("%s/objects/info/alternates", repo->path);
	_cleanup_free_ char *line = NULL, *old = NULL;
	int r;

	if (!alternates)
		return error_errno(err, -ENOMEM, "git");
	r = open_user(user_dir, err, &repo->user);
	if (r < 0)
		return r;
	r = git_repository_item_path(&objects, repo->user, GIT_REPOSITORY_ITEM_OBJECTS);
	if (r < 0)
		return repo_git_error(err, r, user_dir);
	line = str_format("%s\n", objects.ptr);
	git_buf_dispose(&objects);
	if (!line)
		return error_errno(err, -ENOMEM, "git");
	(void)fs_read(alternates, 1 << 20, &old, NULL);
	if (has_line(old, line))
		return 0;
	/* Earlier ones stay: commits that were measured there are still looked at. */
	{
		_cleanup_free_ char *all = str_format("%s%s", old ? old : "", line);

		r = all ? fs_write_atomic(alternates, all, strlen(all)) : -ENOMEM;
	}
	if (r < 0)
		return error_errno(err, r, "%s", alternates);
	/* libgit2 reads alternates when it opens the object database. */
	git_repository_free(repo->mirror);
	repo->mirror = NULL;
	r = git_repository_open_bare(&repo->mirror, repo->path);
	return r < 0 ? repo_git_error(err, r, repo->path) : 0;
}

struct repo *repo_close(struct repo *repo)
{
	if (!repo)
		return NULL;
	git_repository_free(repo->mirror);
	git_repository_free(repo->user);
	free(repo->path);
	free(repo);
	return NULL;
}

char *repo_oid_text(const git_oid *oid)
{
	char *text = calloc(1, GIT_OID_HEXSZ + 1);

	return text ? git_oid_tostr(text, GIT_OID_HEXSZ + 1, oid) : NULL;
}

int repo_resolve(struct repo *repo, const char *rev, struct error *err, char **ret_oid)
{
	git_object *object = NULL, *commit = NULL;
	git_repository *git = repo->user ? repo->user : repo->mirror;
	int r = git_revparse_single(&object, git, rev);

	if (r >= 0) {
		r = git_object_peel(&commit, object, GIT_OBJECT_COMMIT);
		git_object_free(object);
	}
	if (r < 0) {
		if (r == GIT_EAMBIGUOUS)
			return error_set(err, -EINVAL, "revision '%s' is ambiguous", rev);
		return error_set(err, -ENOENT, "unknown revision '%s'", rev);
	}
	*ret_oid = repo_oid_text(git_object_id(commit));
	git_object_free(commit);
	return *ret_oid ? 0 : error_errno(err, -ENOMEM, "git");
}

int repo_lookup(struct repo *repo, const char *oid, git_commit **ret)
{
	git_oid id;
	int r = git_oid_fromstr(&id, oid);

	return r < 0 ? r : git_commit_lookup(ret, repo->mirror, &id);
}

void commit_done(struct commit *c)
{
	char *const fields[] = { c->oid, c->tree_oid, c->subject, c->author, c->author_mail, c->message, c->link };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		free(fields[i]);
	for (size_t i = 0; i < c->n_parents; i++)
		free(c->parents[i]);
	free(c->parents);
	*c = (struct commit){ 0 };
}

/* By the commit's encoding header, as git does; what cannot be converted is sanitised as if it were UTF-8. */
static char *to_utf8(const char *text, const char *encoding)
{
	size_t left = strlen(text), room = 4 * left + 4;
	char *in = (char *)(uintptr_t)text, *out;
	_cleanup_free_ char *converted = NULL;
	iconv_t cd = encoding ? iconv_open("UTF-8", encoding) : (iconv_t)-1;
	size_t r;

	if (cd == (iconv_t)-1)
		return str_sanitize(text, strlen(text));
	out = converted = malloc(room);
	r = converted ? iconv(cd, &in, &left, &out, &room) : (size_t)-1;
	(void)iconv_close(cd);
	if (r == (size_t)-1)
		return str_sanitize(text, strlen(text));
	return str_sanitize(converted, (size_t)(out - converted));
}

static char *one_line(const char *text)
{
	return str_sanitize_line(text, strcspn(text, "\n"));
}

/* The value of the last line that starts with `name: `. */
static char *last_trailer(const char *message, const char *name)
{
	size_t n = strlen(name);
	const char *found = NULL;

	for (const char *p = message; p; p = strchr(p, '\n'), p = p ? p + 1 : NULL)
		if (strncasecmp(p, name, n) == 0 && p[n] == ':')
			found = p + n + 1;
	if (!found)
		return NULL;
	found += strspn(found, " ");
	return one_line(found);
}

int repo_commit(struct repo *repo, const char *oid, struct error *err, struct commit *ret)
{
	_cleanup_(commit_done) struct commit c = { 0 };
	_cleanup_free_ char *message = NULL, *author = NULL, *mail = NULL;
	git_commit *git;
	int r = repo_lookup(repo, oid, &git);

	if (r < 0)
		return repo_git_error(err, r, oid);
	message = to_utf8(git_commit_message(git), git_commit_message_encoding(git));
	author = to_utf8(git_commit_author(git)->name, git_commit_message_encoding(git));
	mail = to_utf8(git_commit_author(git)->email, git_commit_message_encoding(git));
	c.oid = repo_oid_text(git_commit_id(git));
	c.tree_oid = repo_oid_text(git_commit_tree_id(git));
	c.author_s = git_commit_author(git)->when.time;
	c.commit_s = git_commit_time(git);
	c.n_parents = git_commit_parentcount(git);
	c.parents = calloc(c.n_parents + 1, sizeof(*c.parents));
	for (unsigned i = 0; c.parents && i < c.n_parents; i++)
		c.parents[i] = repo_oid_text(git_commit_parent_id(git, i));
	git_commit_free(git);
	if (!message || !author || !mail || !c.parents)
		return error_errno(err, -ENOMEM, "git");
	c.subject = one_line(message + strspn(message, "\n"));
	c.author = one_line(author);
	c.author_mail = one_line(mail);
	c.link = last_trailer(message, "Link");
	c.message = TAKE_PTR(message);
	if (!c.subject || !c.author || !c.author_mail || !c.oid || !c.tree_oid)
		return error_errno(err, -ENOMEM, "git");
	*ret = c;
	c = (struct commit){ 0 };
	return 0;
}

int repo_is_kernel(struct repo *repo, const char *oid, struct error *err)
{
	git_commit *commit = NULL;
	git_tree *tree = NULL;
	int r = repo_lookup(repo, oid, &commit), is = 0;

	if (r >= 0)
		r = git_commit_tree(&tree, commit);
	if (r >= 0)
		is = git_tree_entry_byname(tree, "Makefile") && git_tree_entry_byname(tree, "Kconfig");
	git_tree_free(tree);
	git_commit_free(commit);
	return r < 0 ? repo_git_error(err, r, oid) : is;
}

int repo_is_ancestor(struct repo *repo, const char *ancestor, const char *descendant)
{
	git_oid a, d;
	int r;

	if (git_oid_fromstr(&a, ancestor) < 0 || git_oid_fromstr(&d, descendant) < 0)
		return -EINVAL;
	if (git_oid_equal(&a, &d))
		return 1;
	r = git_graph_descendant_of(repo->mirror, &d, &a);
	return r < 0 ? -EIO : r;
}

int repo_merge_base(struct repo *repo, const char *a, const char *b, char **ret_oid)
{
	git_oid one, two, base;
	int r;

	if (git_oid_fromstr(&one, a) < 0 || git_oid_fromstr(&two, b) < 0)
		return -EINVAL;
	r = git_merge_base(&base, repo->mirror, &one, &two);
	if (r < 0)
		return r == GIT_ENOTFOUND ? -ENOENT : -EIO;
	*ret_oid = repo_oid_text(&base);
	return *ret_oid ? 0 : -ENOMEM;
}

int repo_keep(struct repo *repo, const char *oid, struct error *err)
{
	_cleanup_free_ char *name = str_format("refs/keep/%s", oid);
	git_reference *ref = NULL;
	git_oid id;
	int r;

	if (!name)
		return error_errno(err, -ENOMEM, "git");
	r = git_oid_fromstr(&id, oid);
	if (r >= 0)
		r = git_reference_create(&ref, repo->mirror, name, &id, 1, NULL);
	git_reference_free(ref);
	return r < 0 ? repo_git_error(err, r, name) : 0;
}

int repo_each_ref(struct repo *repo, repo_ref_fn fn, void *userdata)
{
	git_reference_iterator *it = NULL;
	git_reference *ref = NULL;
	int r = git_reference_iterator_new(&it, repo->mirror), answer = 0;

	while (r >= 0 && answer >= 0 && (r = git_reference_next(&ref, it)) == 0) {
		char oid[GIT_OID_HEXSZ + 1];

		if (git_reference_target(ref))
			answer = fn(git_reference_name(ref), git_oid_tostr(oid, sizeof(oid), git_reference_target(ref)), userdata);
		git_reference_free(ref);
	}
	git_reference_iterator_free(it);
	if (answer < 0)
		return answer;
	return r == GIT_ITEROVER ? 0 : -EIO;
}

int repo_list_remote(const char *url, repo_ref_fn fn, void *userdata, struct error *err)
{
	git_remote *remote = NULL;
	const git_remote_head **heads;
	size_t n;
	int r = git_ready();

	if (r < 0)
		return error_errno(err, r, "git");
	r = git_remote_create_detached(&remote, url);
	if (r >= 0)
		r = git_remote_connect(remote, GIT_DIRECTION_FETCH, NULL, NULL, NULL);
	if (r >= 0)
		r = git_remote_ls(&heads, &n, remote);
	if (r < 0) {
		(void)repo_git_error(err, r, url);
		git_remote_free(remote);
		return -EIO;
	}
	for (size_t i = 0; i < n && r >= 0; i++) {
		char oid[GIT_OID_HEXSZ + 1];

		r = fn(heads[i]->name, git_oid_tostr(oid, sizeof(oid), &heads[i]->oid), userdata);
	}
	git_remote_free(remote);
	return r;
}
