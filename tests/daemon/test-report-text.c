// SPDX-License-Identifier: GPL-2.0-or-later
/* The table and the whole text: of a real finding, of other answers, and of a document that a stranger filled. */
#include "tap.h"

#include "daemon/report/lines.h"
#include "daemon/report/mail.h"
#include "daemon/report/table.h"
#include "daemon/report/text.h"
#include "test-report-document.h"

static char *text_of(const json_t *document)
{
	struct str s = STR_INIT;

	if (report_text(document, &s) < 0) {
		str_done(&s);
		return strdup("(failed)");
	}
	return str_take(&s);
}

static size_t widest_line(const char *text)
{
	size_t max = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");
		_cleanup_free_ char *line = strndup(text, len);

		max = MAX(max, report_width(line));
		text += len;
		text += *text == '\n';
	}
	return max;
}

static size_t longest_line(const char *text)
{
	size_t max = 0;

	for (size_t len; *text; text += text[len] ? len + 1 : len) {
		len = strcspn(text, "\n");
		max = MAX(max, len);
	}
	return max;
}

/* The name of a check has to be one line. */
static void look_for(const char *text, const char *part, bool wanted)
{
	_cleanup_free_ char *name = report_line(part);

	if (!ok(!!strstr(text, part) == wanted, "%s: %.60s", wanted ? "has" : "has not", name))
		printf("# in a text of %zu octets\n", strlen(text));
}

static void has(const char *text, const char *part)
{
	look_for(text, part, true);
}

static void hasnt(const char *text, const char *part)
{
	look_for(text, part, false);
}

static void test_table_exactly(void)
{
	_cleanup_json_ json_t *rows = load(
		"[" ROW("a", "before", OID_PARENT, "\"cost\":" EXACT1("ns", "1000"), "\"sys\":" TIME5("1,1,1.1,1.2,1.3")) ","
		ROW("b", "after", OID_CULPRIT, "\"cost\":" EXACT1("ns", "20000") ",\"splits\":" EXACT1("events", "3"), "") ","
		"{\"row\":\"c\",\"label\":\"third\",\"commit\":null,\"status\":\"build-failed\",\"note\":\"mm/x.c:1: error\"}]");
	_cleanup_str_ struct str s = STR_INIT;

	is_int(report_table(rows, "cost", &s), 0, "a small table");
	is_str(s.data,
	       "                                   sys        cost\n"
	       "                                     s          ns\n"
	       "                             time, n=5  exact, n=1\n"
	       "  A  7b5a0b664e26  before  1.10 +-0.15       1 000\n"
	       "  B  f35b5d7d676e  after             -      20 000\n"
	       "  C  third                           -           -\n"
	       "  C: build-failed: mm/x.c:1: error\n"
	       "  (median +- half of highest - lowest; exact: the same in every run)\n",
	       "... to the last blank");
}

static void test_finding(void)
{
	_cleanup_json_ json_t *document = load(DEMO_DOCUMENT);
	_cleanup_free_ char *text = text_of(document);
	_cleanup_str_ struct str subject = STR_INIT;

	has(text, "mmbisect noticed that the workload thread-stack got worse on x86_64:\n"
		  "madvise_call went from 5 709 to 166 997 ns/call, 29.3 times as much, lower is\nbetter.");
	has(text, "  A  7b5a0b664e26  parent of the culprit      1.70 +-0.10  0.210 +-0.020  1.10 +-0.09         5 709\n");
	has(text, "  B  f35b5d7d676e  culprit                    3.70 +-0.25  0.220 +-0.015  4.82 +-0.50       166 997\n");
	has(text, "time, n=5    exact, n=1\n");
	has(text, "  reproduced  B is worse than A\n");
	has(text, "C is better than B,\n              worse than A\n");
	has(text, "  revert      D is better than B, as A\n");
	has(text, "  sys: 4.82 -> 4.70 s: between 12.4 % lower and 10.9 % higher: no difference\n    shown");
	has(text, "  thp_split_page           events  count, n=5  0 +-0  99 +-6   new  99 +-6  0 +-0\n");
	has(text, "Remark: thp_fault_alloc (11 -> 1 210): did the workload do the same work");
	has(text, "\ngit bisect good 89abcdef0123456789abcdef0123456789abcdef\n");
	has(text, "build-failed: mm/mmap.c:12:3: error");
	has(text, "written by a machine");
	has(text, "  Reported-by: mmbisect\n  Fixes: f35b5d7d676e (\"mm: align larger anonymous mappings on THP boundaries\")\n");
	hasnt(text, "pgmajfault");
	hasnt(text, "regression");
	ok(strstr(text, "parent of the culprit") < strstr(text, "B against A"), "the table comes before the words");
	ok(widest_line(text) <= 110, "no wide lines but the command: %zu", widest_line(text));
	is_int(report_subject(document, &subject), 0, "a subject");
	is_str(subject.data, "[mmbisect] thread-stack madvise_call: 29.3 times as much since f35b5d7d676e (\"mm: align larger "
			     "anonymous mappings on THP boundaries\")", "... says it all");
}

static void test_wide_table(void)
{
	_cleanup_json_ json_t *rows = json_array(), *one = load(DEMO_ROWS);
	_cleanup_str_ struct str s = STR_INIT;

	for (size_t i = 0; i < 12; i++) {
		json_t *row = json_deep_copy(json_array_get(one, i % 4));

		(void)json_object_set_new(row, "row", json_sprintf("r%zu", i));
		(void)json_object_set_new(row, "label", json_string("\xe4\xb8\xad\xe6\x96\x87 Jos\xc3\xa9 and a label that is far too long for any table of this width"));
		(void)json_array_append_new(rows, row);
	}
	is_int(report_table(rows, "madvise_call", &s), 0, "a table of twelve rows");
	ok(widest_line(s.data) <= 100, "no line is wider than 100 columns: %zu", widest_line(s.data));
	has(s.data, "L/A");
	has(s.data, "166 997");
}

static void test_other_answers(void)
{
	_cleanup_json_ json_t *none = load("{\"kind\":\"bisect\",\"status\":\"ok\",\"verdict\":\"not-reproduced\",\"culprit\":null,"
		"\"candidates\":[],\"range\":{\"good\":\"" OID_GOOD "\",\"bad\":\"" OID_BAD "\"},\"workload\":\"w\",\"arch\":\"arm64\","
		"\"metric\":\"sys\",\"reason\":\"good and bad measure the same\"}");
	_cleanup_json_ json_t *gave_up = load("{\"kind\":\"bisect\",\"status\":\"ok\",\"verdict\":\"gave-up\",\"reason\":\"bad does not build\"}");
	_cleanup_json_ json_t *set = load("{\"kind\":\"bisect\",\"verdict\":\"set\",\"culprit\":null,\"metric\":\"m\",\"workload\":\"w\","
		"\"candidates\":[{\"commit\":\"" OID_PARENT "\",\"probability\":0.5},{\"commit\":\"" OID_CULPRIT "\",\"probability\":0.5}],"
		"\"steps\":[{\"commit\":\"" OID_PARENT "\",\"subject\":\"mm: first\",\"side\":\"skip\"}]}");
	_cleanup_json_ json_t *run = load("{\"kind\":\"run\",\"workload\":\"w\",\"metric\":\"cost\",\"rows\":["
		ROW("1", "one", OID_PARENT, "\"cost\":" EXACT1("ns", "1000"), "") "]}");
	_cleanup_json_ json_t *named = load("{\"kind\":\"compare\",\"metric\":\"cost\",\"rows\":["
		ROW("parent", "parent", OID_PARENT, "\"cost\":" EXACT1("ns", "10"), "") ","
		ROW("topic", "topic", OID_BAD, "\"cost\":" EXACT1("ns", "30"), "") "]}");
	_cleanup_json_ json_t *strange = load("{\"verdict\":3,\"verify\":{\"a\":1},\"steps\":\"x\",\"change\":[],\"rows\":[1,null,{\"metrics\":[]}],"
		"\"candidates\":{},\"machines\":7}");
	_cleanup_json_ json_t *empty = load("{}");
	_cleanup_free_ char *a = text_of(none), *b = text_of(gave_up), *c = text_of(set), *d = text_of(run), *e = text_of(strange),
			     *f = text_of(empty), *g = text_of(NULL), *i = text_of(named);

	has(a, "no change for the worse");
	has(a, "Reason: good");
	hasnt(a, "Reported-by");
	has(b, "Reason: bad does not build\n");
	has(c, "cannot tell which of them");
	has(c, "  7b5a0b664e26  50 %  mm: first\n");
	has(d, "1 000");
	hasnt(d, "against");
	has(i, "  cost: 10 -> 30 ns: 3.00 times as much, lower is better: worse"); /* a branch named "parent" */
	ok(!str_eq(e, "(failed)") && !str_eq(f, "(failed)") && !str_eq(g, "(failed)"), "members of wrong types do not fail");
}

/* What else has changed: a recovered commit, a set, and not the main one. */
static void test_changes(void)
{
	_cleanup_json_ json_t *several = load("{\"kind\":\"bisect\",\"verdict\":\"culprit\",\"culprit\":\"" OID_CULPRIT "\",\"metric\":\"m\","
		"\"changes\":[{\"commit\":\"" OID_CULPRIT "\",\"subject\":\"mm: the main one\",\"kind\":\"regression\",\"main\":true},"
		"{\"commit\":\"" OID_PARENT "\",\"subject\":\"mm: \\u001bfirst\",\"kind\":\"recovered\",\"recovered_by\":\"" OID_BAD "\","
		"\"before\":1000,\"after\":1500,\"main\":false},"
		"{\"commit\":null,\"first_bad\":\"" OID_BAD "\",\"kind\":\"improvement\",\"candidates\":[{\"commit\":\"" OID_GOOD "\","
		"\"subject\":\"mm: one\"},{\"commit\":\"" OID_BAD "\",\"subject\":\"mm: two\"}]},7]}");
	_cleanup_json_ json_t *one = load("{\"kind\":\"bisect\",\"verdict\":\"culprit\",\"culprit\":\"" OID_CULPRIT "\",\"metric\":\"m\","
		"\"changes\":[{\"commit\":\"" OID_CULPRIT "\",\"subject\":\"mm: the main one\",\"kind\":\"regression\",\"main\":true}]}");
	_cleanup_free_ char *a = text_of(several), *b = text_of(one);

	has(a, "Other changes in this range, oldest first:\n");
	has(a, "first\n    recovered by ");
	has(a, ": 1 000 to 1 500, ");
	has(a, "  one of these, the last one is ");
	has(a, "  mm: two\n    improvement\n");
	hasnt(a, "the main one");
	hasnt(a, "\x1b");
	hasnt(b, "Other changes");
}

#define NOISY(verdict, more) \
	"{\"kind\":\"bisect\",\"status\":\"ok\",\"verdict\":\"" verdict "\",\"culprit\":\"" OID_CULPRIT "\",\"range\":{\"good\":\"" OID_GOOD \
	"\",\"bad\":\"" OID_BAD "\"},\"workload\":\"w\",\"arch\":\"arm64\",\"metric\":\"sys\",\"reason\":\"why\"," more "}"
#define CHANGE(relation, n) \
	"\"change\":{\"before\":1.0,\"after\":1.2,\"unit\":\"s\",\"relation\":\"" relation "\",\"n_before\":" n ",\"n_after\":" n "}"

/* What a search among noisy runs has to say beside its verdict. */
static void test_noisy_answers(void)
{
	_cleanup_json_ json_t *culprit = load(NOISY("culprit", CHANGE("worse", "12") ",\"effect\":2.5,"
		"\"explained\":{\"value\":0.63,\"low\":0.5,\"high\":0.76},\"partial\":{\"good\":\"" OID_CULPRIT "\",\"bad\":\"" OID_BAD "\"},"
		"\"steps\":[{\"commit\":\"" OID_PARENT "\",\"subject\":\"mm: first\",\"side\":\"good\",\"value\":1.01,\"n\":12},"
		"{\"commit\":\"" OID_FIX "\",\"subject\":\"mm: second\",\"side\":\"unknown\",\"value\":1.1,\"n\":3}]"));
	_cleanup_json_ json_t *opposite = load(NOISY("not-reproduced", CHANGE("improved", "12")));
	_cleanup_json_ json_t *noisy = load(NOISY("gave-up", CHANGE("unclear", "250") ",\"phase\":\"anchors\",\"runs_needed\":2400"));
	_cleanup_json_ json_t *budget = load(NOISY("gave-up", CHANGE("worse", "40") ",\"phase\":\"search\",\"runs_needed\":20,"
		"\"candidates\":[{\"commit\":\"" OID_CULPRIT "\",\"subject\":\"mm: third\",\"probability\":0.7},"
		"{\"commit\":\"" OID_FIX "\",\"probability\":0.3}]"));
	_cleanup_json_ json_t *odd = load(NOISY("culprit", "\"effect\":\"x\",\"explained\":[],\"partial\":7,\"runs_needed\":{}"));
	_cleanup_free_ char *a = text_of(culprit), *b = text_of(opposite), *c = text_of(noisy), *d = text_of(budget), *e = text_of(odd);

	has(a, "The change is 2.50 times as large as the spread");
	has(a, "This commit makes 63 % of the");
	has(a, "The rest has another cause");
	has(a, "Steps of the bisection (medians of n runs):\n");
	has(a, "  7b5a0b664e26  good          1.01  n=12   mm: first\n");
	has(a, "  42b2af2c9b7e  ?             1.10  n=3    mm: second\n");
	has(b, "measured the opposite of what was asked for");
	hasnt(b, "noisy");
	has(c, "It is too noisy: each end had 250 runs, and about 2 400 are needed");
	has(d, "The likeliest commits until then:\n  f35b5d7d676e  70 %  mm: third\n");
	hasnt(d, "too noisy");
	ok(!str_eq(e, "(failed)"), "members of wrong types do not fail");
	hasnt(e, "makes");
}

/* Fills every string of a document with what a stranger would like to be there. */
static void poison(json_t *value, const char *text)
{
	const char *key;
	json_t *member;
	size_t i;

	json_object_foreach(value, key, member)
		if (json_is_string(member) && !str_eq(key, "row") && !str_eq(key, "class") && !str_eq(key, "verdict"))
			(void)json_object_set_new(value, key, json_string(text));
		else
			poison(member, text);
	json_array_foreach(value, i, member)
		poison(member, text);
}

static void test_strangers(void)
{
	static const char evil[] = "x\r\nBcc: victim@example.org\r\n\r\n.\r\n%s%n\x1b[2J\x07\xe2\x80\xae<b>\xc2\x9b";
	_cleanup_json_ json_t *document = load(DEMO_DOCUMENT), *longer = load(DEMO_DOCUMENT);
	_cleanup_free_ char *text = NULL, *bytes = malloc(100001), *long_text = NULL;
	_cleanup_str_ struct str subject = STR_INIT, mail = STR_INIT;
	const char *const to[] = { "a@b", NULL };
	struct mail_headers h = { .from = "a@b", .to = to, .message_id = "<a@b.c>" };

	poison(document, evil);
	text = text_of(document);
	hasnt(text, "\r");
	hasnt(text, "\x1b");
	hasnt(text, "\xe2\x80\xae");
	hasnt(text, "\n.\n\n");
	has(text, "x Bcc: victim@example.org");
	is_int(report_subject(document, &subject), 0, "a subject of strangers");
	h.subject = subject.data;
	is_int(mail_compose(&h, text, NULL, &mail), 0, "... in a mail");
	hasnt(subject.data, "\n");
	ok(strstr(mail.data, "\r\n\r\n") && !(strstr(mail.data, "\r\nBcc:") && strstr(mail.data, "\r\nBcc:") < strstr(mail.data, "\r\n\r\n")),
	   "no header of theirs");
	for (size_t i = 0; i < 100000; i++)
		bytes[i] = i % 2 ? '\x81' : '\xcc'; /* combining: no width at all */
	bytes[100000] = '\0';
	poison(longer, bytes);
	long_text = text_of(longer);
	ok(longest_line(long_text) <= 998, "no line over 998 octets: %zu", longest_line(long_text));
}

int main(void)
{
	test_table_exactly();
	test_finding();
	test_wide_table();
	test_other_answers();
	test_noisy_answers();
	test_changes();
	test_strangers();
	return done_testing();
}
