// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/progress.h"

#include "daemon/session.h"
#include "db/job.h"
#include "lib/clock.h"
#include "lib/log.h"

/* Rows of a proof: what still lies ahead of a search that has not come so far. */
#define PROOF_ROWS 4
/* Runs of a commit, where noise is weighed, until there are some to count. */
#define NOISY_RUNS 5

static double typical(struct engine *e, const char *class, bool *known)
{
	double seconds;

	if (db_job_typical_seconds(e->db, class, &seconds) >= 0)
		return seconds;
	*known = false;
	return 0;
}

static double running_left(struct engine *e, const struct running *run, bool *known)
{
	double gone = (double)(now_mono_ns() - run->started_ns) / 1e9;
	bool by_class = true;
	double whole = typical(e, run->class, &by_class);

	/* A phase's own count tells more than the past where there is no past, but not from its first few steps. */
	if (!by_class && run->total > 0 && run->done * 20 >= run->total)
		whole = gone * (double)run->total / (double)run->done;
	else if (!by_class)
		*known = false;
	return whole > gone ? whole - gone : 0;
}

static double queued_left(struct engine *e, bool *known)
{
	_cleanup_(job_list_done) struct job_list jobs = { 0 };
	double seconds = 0;

	if (db_job_list(e->db, "queued", &jobs) < 0)
		return 0;
	for (size_t i = 0; i < jobs.n; i++)
		seconds += typical(e, jobs.items[i].class, known);
	return seconds;
}

/* One commit more: its build, and as many runs as the others had. */
static double step_seconds(struct engine *e, const struct session_estimate *s, bool *known)
{
	double runs = s->commits >= 3 ? (double)s->runs / (double)s->commits : NOISY_RUNS;

	if (!s->noisy)
		return typical(e, "build", known) + typical(e, "exact", known);
	return typical(e, "build", known) + runs * typical(e, "time", known);
}

/* Steps that are not queued yet, and the proof behind them. */
static double search_left(struct engine *e, const struct session_estimate *s, bool *known)
{
	double step, proof;

	if (s->verifying)
		return 0;
	step = step_seconds(e, s, known);
	proof = s->noisy ? 0 : 2 * step;
	if (e->settings.verify_runs) {
		bool time_known = true;

		proof += PROOF_ROWS * e->settings.verify_runs * typical(e, "time", &time_known);
	}
	return (s->steps_left ? s->steps_left - 1 : 0) * step + proof;
}

static void add_running(const struct running *run, struct str *out)
{
	(void)str_addf(out, "%s %.12s", run->kind, run->oid);
	if (*run->subject)
		(void)str_addf(out, " (%.40s)", run->subject);
	if (*run->phase)
		(void)str_addf(out, " %s", run->phase);
	if (run->total > 0)
		(void)str_addf(out, " %lld/%lld", (long long)run->done, (long long)run->total);
	else if (run->done > 0)
		(void)str_addf(out, " %lld", (long long)run->done);
}

static void add_search(const struct session_estimate *s, struct str *out)
{
	static const struct {
		const char *phase, *text;
	} phases[] = { { "anchors", "ends" }, { "search", "search" }, { "confirm", "confirming" }, { "explain", "its share" } };
	const char *text = "search";

	if (s->verifying) {
		(void)str_add(out, "proof: ");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(phases) && s->noisy; i++)
		if (str_eq(phases[i].phase, s->phase))
			text = phases[i].text;
	(void)str_addf(out, "%s: ", text);
	if (s->noisy)
		(void)str_addf(out, "%zu runs of %zu commits so far, ", s->runs, s->commits);
	(void)str_addf(out, "about %u to measure; ", s->steps_left);
}

int progress_text(struct engine *e, int64_t search_id, struct str *out)
{
	struct session_estimate s = { 0 };
	bool known = true, searching = search_id && session_estimate(e, search_id, &s) >= 0;
	double left = 0;
	char text[32];

	if (searching)
		add_search(&s, out);
	if (!e->running)
		(void)str_add(out, "waiting");
	for (const struct running *run = e->running; run; run = run->next) {
		add_running(run, out);
		left += running_left(e, run, &known);
		if (run->next)
			(void)str_add(out, "; ");
	}
	left += queued_left(e, &known);
	if (searching)
		left += search_left(e, &s, &known);
	if (known)
		(void)str_addf(out, "; %s left", str_duration(left, text));
	else
		(void)str_add(out, "; time left not known yet");
	return out->failed ? -ENOMEM : 0;
}

void progress_show(struct engine *e, int64_t search_id)
{
	_cleanup_str_ struct str s = STR_INIT;

	if (!e->running && !e->retry_source) /* between two steps there is nothing to wait for */
		return;
	if (progress_text(e, search_id, &s) >= 0)
		log_progress("%s", s.data);
}
