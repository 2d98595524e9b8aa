// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/hints.h"

#include "lib/str.h"

#define ID_DIGITS_MIN 12

struct hints {
	struct repo *repo;
	const struct graph *graph;
	char **subjects; /* a node each */
	struct judge_hint *items;
	size_t n, capacity;
};

static void hints_done(struct hints *h)
{
	for (int i = 0; h->subjects && i < h->graph->dag.n; i++)
		free(h->subjects[i]);
	free(h->subjects);
	free(h->items);
}

/* The candidate before `node` whose id starts with the digits at `text`; -1: none. */
static int by_id(const struct hints *h, int node, const char *text)
{
	size_t digits = strspn(text, "0123456789abcdef");

	for (int i = node - 1; i > 0 && digits >= ID_DIGITS_MIN; i--)
		if (strncmp(h->graph->oids[i], text, digits) == 0)
			return i;
	return -1;
}

static int by_subject(const struct hints *h, int node, const char *subject)
{
	static const char head[] = "Revert \"";
	size_t len = strlen(subject);

	if (!str_starts(subject, head) || len < sizeof(head) || subject[len - 1] != '"')
		return -1;
	subject += sizeof(head) - 1;
	len = strlen(subject) - 1;
	for (int i = node - 1; i > 0; i--)
		if (h->subjects[i] && strlen(h->subjects[i]) == len && strncmp(h->subjects[i], subject, len) == 0)
			return i;
	return -1;
}

static int look_at(struct hints *h, int node)
{
	static const char phrase[] = "This reverts commit ";
	_cleanup_(commit_done) struct commit c = { 0 };
	const char *at;
	int reverted = -1;

	if (repo_commit(h->repo, h->graph->oids[node], NULL, &c) < 0)
		return 0;
	at = c.message ? strstr(c.message, phrase) : NULL;
	if (at)
		reverted = by_id(h, node, at + sizeof(phrase) - 1);
	if (reverted < 0)
		reverted = by_subject(h, node, c.subject);
	h->subjects[node] = TAKE_PTR(c.subject);
	if (reverted < 0)
		return 0;
	if (grow_array(&h->items, &h->capacity, h->n, sizeof(*h->items)) < 0)
		return -ENOMEM;
	h->items[h->n++] = (struct judge_hint){ reverted, node };
	return 0;
}

int hints_find(struct repo *repo, const struct graph *graph, struct judge_hint **ret, size_t *ret_n)
{
	_cleanup_(hints_done) struct hints h = { .repo = repo, .graph = graph,
						 .subjects = calloc((size_t)graph->dag.n, sizeof(char *)) };
	int r = h.subjects ? 0 : -ENOMEM;

	for (int i = 1; i < graph->dag.n && r >= 0; i++)
		r = look_at(&h, i);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(h.items);
	*ret_n = h.n;
	return 0;
}
