/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_DEFINITION_H
#define MMB_DEFINITION_H

/* Workloads and machines as configs/ defines them. Structs own their strings. */
#include "daemon/paths.h"
#include "lib/conf.h"

struct workload {
	char *name;
	unsigned version; /* a new one starts new series */
	char *driver;	  /* the metric that is watched and searched, class exact */
	char *driver_time;
	char **watch;	  /* more metrics of class exact that are watched beside the driver; NULL: none */
	unsigned limit_seconds;
	struct conf_pairs params_exact, params_time;
	/* metric or "default" -> smallest relative change that counts */
	struct conf_pairs floor_exact, floor_time;
};

struct machine {
	char *name, *class, *arch, *accel, *qemu, *type, *cpu, *cmdline;
	char *vcpus; /* a number or "host" */
	unsigned memory_mib;
};

/* -ENOENT with the names that are known. */
int workload_load(const struct paths *paths, const char *name, struct error *err, struct workload *ret);
void workload_done(struct workload *workload);
/* Smallest relative change of a metric that counts on machines of a class. */
double workload_floor(const struct workload *workload, const char *class, const char *metric);

/* The machine of a class ("exact", "time") and arch. -ENOENT with the arches that are known. */
int machine_load(const struct paths *paths, const char *class, const char *arch, struct error *err, struct machine *ret);
void machine_done(struct machine *machine);
/* As many as the definition says, resolved on this host. */
int machine_vcpus(const struct machine *machine);

#endif
