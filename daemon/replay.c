// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/replay.h"

#include "daemon/judge/layouts.h"

#include <string.h>

#define DECISIONS_MAX 100000

/* What was measured so far of an image, in arrays of its own: the observations borrow them. */
struct taken {
	double *values;
	int64_t *order;
	unsigned char *layout;
	size_t n, values_capacity, order_capacity, layout_capacity;
	size_t n_of[LAYOUTS_MAX];
};

struct driver {
	const struct recording *rec;
	struct judge_obs *obs;
	bool *built; /* a node: its image is there */
	struct taken *taken;
	struct judge_mark *marks;
	size_t marks_capacity;
	struct judge_options options;
	struct judge_decision last; /* only what is_news() looks at */
	struct replay count;
	int64_t clock;
};

static void driver_done(struct driver *d)
{
	for (int i = 0; d->taken && i < d->rec->dag.n; i++) {
		free(d->taken[i].values);
		free(d->taken[i].order);
		free(d->taken[i].layout);
	}
	free(d->taken);
	free(d->obs);
	free(d->built);
	free(d->marks);
	(void)judge_memo_free(d->options.memo);
}

static int driver_init(struct driver *d)
{
	size_t n = (size_t)d->rec->dag.n;

	d->obs = calloc(n, sizeof(*d->obs));
	d->built = calloc(n, sizeof(*d->built));
	d->taken = calloc(n, sizeof(*d->taken));
	if (!d->obs || !d->built || !d->taken)
		return -ENOMEM;
	d->options = d->rec->options;
	d->options.slots = 1;
	d->options.memo = judge_memo_new();
	for (size_t i = 0; i < n; i++)
		d->obs[i].build_seconds = d->rec->build_seconds;
	return 0;
}

/* Every commit of the image that was built shows what was measured of it. */
static void show(struct driver *d, int image)
{
	const struct taken *t = &d->taken[image];

	for (int i = 0; i < d->rec->dag.n; i++) {
		struct judge_obs *o = &d->obs[i];

		if (d->rec->image[i] != image || !d->built[i])
			continue;
		*o = (struct judge_obs){ .state = t->n ? JUDGE_TESTED : JUDGE_UNTESTED, .values = t->values, .n_values = t->n,
					 .order = t->order, .layout = t->layout, .image = image + 1 };
		if (d->rec->table[image].state == JUDGE_SKIPPED || d->rec->table[image].state == JUDGE_SLOW)
			o->state = d->rec->table[image].state;
	}
}

static int build(struct driver *d, int node, struct error *err)
{
	if (d->rec->table[d->rec->image[node]].state == JUDGE_UNTESTED)
		return error_set(err, -ENODATA, "the judge asks for %.40s, of which the recording has nothing", d->rec->ids[node]);
	d->built[node] = true;
	d->count.builds++;
	show(d, d->rec->image[node]);
	return 0;
}

/* Sample k of a layout of an image, over again behind the last; of what was never linked so, any sample. */
static double sample_of(const struct recorded *from, unsigned char layout, size_t k)
{
	size_t n = 0;

	for (size_t i = 0; from->layout && i < from->n; i++)
		n += from->layout[i] == layout;
	if (n == 0)
		return from->samples[k % from->n];
	k %= n;
	for (size_t i = 0;; i++)
		if (from->layout[i] == layout && k-- == 0)
			return from->samples[i];
}

static int run(struct driver *d, int image, unsigned char layout)
{
	const struct recorded *from = &d->rec->table[image];
	struct taken *t = &d->taken[image];

	if (grow_array(&t->values, &t->values_capacity, t->n, sizeof(*t->values)) < 0 ||
	    grow_array(&t->order, &t->order_capacity, t->n, sizeof(*t->order)) < 0 ||
	    grow_array(&t->layout, &t->layout_capacity, t->n, sizeof(*t->layout)) < 0)
		return -ENOMEM;
	t->values[t->n] = sample_of(from, layout, t->n_of[layout]++);
	t->layout[t->n] = layout;
	t->order[t->n] = ++d->clock;
	d->count.again += t->n >= from->n;
	d->count.runs++;
	t->n++;
	show(d, image);
	return 0;
}

/* The images of a decision: 1 some were built, 0 all are there. */
static int meet_images(struct driver *d, const struct judge_decision *decision, struct error *err)
{
	unsigned before = d->count.builds;

	for (size_t i = 0; i < decision->n_wants; i++) {
		int node = decision->wants[i].node, r = d->built[node] ? 0 : build(d, node, err);

		if (r < 0)
			return r;
	}
	return d->count.builds != before;
}

static int meet_runs(struct driver *d, const struct judge_decision *decision, struct error *err)
{
	for (size_t i = 0; i < decision->n_wants; i++) {
		int image = d->rec->image[decision->wants[i].node];

		while (d->taken[image].n_of[decision->wants[i].layout] < decision->wants[i].runs)
			if (run(d, image, decision->wants[i].layout) < 0)
				return error_errno(err, -ENOMEM, "replay");
	}
	return 0;
}

/* The same wants for the same reason are no news: an image of them was built in between. */
static bool is_news(struct driver *d, const struct judge_decision *decision)
{
	bool same = d->last.action == decision->action && d->last.n_wants == decision->n_wants &&
		    strcmp(d->last.reason, decision->reason) == 0;

	for (size_t i = 0; same && i < decision->n_wants; i++)
		same = d->last.wants[i].node == decision->wants[i].node && d->last.wants[i].runs == decision->wants[i].runs &&
		       d->last.wants[i].layout == decision->wants[i].layout;
	d->last = *decision;
	d->last.candidates = NULL;
	return !same;
}

static int remember(struct driver *d, const struct judge_mark *mark)
{
	if (grow_array(&d->marks, &d->marks_capacity, d->options.n_marks, sizeof(*d->marks)) < 0)
		return -ENOMEM;
	d->marks[d->options.n_marks++] = *mark;
	d->options.marks = d->marks;
	return 0;
}

/* One decision and what it wants: 1 it was the last, 0 go on. */
static int step(struct driver *d, replay_fn fn, void *userdata, struct error *err)
{
	_cleanup_(judge_decision_done) struct judge_decision decision = { 0 };
	int r = judge_next(&d->rec->dag, d->obs, &d->options, &decision);

	if (r < 0)
		return error_errno(err, r, "judge");
	r = is_news(d, &decision) ? fn(d->rec, &decision, userdata) : 0;
	if (r < 0)
		return error_errno(err, r, "replay");
	if (decision.action == JUDGE_DONE)
		return 1;
	if (decision.has_mark && remember(d, &decision.mark) < 0)
		return error_errno(err, -ENOMEM, "replay");
	r = meet_images(d, &decision, err);
	if (r != 0)
		return r < 0 ? r : 0;
	return meet_runs(d, &decision, err);
}

int replay_run(const struct recording *rec, replay_fn fn, void *userdata, struct error *err, struct replay *ret)
{
	_cleanup_(driver_done) struct driver d = { .rec = rec };
	int r = driver_init(&d);

	if (r < 0)
		return error_errno(err, r, "replay");
	r = 0;
	for (int i = 0; i < DECISIONS_MAX && r == 0; i++)
		r = step(&d, fn, userdata, err);
	*ret = d.count;
	if (r == 0)
		return error_set(err, -ELOOP, "the judge does not come to an end");
	return r < 0 ? r : 0;
}
