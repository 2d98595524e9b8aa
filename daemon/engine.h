/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_ENGINE_H
#define MMB_ENGINE_H

/*
 * What the daemon and the one-shot commands share: the database, the mirror, the definitions, the executor and the jobs
 * under way. plan.c asks for work, dispatch.c does it, session.c takes a search to its verdict; all of them take
 * the engine as their first argument.
 *
 * The engine owns everything it points to but the event loop. One engine a process.
 */
#include "daemon/definition.h"
#include "daemon/executor.h"
#include "daemon/paths.h"
#include "daemon/repo.h"
#include "db/db.h"

/* What is measured: everything of a sample's identity but the image. Owned by the engine, never freed before it. */
struct target {
	char *arch, *class;
	struct workload workload;
	struct machine machine;
	char *accel;	   /* resolved: tcg or kvm */
	char *initramfs;   /* path */
	char *text, *hash; /* the series */
	struct target *next;
};

/* What target_config() found: the fragments are read once a process, so all of its jobs have the same. */
struct config_hash {
	char *arch;
	char hash[65];
	struct config_hash *next;
};

/* A job that was leased and started. */
struct running {
	int64_t job_id;
	uint64_t handle;
	char *kind, *class, *oid, *subject;
	json_t *spec;
	int64_t attempts;
	uint64_t started_ns; /* monotonic */
	unsigned slot;
	char phase[16];
	int64_t done, total;
	struct running *next;
};

struct engine_settings {
	struct executor_limits limits; /* what may be under way at once; 0: by the host */
	unsigned verify_runs;	/* runs of a row on machines of class time; 0: not measured */
	bool no_proof;		/* no runs of class time for a proof, not even of culprit and parent */
	unsigned build_limit_seconds;
	const char *tree; /* name for documents */
};
#define ENGINE_SETTINGS_INIT ((struct engine_settings){ .verify_runs = 5, .build_limit_seconds = 7200 })

struct engine {
	struct paths paths;
	struct engine_settings settings;
	struct db *db;
	struct repo *repo;
	sd_event *loop; /* borrowed */
	struct executor *executor;
	struct target *targets;
	struct config_hash *configs;
	struct running *running;
	char *toolchain;	    /* "clang 14.0.6, ld.lld 14.0.6, make 4.3" */
	uint64_t started_ns;	    /* wall: failures from before do not count any more */
	sd_event_source *step_source; /* a step was asked for */
	sd_event_source *retry_source; /* queued jobs that wait for a time */
	struct session *sessions; /* see session.c */

	/* Called from the loop whenever something ended or may be started: looks at all that is wanted. */
	int (*on_step)(struct engine *engine, void *userdata);
	/* Called when what is going on has changed (progress). May be NULL. */
	void (*on_progress)(struct engine *engine, void *userdata);
	void *userdata;
	int failed; /* first fatal error: the loop ends with it */
};

/*
 * Opens state (database, mirror) and releases what a dead predecessor left leased. -EBUSY: another process has this
 * state; -ENOENT: a tool is missing (in err's words).
 */
int engine_new(sd_event *loop, struct paths *paths /* taken */, const struct engine_settings *settings, struct error *err,
	       struct engine **ret);
struct engine *engine_free(struct engine *engine);
DEFINE_CLEANUP(struct engine *, engine_free);

/* Asks for on_step() soon. */
void engine_wake(struct engine *engine);
/* Remembers a fatal error and ends the loop. */
void engine_fail(struct engine *engine, int r);

#endif
