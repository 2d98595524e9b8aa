// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/service.h"

#include "lib/conf.h"
#include "lib/str.h"

#define TREE_PREFIX "tree "

#define T(key, parse, field, help) { "tree", key, parse, offsetof(struct tree, field), help }
static const struct conf_item tree_items[] = {
	T("url", conf_parse_string, url, "where it is fetched from: path, file, https, ssh"),
	T("branches", conf_parse_list, branches, "full names of the refs that are watched"),
	T("workloads", conf_parse_list, workloads, "what is measured of each new tip"),
	T("arches", conf_parse_list, arches, "on which architectures"),
	T("poll_seconds", conf_parse_unsigned, poll_seconds, "pause between looks"),
	T("time", conf_parse_bool, time, "compare a new tip in time, too, when exact runs find nothing: yes or no"),
	T("time_pairs", conf_parse_unsigned, time_pairs, "runs of the tip, and of the level before, that this may cost"),
	{ 0 },
};

/* A tree name is a part of a ref name and of log lines. */
static bool is_tree_name(const char *name)
{
	return *name && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == strlen(name);
}

static struct tree *tree_of_section(struct service *s, const char *name)
{
	struct tree *t;

	for (size_t i = 0; i < s->n_trees; i++)
		if (str_eq(s->trees[i].name, name))
			return &s->trees[i];
	if (grow_array(&s->trees, &s->trees_capacity, s->n_trees, sizeof(*s->trees)) < 0)
		return NULL;
	t = &s->trees[s->n_trees];
	*t = (struct tree){ .name = strdup(name), .poll_seconds = 300, .time_pairs = 100 };
	if (!t->name)
		return NULL;
	s->n_trees++;
	return t;
}

static int parse_tree_key(const struct conf_item *item, const char *section, const char *key, const char *value, void *field,
			  struct error *err)
{
	const char *name = section + strlen(TREE_PREFIX);
	struct tree *tree;

	(void)item;
	if (!is_tree_name(name))
		return error_set(err, -EINVAL, "a tree's name has letters, digits, - and _ only: [%s]", section);
	tree = tree_of_section(field, name);
	if (!tree)
		return error_errno(err, -ENOMEM, "tree");
	for (const struct conf_item *i = tree_items; i->section; i++)
		if (str_eq(i->key, key))
			return i->parse(i, section, key, value, (char *)tree + i->offset, err);
	return error_set(err, -EINVAL, "unknown key '%s' in [%s]", key, section);
}

#define D(key, parse, field, help) { "daemon", key, parse, offsetof(struct service, field), help }
#define M(key, parse, field, help) { "mail", key, parse, offsetof(struct service, field), help }
static const struct conf_item service_items[] = {
	D("state", conf_parse_string, state, "folder of the database and all that is built"),
	D("configs", conf_parse_string, configs, "folder of workloads, machines and kernel fragments"),
	D("verify_runs", conf_parse_unsigned, verify_runs, "runs of each row of a proof on machines of class time"),
	D("executors", conf_parse_unsigned, executors, "runs of class time at once: more than 1 only where each has a host for itself"),
	M("server", conf_parse_string, mail_server, "smtp://host:port or smtps://host:port; without it nothing is mailed"),
	M("tls", conf_parse_string, mail_tls, "none, starttls (required then) or smtps"),
	M("user", conf_parse_string, mail_user, "for AUTH"),
	M("password_file", conf_parse_string, mail_password_file, "file with the password in its first line"),
	M("from", conf_parse_string, mail_from, "sender: a@b"),
	M("to", conf_parse_list, mail_to, "addresses"),
	M("cc", conf_parse_list, mail_cc, "addresses"),
	{ TREE_PREFIX "*", "*", parse_tree_key, 0, "a watched tree" },
	{ 0 },
};

void service_done(struct service *s)
{
	char *const fields[] = { s->state, s->configs, s->mail_server, s->mail_tls, s->mail_user, s->mail_password_file,
				 s->mail_from };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		free(fields[i]);
	strv_free(s->mail_to);
	strv_free(s->mail_cc);
	for (size_t i = 0; i < s->n_trees; i++) {
		free(s->trees[i].name);
		free(s->trees[i].url);
		strv_free(s->trees[i].branches);
		strv_free(s->trees[i].workloads);
		strv_free(s->trees[i].arches);
	}
	free(s->trees);
	*s = (struct service){ 0 };
}

static int check_mail(const struct service *s, struct error *err)
{
	if (!s->mail_server)
		return 0;
	if (!s->mail_from || !s->mail_to || !s->mail_to[0])
		return error_set(err, -EINVAL, "[mail] needs from and to");
	if (s->mail_tls && !str_eq(s->mail_tls, "none") && !str_eq(s->mail_tls, "starttls") && !str_eq(s->mail_tls, "smtps"))
		return error_set(err, -EINVAL, "[mail] tls is none, starttls or smtps, not '%s'", s->mail_tls);
	return 0;
}

static bool is_empty(char *const *list)
{
	return !list || !list[0];
}

static int check_trees(const struct service *s, struct error *err)
{
	if (s->n_trees == 0)
		return error_set(err, -EINVAL, "no [tree NAME] section: nothing to watch");
	for (size_t i = 0; i < s->n_trees; i++) {
		const struct tree *t = &s->trees[i];

		if (!t->url || is_empty(t->branches) || is_empty(t->workloads) || is_empty(t->arches))
			return error_set(err, -EINVAL, "[tree %s] needs url, branches, workloads and arches", t->name);
		for (size_t k = 0; t->branches[k]; k++)
			if (!str_starts(t->branches[k], "refs/heads/"))
				return error_set(err, -EINVAL, "[tree %s] branches are full names (refs/heads/...), not '%s'",
						 t->name, t->branches[k]);
		if (t->poll_seconds == 0)
			return error_set(err, -EINVAL, "[tree %s] poll_seconds is at least 1", t->name);
		if (t->time_pairs < 5 || t->time_pairs > 2000)
			return error_set(err, -EINVAL, "[tree %s] time_pairs is a number from 5 to 2000", t->name);
	}
	return 0;
}

int service_load(const char *path, struct error *err, struct service *ret)
{
	_cleanup_(service_done) struct service s = { .verify_runs = 5 };
	int r = conf_load(path, service_items, &s, err);

	if (r < 0)
		return r;
	r = check_mail(&s, err);
	if (r >= 0)
		r = check_trees(&s, err);
	if (r < 0) {
		(void)error_prefix(err, "%s", path);
		return r;
	}
	*ret = s;
	s = (struct service){ 0 };
	return 0;
}

const struct tree *service_tree(const struct service *s, const char *name)
{
	for (size_t i = 0; i < s->n_trees; i++)
		if (str_eq(s->trees[i].name, name))
			return &s->trees[i];
	return NULL;
}
