/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_BUILD_IMAGE_H
#define MMB_BUILD_IMAGE_H

/*
 * The folder `out` of a job: kernel, vmlinux.sig, System.map, config, build.json. It is made beside and renamed in, so
 * it is complete or not there; the build cannot write it.
 */
#include "workers/build-make.h"

/* The result object of an earlier build in `out`, or NULL: then it has to be built (again). Caller owns. */
json_t *image_recall(const struct build_job *job);
/* Signs what was built and makes `out`. *ret: the result object, without seconds. */
int image_publish(struct build *b, uint64_t begin_ns, struct error *err, json_t **ret);

#endif
