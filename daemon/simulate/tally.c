/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/simulate/tally.h"

#include <math.h>
#include <string.h>

/* One case of twenty, and how many standard errors that is. */
#define TOO_RARE 0.05
#define TOO_RARE_SIGMAS 1.645

void tally_add(struct tally *tally, const struct trial *t)
{
	tally->trials++;
	tally->outcomes[t->outcome]++;
	tally->flagged += t->partial;
	tally->claims += t->claimed;
	tally->claims_wrong += t->claimed && !t->claim_right;
	tally->differs += t->differs;
	tally->cost += t->answer_seconds;
	tally->cost2 += t->answer_seconds * t->answer_seconds;
	tally->cost_all += t->seconds;
	tally->wall += t->wall;
	tally->builds += t->builds;
	tally->runs += t->runs;
	tally->decisions += t->decisions;
	tally->cpu += t->cpu;
	tally->cpu_max = fmax(tally->cpu_max, t->cpu_max);
}

double tally_mean(const struct tally *tally, double sum)
{
	return tally->trials ? sum / tally->trials : 0;
}

double tally_percent(const struct tally *tally, enum outcome outcome)
{
	return 100 * tally_mean(tally, tally->outcomes[outcome]);
}

double tally_cost_error(const struct tally *tally)
{
	double mean = tally_mean(tally, tally->cost);
	double variance = tally_mean(tally, tally->cost2) - mean * mean;

	return tally->trials > 1 ? sqrt(fmax(0, variance) / (tally->trials - 1)) : 0;
}

double tally_cpu_ms(const struct tally *tally)
{
	return tally->decisions > 0 ? 1000 * tally->cpu / tally->decisions : 0;
}

/* One demand of a bar: 0 asks for nothing. */
struct demand {
	const char *what;
	double got, least, most;
};

static void miss(char *missed, const struct demand *d)
{
	size_t n = strlen(missed);
	bool low = d->least > 0 && d->got < d->least;

	(void)snprintf(missed + n, TALLY_MISSED_MAX - n, "%s%s %.4g %s %.4g", n ? ", " : "",
		       d->what, d->got, low ? "<" : ">",
		       low		? d->least
		       : d->most < 1e-6 ? 0
					: d->most);
}

bool tally_meets(const struct tally *tally, const struct bar *bar, double cost_of, char *ret_missed)
{
	double cost = tally_mean(tally, tally->cost), builds = tally_mean(tally, tally->builds);
	double wrong = tally_percent(tally, OUTCOME_WRONG);
	double right = tally_percent(tally, OUTCOME_RIGHT);
	const struct demand demands[] = {
		{"right", right, bar->right, 0},
		{"answered", right + wrong + tally_percent(tally, OUTCOME_WIDE), bar->answered, 0},
		{"not reproduced", tally_percent(tally, OUTCOME_NOT_REPRODUCED),
		 bar->not_reproduced, 0},
		{"wrong", wrong, 0, bar->wrong},
		{"claims wrong", 100 * tally_mean(tally, tally->claims_wrong), 0, bar->claim_wrong},
		{"cost", cost, 0, bar->cost},
		{"cost of all", tally_mean(tally, tally->cost_all), 0, bar->cost_all},
		{"builds", builds, 0, bar->builds},
		{"runs over builds", tally_mean(tally, tally->runs) - builds, 0,
		 bar->runs_over_builds},
		{"cost ratio", cost_of > 0 ? cost / cost_of : 0, 0, bar->cost_ratio},
		{"flagged", 100 * tally_mean(tally, tally->flagged), bar->flagged_least,
		 bar->flagged_most},
		{"ms", tally_cpu_ms(tally), 0, bar->cpu_ms},
		{"differ", tally->differs, 0, bar->differs},
		{"broken", tally->outcomes[OUTCOME_BROKEN], 0, BAR_NONE},
	};

	ret_missed[0] = '\0';
	for (size_t i = 0; i < sizeof(demands) / sizeof(demands[0]); i++)
		if ((demands[i].least > 0 && demands[i].got < demands[i].least) ||
		    (demands[i].most > 0 && demands[i].got > demands[i].most))
			miss(ret_missed, &demands[i]);
	return ret_missed[0] == '\0';
}

/* Probability of at most k hits in n trials of probability p. */
static double at_most(unsigned k, unsigned n, double p)
{
	double sum = 0;

	if (p <= 0 || p >= 1)
		return p <= 0 || k >= n ? 1 : 0;
	for (unsigned i = 0; i <= k; i++)
		sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log(p) + (n - i) * log1p(-p));
	return sum;
}

bool tally_contradicts(const struct tally *t, const struct bar *bar)
{
	const unsigned *outcomes = t->outcomes, n = t->trials;
	const struct {
		double hits, least, most; /* percent; 0 asks for nothing */
	} shares[] = {
		{outcomes[OUTCOME_RIGHT], bar->right, 0},
		{outcomes[OUTCOME_RIGHT] + outcomes[OUTCOME_WRONG] + outcomes[OUTCOME_WIDE], bar->answered, 0},
		{outcomes[OUTCOME_NOT_REPRODUCED], bar->not_reproduced, 0},
		{outcomes[OUTCOME_WRONG], 0, bar->wrong},
		{t->claims_wrong, 0, bar->claim_wrong},
		{t->flagged, bar->flagged_least, bar->flagged_most},
	};

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		unsigned hits = (unsigned)lround(shares[i].hits);

		if (shares[i].least > 0 && at_most(hits, n, shares[i].least / 100) < TOO_RARE)
			return true;
		if (shares[i].most > 0 && hits && 1 - at_most(hits - 1, n, shares[i].most / 100) < TOO_RARE)
			return true;
	}
	if (bar->cost > 0 && n > 1 && tally_mean(t, t->cost) - TOO_RARE_SIGMAS * tally_cost_error(t) > bar->cost)
		return true;
	return outcomes[OUTCOME_BROKEN] || (bar->differs > 0 && t->differs > bar->differs) ||
	       (bar->cpu_ms > 0 && tally_cpu_ms(t) > bar->cpu_ms);
}
