/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_BUILD_JOB_H
#define MMB_BUILD_JOB_H

/*
 * The build job (docs/architecture.md) after it was checked, and the architectures that can be built.
 *
 * All that fails here is a malformed job. Strings belong to the JSON object, which the job owns.
 */
#include "lib/error.h"
#include "lib/json.h"

/* The tree is at fault (status build-failed). Every other negative number of the build's functions means infra. */
#define BUILD_FAILED (-ENOEXEC)
/* Of one commit; the judge counts them in a byte. */
#define BUILD_LAYOUT_MAX 255

struct build_arch {
	const char *name;    /* ours, and QEMU's */
	const char *kbuild;  /* ARCH= */
	const char *srcarch; /* folder below arch/ */
	const char *target;  /* of make */
	const char *image;   /* what QEMU's -kernel takes, below O= */
};

const struct build_arch *build_arch_find(const char *name);

struct build_job {
	json_t *json;
	const struct build_arch *arch;
	const char *repo, *commit, *base, *slot, *out, *log;
	const char **fragments;
	size_t n_fragments;
	unsigned jobs, limit_seconds;
	unsigned layout; /* 0: as the tree links itself; others: functions in another order */
};
#define BUILD_JOB_INIT ((struct build_job){ 0 })

/* Takes over the JSON object, also on failure. */
int build_job_parse(json_t *json, struct error *err, struct build_job *job);
void build_job_done(struct build_job *job);

#endif
