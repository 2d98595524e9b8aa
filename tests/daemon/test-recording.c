// SPDX-License-Identifier: GPL-2.0-or-later
/* Recorded searches: what may be written, what is made of a mean and a deviation, and the judge on paper. */
#include "tap.h"

#include "daemon/recording.h"
#include "daemon/replay.h"
#include "lib/str.h"

static json_t *load(const char *text)
{
	json_error_t error;
	json_t *j = json_loads(text, 0, &error);

	if (!j) {
		printf("Bail out! test recording: %d:%d %s\n", error.line, error.column, error.text);
		exit(1);
	}
	return j;
}

#define ONE "{\"id\":\"a\"}"
#define STRAND ONE ",{\"id\":\"b\",\"parents\":[\"a\"]},{\"id\":\"c\",\"parents\":[\"b\"]},{\"id\":\"d\",\"parents\":[\"c\"]}"
#define OF(commits, table, more) "{\"class\":\"exact\",\"commits\":[" commits "],\"table\":{" table "}" more "}"
#define VALUES(v) "{\"samples\":[" v "]}"

static void test_wrong(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "[]", "commits (two or more, parents first) and table are needed" },
		{ "{\"class\":\"exact\",\"commits\":[" STRAND "]}", "table are needed" },
		{ OF(ONE, "", ""), "commits (two or more" },
		{ OF(ONE ",{}", "", ""), "a commit without an id" },
		{ OF(ONE "," ONE, "", ""), "a commit twice: a" },
		{ OF(ONE ",{\"id\":\"b\",\"parents\":[\"x\"]}", "", ""), "an unknown parent: x" },
		{ OF(ONE ",{\"id\":\"b\",\"parents\":[7]}", "", ""), "an unknown parent" },
		{ OF(ONE ",{\"id\":\"b\",\"parents\":[\"c\"]},{\"id\":\"c\",\"parents\":[\"a\"]}", "", ""), "commits are no range" },
		{ OF(STRAND, "\"x\":\"skip\"", ""), "the table has an unknown commit: x" },
		{ OF(STRAND, "\"a\":\"jump\"", ""), "neither samples nor mean, sd >= 0 and n of: a" },
		{ OF(STRAND, "\"a\":{\"mean\":1}", ""), "neither samples nor mean" },
		{ OF(STRAND, "\"a\":{\"mean\":1,\"sd\":-1}", ""), "neither samples nor mean" },
		{ OF(STRAND, "\"a\":{\"mean\":1,\"sd\":1,\"n\":0}", ""), "neither samples nor mean" },
		{ OF(STRAND, "\"a\":{\"mean\":1,\"sd\":1,\"n\":99999999}", ""), "neither samples nor mean" },
		{ OF(STRAND, "\"a\":" VALUES(""), ""), "no samples, or too many, of: a" },
		{ OF(STRAND, "\"a\":" VALUES("1,\"2\""), ""), "a sample that is no number of: a" },
		{ OF(ONE ",{\"id\":\"b\",\"parents\":[\"a\"],\"image\":\"i\"},{\"id\":\"c\",\"parents\":[\"b\"],\"image\":\"i\"}",
		     "\"b\":\"skip\",\"c\":\"skip\"", ""), "an image twice in the table" },
		{ "{\"commits\":[" STRAND "],\"table\":{}}", "class is exact, count or time" },
		{ OF(STRAND, "", ",\"better\":\"worse\""), "better is lower or higher" },
		{ OF(STRAND, "", ",\"max_runs\":-1"), "are numbers >= 0" },
		{ OF(STRAND, "", ",\"reverts\":[[\"b\",\"x\"]]"), "reverts are pairs of commits: x" },
		{ OF(STRAND, "", ",\"reverts\":[[\"b\"]]"), "reverts are pairs of commits" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_json_ json_t *document = load(cases[i].text);
		_cleanup_error_ struct error err = ERROR_INIT;
		struct recording rec = { 0 };

		is_int(recording_read(document, &err, &rec), -EINVAL, "wrong: %s", cases[i].says);
		ok(strstr(error_text(&err), cases[i].says), "... in words: %s", error_text(&err));
	}
}

static void test_samples(void)
{
	_cleanup_json_ json_t *document =
		load(OF(STRAND, "\"a\":{\"mean\":10,\"sd\":2,\"n\":32},\"b\":{\"mean\":5,\"sd\":1,\"n\":1},\"c\":{\"mean\":1,\"sd\":0}", ""));
	_cleanup_(recording_done) struct recording rec = { 0 };
	double sum = 0, squares = 0, first = 0;
	const double *v;

	is_int(recording_read(document, NULL, &rec), 0, "means and deviations");
	v = rec.table[0].samples;
	is_int(rec.table[0].n, 32, "as many samples as were asked for");
	for (int i = 0; i < 32; i++)
		sum += v[i];
	for (int i = 0; i < 32; i++)
		squares += (v[i] - 10) * (v[i] - 10);
	for (int i = 0; i < 8; i++)
		first += v[i] / 8;
	is_near(sum / 32, 10, 1e-9, "of that mean");
	is_near(sqrt(squares / 31), 2, 1e-9, "of that deviation");
	is_near(first, 10, 0.5, "the first few alone as well");
	for (int i = 1; i < 32; i++)
		for (int k = 0; k < i; k++)
			if (fabs(v[i] - v[k]) < 1e-9)
				ok(false, "%d and %d are the same", i, k);
	is_near(rec.table[1].samples[0], 5, 0, "one sample is the mean");
	ok(rec.table[2].n > 1 && fabs(rec.table[2].samples[0] - 1) < 1e-12, "no deviation, no number: some samples that are equal");
	ok(rec.table[3].state == JUDGE_UNTESTED, "what the table does not have");
}

struct heard {
	unsigned decisions;
	enum judge_verdict verdict;
	int culprit;
	size_t n_candidates, n_changes;
};

static int hear(const struct recording *rec, const struct judge_decision *d, void *userdata)
{
	struct heard *h = userdata;

	(void)rec;
	h->decisions++;
	h->verdict = d->verdict;
	h->culprit = d->action == JUDGE_DONE ? d->culprit : -1;
	h->n_candidates = d->n_candidates;
	h->n_changes = d->n_changes;
	return 0;
}

static int play(const char *text, struct heard *heard, struct replay *count, struct error *err)
{
	_cleanup_json_ json_t *document = load(text);
	_cleanup_(recording_done) struct recording rec = { 0 };
	int r = recording_read(document, err, &rec);

	*heard = (struct heard){ .culprit = -1 };
	return r < 0 ? r : replay_run(&rec, hear, heard, err, count);
}

static int stop(const struct recording *rec, const struct judge_decision *d, void *userdata)
{
	(void)rec;
	(void)d;
	(void)userdata;
	return -EIO;
}

static void test_replay(void)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_json_ json_t *document = load(OF(STRAND, "\"a\":" VALUES("1") ",\"d\":" VALUES("2"), ""));
	_cleanup_(recording_done) struct recording rec = { 0 };
	struct replay count = { 0 };
	struct heard heard;

	is_int(play(OF(STRAND, "\"a\":" VALUES("1") ",\"b\":" VALUES("1") ",\"c\":" VALUES("2") ",\"d\":" VALUES("2"), ""), &heard,
		    &count, &err), 0, "a plain search: %s", error_text(&err));
	ok(heard.verdict == JUDGE_CULPRIT && heard.culprit == 2, "has its culprit");
	ok(count.builds == 4 && count.runs == 4 && count.again == 0, "of four images, a run each");
	is_int(play(OF(STRAND, "\"a\":" VALUES("1") ",\"b\":\"skip\",\"c\":" VALUES("2") ",\"d\":" VALUES("2"), ""), &heard, &count, NULL), 0,
	       "a commit that does not build");
	ok(heard.verdict == JUDGE_SET && heard.n_candidates == 2, "leaves two");
	is_int(play(OF(STRAND, "\"a\":" VALUES("1") ",\"b\":" VALUES("1") ",\"c\":\"slow\",\"d\":\"slow\"", ""), &heard, &count, NULL), 0,
	       "one that overruns its limit");
	ok(heard.verdict == JUDGE_CULPRIT && heard.culprit == 2, "is bad");
	is_int(play(OF(STRAND, "\"a\":" VALUES("1") ",\"d\":" VALUES("2"), ""), &heard, &count, &err), -ENODATA,
	       "a commit that was not recorded: %s", error_text(&err));
	ok(strstr(error_text(&err), "of which the recording has nothing"), "... in words");
	ok(heard.decisions == 2, "what was decided until then was told");
	is_int(play(OF(ONE ",{\"id\":\"b\",\"parents\":[\"a\",null],\"image\":\"i\"},{\"id\":\"c\",\"parents\":[\"b\"],\"image\":\"i\"},"
			   "{\"id\":\"d\",\"parents\":[\"c\"],\"image\":\"j\"}",
		       "\"a\":" VALUES("1") ",\"b\":" VALUES("1") ",\"d\":" VALUES("2"), ""), &heard, &count, NULL), 0, "commits of one image");
	ok(heard.verdict == JUDGE_CULPRIT && heard.culprit == 3, "share its samples");
	is_int(play(OF(STRAND, "\"a\":" VALUES("1") ",\"b\":" VALUES("9") ",\"c\":" VALUES("1") ",\"d\":" VALUES("2"),
		       ",\"reverts\":[[\"b\",\"c\"]]"), &heard, &count, NULL), 0, "a recording that tells of a revert");
	ok(heard.culprit == 3 && heard.n_changes == 3 && count.builds == 4, "in which the reverted commit is looked at");
	is_int(recording_read(document, NULL, &rec), 0, "a recording");
	is_int(replay_run(&rec, stop, NULL, NULL, &count), -EIO, "a listener may stop it");
}

static void test_noisy(void)
{
	static const char table[] = "\"a\":{\"mean\":100,\"sd\":5,\"n\":64},\"b\":{\"mean\":100,\"sd\":5,\"n\":64},"
				    "\"c\":{\"mean\":120,\"sd\":5,\"n\":64},\"d\":{\"mean\":120,\"sd\":5,\"n\":64}";
	_cleanup_free_ char *text = str_format("{\"class\":\"time\",\"commits\":[" STRAND "],\"table\":{%s}}", table);
	_cleanup_error_ struct error err = ERROR_INIT;
	struct replay one = { 0 }, two = { 0 };
	struct heard heard, again;

	is_int(play(text, &heard, &one, &err), 0, "a noisy search: %s", error_text(&err));
	ok(heard.verdict == JUDGE_CULPRIT && heard.culprit == 2, "has its culprit");
	ok(one.runs > 4, "of more than a run each: %u", one.runs);
	is_int(play(text, &again, &two, NULL), 0, "once more");
	ok(again.decisions == heard.decisions && two.runs == one.runs, "is the same");
}

int main(void)
{
	test_wrong();
	test_samples();
	test_replay();
	test_noisy();
	return done_testing();
}
