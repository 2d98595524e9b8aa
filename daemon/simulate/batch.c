// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/simulate/batch.h"

#include "daemon/simulate/runner.h"
#include "lib/clock.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/str.h"

int batch_init(struct batch *s, struct error *err)
{
	s->rows = json_array();
	s->tallies = calloc(n_scenarios, sizeof(*s->tallies));
	return s->rows && s->tallies ? 0 : error_errno(err, -ENOMEM, "simulate");
}

void batch_done(struct batch *s)
{
	json_decref(s->rows);
	free(s->tallies);
	s->rows = NULL;
	s->tallies = NULL;
}

static void show_progress(void *userdata, unsigned done)
{
	const struct batch *s = userdata;
	double passed = (double)(now_mono_ns() - s->started_ns) / NSEC_PER_SEC;
	char left[32];

	log_progress("%s: %u of %u trials, %s left", s->name, done, s->now,
		     str_duration(passed * (s->now - done) / done, left));
}

int batch_run(struct batch *s, const struct world_options *world,
	       const struct trial_options *options, const char *name, const struct method *method,
	       unsigned trials, struct error *err, struct tally *ret)
{
	struct runner runner = {
		.world = world,
		.method = method,
		.options = options,
		.seed = s->seed,
		.name = name,
		.trials = trials,
		.jobs = s->jobs,
		.progress = s->quiet ? NULL : show_progress,
		.userdata = s,
	};

	s->name = name;
	s->now = trials;
	s->started_ns = now_mono_ns();
	int r = runner_run(&runner, err, ret);

	log_progress_end();
	return r;
}

int batch_add(struct batch *s, json_t *row, const struct tally *t, struct error *err)
{
	_cleanup_json_ json_t *sums =
		json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "trials",
			  (int)t->trials, "cost", tally_mean(t, t->cost), "cost_error",
			  tally_cost_error(t), "cost_all", tally_mean(t, t->cost_all), "wall",
			  tally_mean(t, t->wall), "builds", tally_mean(t, t->builds), "runs",
			  tally_mean(t, t->runs), "decisions", tally_mean(t, t->decisions),
			  "cpu_ms", tally_cpu_ms(t), "partial", 100 * tally_mean(t, t->flagged));
	int r = row && sums ? json_object_update(row, sums) : -1;

	for (size_t i = 0; r >= 0 && i < OUTCOME_N; i++)
		r = json_object_set_new(row, outcome_names[i],
					json_real(tally_percent(t, (enum outcome)i)));
	if (r < 0)
		json_decref(row);
	else
		r = json_array_append_new(s->rows, row);
	return r < 0 ? error_errno(err, -ENOMEM, "simulate") : 0;
}
