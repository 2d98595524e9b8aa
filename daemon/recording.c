// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/recording.h"

#include "daemon/decision.h"
#include "daemon/judge/layouts.h"
#include "daemon/judge/stats.h"
#include "daemon/names.h"
#include "lib/str.h"

#include <math.h>

#define COMMITS_MAX 100000
#define SAMPLES_MAX 4096
/* What a file may leave out. */
#define FLOOR_EXACT 0.005
#define FLOOR_NOISY 0.02
#define BUILD_SECONDS 60
#define RUN_SECONDS 10
#define SAMPLES_MADE 16

static int wrong(struct error *err, const char *what, const char *id)
{
	return error_set(err, -EINVAL, "recording: %s%s%.40s", what, id ? ": " : "", id ? id : "");
}

static void free_recorded(struct recorded *r)
{
	free(r->samples);
	free(r->layout);
}

void recording_done(struct recording *rec)
{
	for (int i = 0; i < rec->dag.n; i++) {
		if (rec->ids)
			free(rec->ids[i]);
		if (rec->subjects)
			free(rec->subjects[i]);
		if (rec->table)
			free_recorded(&rec->table[i]);
	}
	free(rec->ids);
	free(rec->subjects);
	free(rec->table);
	free(rec->image);
	free(rec->hints);
	free(rec->parent_start);
	free(rec->parents);
	free(rec->metric);
	free(rec->unit);
	*rec = (struct recording){ 0 };
}

static int read_ids(struct recording *rec, const json_t *commits, struct name *names, struct error *err)
{
	for (int i = 0; i < rec->dag.n; i++) {
		const json_t *commit = json_array_get(commits, (size_t)i);
		const char *id = json_get_string(commit, "id");

		if (!id || !*id)
			return wrong(err, "a commit without an id", NULL);
		rec->ids[i] = strdup(id);
		if (!rec->ids[i] || str_set(&rec->subjects[i], json_get_string(commit, "subject")) < 0)
			return error_errno(err, -ENOMEM, "recording");
		names[i] = (struct name){ rec->ids[i], i };
	}
	names_sort(names, (size_t)rec->dag.n);
	for (int i = 1; i < rec->dag.n; i++)
		if (str_eq(names[i].text, names[i - 1].text))
			return wrong(err, "a commit twice", names[i].text);
	return 0;
}

/* null is a parent outside of the range. The parents of the good end are of no interest. */
static int read_parents(struct recording *rec, const json_t *commits, const struct name *names, struct error *err)
{
	size_t capacity = 0;

	for (int i = 0; i < rec->dag.n; i++) {
		const json_t *list = json_object_get(json_array_get(commits, (size_t)i), "parents"), *item;
		size_t k;

		rec->parent_start[i] = rec->n_parents;
		json_array_foreach (list, k, item) {
			int parent = json_is_string(item) ? names_find(names, (size_t)rec->dag.n, json_string_value(item)) :
							    JUDGE_OUTSIDE;

			if (i == 0)
				break;
			if (parent < 0 && !json_is_null(item))
				return wrong(err, "an unknown parent", json_string_value(item));
			if (grow_array(&rec->parents, &capacity, (size_t)rec->n_parents, sizeof(*rec->parents)) < 0)
				return error_errno(err, -ENOMEM, "recording");
			rec->parents[rec->n_parents++] = parent;
		}
	}
	rec->parent_start[rec->dag.n] = rec->n_parents;
	if (!rec->parents)
		rec->parents = calloc(1, sizeof(*rec->parents));
	return rec->parents ? 0 : error_errno(err, -ENOMEM, "recording");
}

/* Commits of equal "image" share the place of the first of them. */
static int read_images(struct recording *rec, const json_t *commits, struct error *err)
{
	_cleanup_free_ struct name *images = calloc((size_t)rec->dag.n, sizeof(*images));
	size_t n = 0;

	if (!images)
		return error_errno(err, -ENOMEM, "recording");
	for (int i = 0; i < rec->dag.n; i++) {
		const char *image = json_get_string(json_array_get(commits, (size_t)i), "image");

		rec->image[i] = i;
		if (image)
			images[n++] = (struct name){ image, i };
	}
	names_group(images, n, rec->image);
	return 0;
}

static bool coprime(size_t a, size_t b)
{
	while (b) {
		size_t rest = a % b;

		a = b;
		b = rest;
	}
	return a == 1;
}

/*
 * Samples of this mean and standard deviation, the same each time: the quantiles of a normal distribution, stretched to have
 * the deviation, in steps of the golden section, so that the first few of them are spread as all are.
 */
static void make_samples(double mean, double sd, size_t n, double *ret)
{
	size_t step = (size_t)lround((double)n * 0.618), at = n / 2;
	double squares = 0;

	while (step > 1 && !coprime(step, n))
		step--;
	for (size_t i = 0; i < n; i++, at = (at + MAX(step, (size_t)1)) % n) {
		ret[i] = n > 1 ? judge_normal_quantile(((double)at + 0.5) / (double)n) : 0;
		squares += ret[i] * ret[i];
	}
	for (size_t i = 0; i < n; i++)
		ret[i] = mean + (n > 1 ? ret[i] * sd / sqrt(squares / (double)(n - 1)) : 0);
}

static int read_distribution(const char *id, const json_t *entry, struct error *err, struct recorded *ret)
{
	double mean = json_get_number(entry, "mean", NAN), sd = json_get_number(entry, "sd", NAN);
	int64_t n = json_get_int(entry, "n", SAMPLES_MADE);

	if (!isfinite(mean) || !isfinite(sd) || sd < 0 || n < 1 || n > SAMPLES_MAX)
		return wrong(err, "neither samples nor mean, sd >= 0 and n of", id);
	ret->samples = calloc((size_t)n, sizeof(*ret->samples));
	if (!ret->samples)
		return error_errno(err, -ENOMEM, "recording");
	ret->n = (size_t)n;
	make_samples(mean, sd, ret->n, ret->samples);
	return 0;
}

static int read_list(const char *id, const json_t *list, struct error *err, struct recorded *ret)
{
	const json_t *item;
	size_t i;

	if (json_array_size(list) < 1 || json_array_size(list) > SAMPLES_MAX)
		return wrong(err, "no samples, or too many, of", id);
	ret->samples = calloc(json_array_size(list), sizeof(*ret->samples));
	if (!ret->samples)
		return error_errno(err, -ENOMEM, "recording");
	json_array_foreach (list, i, item) {
		if (!json_is_number(item))
			return wrong(err, "a sample that is no number of", id);
		ret->samples[ret->n++] = json_number_value(item);
	}
	return 0;
}

/* The layout of each sample, where not all are of the first. */
static int read_layouts(const char *id, const json_t *list, struct error *err, struct recorded *ret)
{
	const json_t *item;
	size_t i;

	if (!list)
		return 0;
	if (json_array_size(list) != ret->n)
		return wrong(err, "not as many layouts as samples of", id);
	ret->layout = calloc(ret->n, sizeof(*ret->layout));
	if (!ret->layout)
		return error_errno(err, -ENOMEM, "recording");
	json_array_foreach (list, i, item) {
		json_int_t layout = json_is_integer(item) ? json_integer_value(item) : -1;

		if (layout < 0 || layout > LAYOUTS_MAX - 1)
			return wrong(err, "a layout that is none of", id);
		ret->layout[i] = (unsigned char)layout;
	}
	return 0;
}

static int read_entry(const char *id, const json_t *entry, struct error *err, struct recorded *ret)
{
	static const struct {
		const char *word;
		enum judge_state state;
	} words[] = { { "skip", JUDGE_SKIPPED }, { "slow", JUDGE_SLOW } };

	int r = 1;

	if (ret->state != JUDGE_UNTESTED)
		return wrong(err, "an image twice in the table", id);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (str_eq(json_string_value(entry), words[i].word)) {
			ret->state = words[i].state;
			return 0;
		}
	ret->state = JUDGE_TESTED;
	if (json_is_array(json_object_get(entry, "samples")))
		r = read_list(id, json_object_get(entry, "samples"), err, ret);
	if (r <= 0)
		return r < 0 ? r : read_layouts(id, json_object_get(entry, "layouts"), err, ret);
	return read_distribution(id, entry, err, ret);
}

static int read_table(struct recording *rec, const json_t *table, const struct name *names, struct error *err)
{
	const char *id;
	const json_t *entry;

	json_object_foreach ((json_t *)(uintptr_t)table, id, entry) {
		int node = names_find(names, (size_t)rec->dag.n, id), r;

		if (node < 0)
			return wrong(err, "the table has an unknown commit", id);
		r = read_entry(id, entry, err, &rec->table[rec->image[node]]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_class(const json_t *document, struct error *err, struct judge_options *opt)
{
	const char *cls = json_get_string(document, "class"), *better = json_get_string(document, "better");

	for (opt->cls = JUDGE_EXACT; opt->cls <= JUDGE_TIME; opt->cls++)
		if (str_eq(cls, decision_class_name(opt->cls)))
			break;
	if (opt->cls > JUDGE_TIME)
		return wrong(err, "class is exact, count or time", NULL);
	if (better && !str_eq(better, "lower") && !str_eq(better, "higher"))
		return wrong(err, "better is lower or higher", NULL);
	opt->better = str_eq(better, "higher") ? JUDGE_HIGHER : JUDGE_LOWER;
	return 0;
}

static int read_options(struct recording *rec, const json_t *document, struct error *err)
{
	struct judge_options *opt = &rec->options;
	int64_t max_runs = json_get_int(document, "max_runs", 0), layouts = json_get_int(document, "layouts", 1);
	int r = read_class(document, err, opt);

	if (r < 0)
		return r;
	opt->floor = json_get_number(document, "floor", opt->cls == JUDGE_EXACT ? FLOOR_EXACT : FLOOR_NOISY);
	opt->claim = json_get_number(document, "claim", 0);
	opt->confidence = json_get_number(document, "confidence", 0);
	opt->run_seconds = json_get_number(document, "run_seconds", RUN_SECONDS);
	opt->first_parent = json_get_bool(document, "first_parent");
	opt->jitter = opt->cls == JUDGE_TIME;
	rec->build_seconds = json_get_number(document, "build_seconds", BUILD_SECONDS);
	if (!(rec->build_seconds >= 0) || max_runs < 0 || max_runs > INT32_MAX)
		return wrong(err, "build_seconds and max_runs are numbers >= 0", NULL);
	if (layouts < 1 || layouts > LAYOUTS_MAX)
		return wrong(err, "layouts is a number from 1 to 8", NULL);
	opt->layouts = (unsigned char)layouts;
	opt->max_runs = (unsigned)max_runs;
	if (str_set(&rec->metric, json_get_string(document, "metric")) < 0 ||
	    str_set(&rec->unit, json_get_string(document, "unit")) < 0)
		return error_errno(err, -ENOMEM, "recording");
	return 0;
}

/* Reverts that messages told of: pairs of ids, the reverted commit first. */
static int read_hints(struct recording *rec, const json_t *list, const struct name *names, struct error *err)
{
	const json_t *pair;
	size_t i;

	rec->hints = calloc(json_array_size(list) + 1, sizeof(*rec->hints));
	if (!rec->hints)
		return error_errno(err, -ENOMEM, "recording");
	json_array_foreach (list, i, pair) {
		const char *ids[2] = { json_string_value(json_array_get(pair, 0)), json_string_value(json_array_get(pair, 1)) };
		int nodes[2] = { -1, -1 };

		for (int k = 0; k < 2 && ids[k]; k++)
			nodes[k] = names_find(names, (size_t)rec->dag.n, ids[k]);
		if (nodes[0] < 0 || nodes[1] < 0)
			return wrong(err, "reverts are pairs of commits", ids[nodes[0] < 0 ? 0 : 1]);
		rec->hints[i] = (struct judge_hint){ nodes[0], nodes[1] };
	}
	rec->options.hints = rec->hints;
	rec->options.n_hints = json_array_size(list);
	return 0;
}

static int make_room(struct recording *rec, size_t n, struct error *err)
{
	rec->dag.n = (int)n;
	rec->ids = calloc(n, sizeof(*rec->ids));
	rec->subjects = calloc(n, sizeof(*rec->subjects));
	rec->image = calloc(n, sizeof(*rec->image));
	rec->table = calloc(n, sizeof(*rec->table));
	rec->parent_start = calloc(n + 1, sizeof(*rec->parent_start));
	if (!rec->ids || !rec->subjects || !rec->image || !rec->table || !rec->parent_start)
		return error_errno(err, -ENOMEM, "recording");
	return 0;
}

int recording_read(const json_t *document, struct error *err, struct recording *ret)
{
	_cleanup_(recording_done) struct recording rec = { 0 };
	const json_t *commits = json_object_get(document, "commits"), *table = json_object_get(document, "table");
	_cleanup_free_ struct name *names = NULL;
	size_t n = json_array_size(commits);
	int r;

	if (n < 2 || n > COMMITS_MAX || !json_is_object(table))
		return wrong(err, "commits (two or more, parents first) and table are needed", NULL);
	names = calloc(n, sizeof(*names));
	r = names ? make_room(&rec, n, err) : error_errno(err, -ENOMEM, "recording");
	if (r >= 0)
		r = read_ids(&rec, commits, names, err);
	if (r >= 0)
		r = read_parents(&rec, commits, names, err);
	if (r >= 0)
		r = read_images(&rec, commits, err);
	if (r >= 0)
		r = read_table(&rec, table, names, err);
	if (r >= 0)
		r = read_options(&rec, document, err);
	if (r >= 0)
		r = read_hints(&rec, json_object_get(document, "reverts"), names, err);
	if (r < 0)
		return r;
	rec.dag.parent_start = rec.parent_start;
	rec.dag.parents = rec.parents;
	if (judge_dag_check(&rec.dag) < 0)
		return wrong(err, "commits are no range: parents first, good is the first, bad the last and descends from it", NULL);
	*ret = rec;
	rec = (struct recording){ 0 };
	return 0;
}
