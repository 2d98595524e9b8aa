// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * seed PATH WHAT: fills a database for the web tests, through db/ as the daemon does.
 *	empty    the schema and nothing else
 *	full     a finding, one of hostile strings, one whose document is no JSON, a running search,
 *two that ended without a culprit advance  the running search of a full one gets a further result
 *and log entry It prints nothing; exit 1 when a step fails.
 */
#include "db/build.h"
#include "db/finding.h"
#include "db/job.h"
#include "db/run.h"
#include "db/search.h"
#include "db/tip.h"
#include "db/word.h"
#include "lib/clock.h"
#include "lib/json.h"

#define OID(c) c c c c c c c c c c c c c c c c c c c c
#define PARENT OID("a1")
#define CULPRIT OID("c3")
#define FIX OID("f5")
#define BAD OID("b2")
#define MIDDLE OID("d4")
#define BROKEN OID("e6")
#define NEXT OID("97")

#define MARKUP                                                                                     \
	"<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
#define RTL                                                                                        \
	"\xe2\x80\xae"                                                                             \
	"evil \xd7\xa2\xd7\x91\xd7\xa8\xd7\x99\xd7\xaa"

/* db/ has structs of char * that it only reads here */
#define T(text) ((char *)(uintptr_t)(text))

static struct db *db;
static uint64_t clock_ns;

/* Every thing a little later than the one before. */
static uint64_t later_ns(void)
{
	return clock_ns += NSEC_PER_MSEC;
}

static const struct series series = {"series-exact", "text",  "x86_64",
				     "thread-stack", "exact", "exact-x86_64"};

#define CHECK(call)                                                                                \
	do {                                                                                       \
		int r_ = (call);                                                                   \
		if (r_ < 0) {                                                                      \
			(void)fprintf(stderr, "seed: %s: %s (%s)\n", #call, strerror(-r_),         \
				      db_error_text(db));                                          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static json_t *metric(double median, double low, double high, int n, const char *unit,
		      const char *class)
{
	return json_pack("{s:i,s:f,s:f,s:f,s:s,s:s,s:s}", "n", n, "median", median, "low", low,
			 "high", high, "unit", unit, "better", "lower", "class", class);
}

static json_t *row(const char *name, const char *label, const char *oid, double call, double sys,
		   int splits)
{
	return json_pack(
		"{s:s,s:s,s:s,s:s,s:s,s:n,s:{s:{s:o,s:o,s:o},s:{s:o,s:o,s:o}}}", "row", name,
		"label", label, "commit", oid, "subject", "subject", "status", "ok", "note",
		"metrics", "exact", "madvise_call", metric(call, call, call, 1, "ns/call", "exact"),
		"thp_deferred_split_page", metric(splits, splits, splits, 1, "events", "exact"),
		"pgmajfault", metric(3, 3, 3, 1, "events", "exact"), "time", "real",
		metric(sys * 0.8, sys * 0.78, sys * 0.85, 5, "s", "time"), "sys",
		metric(sys, sys * 0.95, sys * 1.1, 5, "s", "time"), "thp_fault_alloc",
		metric(splits * 9.0, splits * 9.0 - 3, splits * 9.0 + 4, 5, "events", "count"));
}

static json_t *rows(void)
{
	return json_pack("[o,o,o,{s:s,s:s,s:n,s:s,s:s,s:s,s:{}}]",
			 row("parent", "parent of the culprit", PARENT, 5709, 1.1, 11),
			 row("culprit", "culprit", CULPRIT, 166997, 4.6, 2099),
			 row("fixed", "culprit with the fix", FIX, 152563, 4.5, 2102), "row",
			 "reverted", "label", "tip without the culprit", "commit", "subject", "",
			 "status", "does-not-revert", "note", "conflict in mm/mmap.c", "metrics");
}

static json_t *step(const char *oid, const char *subject, const char *side, double value,
		    const char *note)
{
	return json_pack("{s:s,s:s,s:s,s:o,s:s?}", "commit", oid, "subject", subject, "side", side,
			 "value", value > 0 ? json_real(value) : json_null(), "note", note);
}

/* A document as docs/architecture.md has it; `subject` and `author` are what a stranger wrote. */
static char *document(const char *subject, const char *author, const char *link)
{
	_cleanup_json_ json_t *d =
		json_pack("{s:s,s:s,s:s,s:s,s:[{s:s,s:f}],s:{s:s,s:s},s:s,s:s,s:s,s:s,s:s}", "kind",
			  "bisect", "status", "ok", "verdict", "culprit", "culprit", CULPRIT,
			  "candidates", "commit", CULPRIT, "probability", 1.0, "range", "good",
			  PARENT, "bad", BAD, "tree", "demo", "ref", "refs/heads/master",
			  "workload", "thread-stack", "arch", "x86_64", "metric", "madvise_call");
	_cleanup_json_ json_t *more = json_pack(
		"{s:{s:f,s:f,s:f,s:f,s:f,s:s,s:s},s:s,s:{s:s,s:o,s:o,s:s,s:s,s:[s]},s:{s:s,s:s,s:s,"
		"s:s}}",
		"change", "before", 5709.0, "after", 166997.0, "ratio", 29.25, "low", 29.25, "high",
		29.25, "unit", "ns/call", "class", "exact", "reason",
		"every commit between was measured or skipped", "commit", "oid", CULPRIT, "subject",
		json_bytes(subject), "author", json_bytes(author), "date", "2022-08-09T14:24:57Z",
		"link", link, "parents", PARENT, "fix", "oid", FIX, "subject", "mm: split less",
		"ref", "refs/heads/fixes", "found_by", "Fixes: trailer");
	_cleanup_json_ json_t *rest = json_pack(
		"{s:o,s:[o,o,o,o],s:s,s:s,s:{s:s,s:s},s:s,s:s,s:{s:i,s:i,s:i,s:f}}", "verify",
		rows(), "steps", step(PARENT, "mm: the good one", "good", 5709, NULL),
		step(BAD, "the tip", "bad", 167001, NULL),
		step(BROKEN, "mm: does not compile", "skip", 0,
		     "build-failed: mm/mmap.c:12:3: error: expected ';'"),
		step(CULPRIT, subject[0] == '<' ? "<b>bold</b>" : subject, "bad", 166997, NULL),
		"bisect_log",
		"git bisect start\n# bad: [" BAD "] the tip\ngit bisect bad " BAD "\n", "reproduce",
		"mmbisect bisect --repo . --good " PARENT " --bad " BAD " --workload thread-stack",
		"machines", "exact", "QEMU 7.2, pc, qemu64, 1 vCPU, 512 MiB", "time",
		"QEMU 7.2, q35, max, 2 vCPUs, 1024 MiB", "toolchain",
		"clang 14.0.6, ld.lld 14.0.6, make 4.3", "accelerator",
		"tcg: the probe guest did not boot under kvm in 20 s", "cost", "builds", 9,
		"builds_saved", 3, "boots", 31, "seconds", 412.0);

	if (!d || !more || !rest || json_object_update(d, more) < 0 ||
	    json_object_update(d, rest) < 0)
		exit(1);
	return json_dumps(d, JSON_COMPACT);
}

static int64_t add_search(const char *metric_name, const char *ref)
{
	const struct search question = {.tree = T("demo"),
					.ref = T(ref),
					.good = T(PARENT),
					.bad = T(BAD),
					.workload = T("thread-stack"),
					.arch = T("x86_64"),
					.class = T("exact"),
					.metric = T(metric_name)};
	int64_t id = 0;

	CHECK(db_search_add(db, &question, later_ns(), &id));
	return id;
}

static void add_log(int64_t id, const char *action, const char *oid, const char *reason)
{
	const struct search_entry entry = {.action = T(action), .oid = T(oid), .reason = T(reason)};

	CHECK(db_search_log(db, id, &entry, later_ns()));
}

static void end_search(int64_t id, const char *verdict, const char *culprit, const char *text)
{
	CHECK(db_search_set_verdict(db, id, "verifying", verdict, culprit));
	CHECK(db_search_end(db, id, text, later_ns()));
}

static void add_finding(const char *metric_name, const char *subject, const char *report,
			const char *text)
{
	struct finding f = {.culprit = T(CULPRIT), .patch_id = T("p"), .fix = T(FIX)};
	int64_t id = 0, search = add_search(metric_name, "refs/heads/master");

	f.subject = T(subject);
	f.report = T(report);
	f.search_id = search;
	add_log(search, "measure", PARENT, "both ends of the range first");
	add_log(search, "done", CULPRIT, "one commit is left");
	end_search(search, "culprit", CULPRIT, text);
	CHECK(db_finding_add(db, &f, later_ns(), &id));
	if (search > 1)
		return;
	CHECK(db_mail_add(db,
			  &(struct mail){.finding_id = id,
					 .message_id = T("<1@example.org>"),
					 .sender = T("a@example.org"),
					 .recipients = T("b@example.org"),
					 .message = T("x"),
					 .message_len = 1},
			  later_ns()));
	CHECK(db_mail_sent(db, 1, later_ns()));
}

/* Queues a job and leases it; returns its id. */
static int64_t start_job(int64_t search, const char *kind, const char *class, const char *oid)
{
	_cleanup_(job_list_done) struct job_list queued = {0};
	_cleanup_free_ char *key = str_format("%s %s %lld", kind, oid, (long long)search);
	int64_t id;

	CHECK(db_job_add(db, &(struct job_new){kind, key, class, "{}", oid, search, 1},
			 later_ns()));
	CHECK(db_job_list(db, "queued", &queued));
	id = queued.items[queued.n - 1].id;
	CHECK(db_job_lease(db, id, "seed", later_ns(), later_ns() + 3600 * NSEC_PER_SEC));
	return id;
}

static void measured(int64_t search, const char *oid, double value)
{
	const struct sample sample = {"madvise_call", "ns/call", "lower", "exact", value};
	_cleanup_free_ char *nonce = str_format("nonce-%s", oid);
	int64_t build = start_job(search, "build", "build", oid), run;

	CHECK(db_build_add(db,
			   &(struct build){.job_id = build,
					   .oid = T(oid),
					   .tree_oid = T(oid),
					   .arch = T("x86_64"),
					   .config = T("c"),
					   .toolchain = T("t"),
					   .status = T("ok"),
					   .signature = T(oid),
					   .kernel = T("/k"),
					   .seconds = 12.5},
			   later_ns()));
	CHECK(db_job_end(db, build, "done", NULL, later_ns() + 12 * NSEC_PER_SEC));
	run = start_job(search, "run", "exact", oid);
	CHECK(db_run_add(db,
			 &(struct run_new){.job_id = run,
					   .series = series.hash,
					   .signature = oid,
					   .oid = oid,
					   .status = T("ok"),
					   .nonce = nonce,
					   .seconds = 4.1,
					   .boot_seconds = 2.2,
					   .samples = &sample,
					   .n_samples = 1},
			 later_ns()));
	CHECK(db_job_end(db, run, "done", NULL, later_ns() + 4 * NSEC_PER_SEC));
}

static void broken(int64_t search, const char *oid)
{
	int64_t job = start_job(search, "build", "build", oid);

	CHECK(db_build_add(
		db,
		&(struct build){.job_id = job,
				.oid = T(oid),
				.tree_oid = T(oid),
				.arch = T("x86_64"),
				.config = T("c"),
				.toolchain = T("t"),
				.status = T("build-failed"),
				.error = T("mm/mmap.c:12:3: error: expected ';' <b>here</b>"),
				.seconds = 3.1},
		later_ns()));
	CHECK(db_job_end(db, job, "done", NULL, later_ns()));
}

static void seed_running(void)
{
	const struct search question = {.tree = T("demo"),
					.ref = T("refs/heads/next"),
					.good = T(PARENT),
					.bad = T(NEXT),
					.workload = T("thread-stack"),
					.arch = T("x86_64"),
					.metric = T("madvise_call"),
					.class = T("exact")};
	int64_t id = 0;

	CHECK(db_series_put(db, &series));
	CHECK(db_search_add(db, &question, later_ns(), &id));
	add_log(id, "measure", PARENT, "both ends of the range first");
	measured(id, PARENT, 5709);
	measured(id, NEXT, 166997);
	broken(id, BROKEN);
	add_log(id, "measure", BROKEN, "does not matter: " MARKUP);
	add_log(id, "measure", MIDDLE, "halves what is left: 12 candidates, about 3 steps");
	(void)start_job(id, "build", "build", MIDDLE);
	CHECK(db_job_add(db, &(struct job_new){"run", "waiting", "exact", "{}", MIDDLE, id, 2},
			 later_ns()));
}

static char *repeated(const char *text, size_t n)
{
	_cleanup_str_ struct str s = STR_INIT;

	for (size_t i = 0; i < n; i++)
		(void)str_add(&s, text);
	return str_take(&s);
}

static void seed_hostile(void)
{
	_cleanup_free_ char *kilobytes = repeated("0123456789", 1024);
	_cleanup_free_ char *subject = str_format(MARKUP " Jos\xe9 " RTL " %s", kilobytes);
	_cleanup_free_ char *report =
		str_format("Report </pre>" MARKUP "\n\xff\xfe bytes\n%s\n", kilobytes);
	_cleanup_free_ char *text =
		document(subject, "Jos\xe9 <jose@example.org>", "javascript:alert(1)");

	add_finding("<i>metric</i>", subject, report, text);
}

/* Finding 1 was seen with another metric, too; finding 2 was talked about. */
static void seed_words(const char *text)
{
	const int64_t other = add_search("thp_fault_alloc", "refs/heads/master");

	end_search(other, "culprit", CULPRIT, text);
	CHECK(db_finding_join(db, 1, other));
	CHECK(db_word_add_finding(db, 2,
				  &(struct word){T("known"), T("<b>known</b> \xff " RTL), T("uid 0"),
						 (int64_t)later_ns()}));
	CHECK(db_word_add_finding(db, 2,
				  &(struct word){T("wrong"), T("it was the host"), T("root"),
						 (int64_t)later_ns()}));
}

static void seed_full(void)
{
	_cleanup_free_ char *text =
		document("mm: align larger anonymous mappings on THP boundaries",
			 "Rik van Riel <riel@example.org>", "https://example.org/c/" CULPRIT);

	CHECK(db_ref_seen(db, "demo", "refs/heads/master", BAD, true, later_ns()));
	CHECK(db_ref_seen(db, "demo", "refs/heads/<u>x</u>", CULPRIT, false, later_ns()));
	add_finding("madvise_call", "mm: align larger anonymous mappings on THP boundaries",
		    "thread-stack.madvise_call: 29.3 times as high on x86_64\n\n      parent   "
		    "culprit\n        5709    166997\n",
		    text);
	seed_hostile();
	add_finding("damaged", "its document is no JSON", "the report is there\n",
		    "{\"kind\": \xff");
	end_search(add_search("real", NULL), "not-reproduced", NULL,
		   "{\"kind\":\"bisect\",\"status\":\"ok\",\"verdict\":\"not-reproduced\","
		   "\"culprit\":null,\"candidates\":[],\"verify\":[],"
		   "\"commit\":null,\"fix\":null,\"reason\":\"both ends measure the "
		   "same\",\"steps\":[],\"change\":null}");
	end_search(add_search("user", NULL), "gave-up", NULL, "[1, 2]");
	seed_running();
	seed_words(text);
}

static void seed_advance(void)
{
	_cleanup_(search_list_done) struct search_list open = {0};
	_cleanup_(job_list_done) struct job_list leased = {0};

	CHECK(db_search_list(db, true, &open));
	CHECK(db_job_list(db, "leased", &leased));
	for (size_t i = 0; i < leased.n; i++)
		CHECK(db_job_end(db, leased.items[i].id, "done", NULL, later_ns()));
	CHECK(db_job_cancel_search(db, open.items[0].id, later_ns()));
	measured(open.items[0].id, MIDDLE, 5712);
	add_log(open.items[0].id, "measure", MIDDLE, "5712 is on the good side");
}

static void seed_empty(void)
{
}

static const struct {
	const char *name;
	void (*fn)(void);
} commands[] = {{"empty", seed_empty}, {"full", seed_full}, {"advance", seed_advance}};

int main(int argc, char **argv)
{
	_cleanup_error_ struct error err = ERROR_INIT;

	if (argc != 3)
		return 2;
	clock_ns = now_wall_ns() - NSEC_PER_SEC;
	if (db_open(argv[1], &err, &db) < 0) {
		(void)fprintf(stderr, "seed: %s\n", error_text(&err));
		return 1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].name, argv[2]) == 0)
			commands[i].fn();
	db = db_close(db);
	return 0;
}
