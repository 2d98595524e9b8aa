/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_SERVICE_H
#define MMB_SERVICE_H

/*
 * The service's configuration (configs/mmbisect.conf) and what its parts share: trees that are watched, where mail goes, the
 * engine. The struct owns its strings.
 */
#include "daemon/engine.h"
#include "daemon/task.h"

struct tree {
	char *name; /* of the section [tree NAME] */
	char *url;
	char **branches; /* full names of refs that are watched; all heads are fetched, for fixes */
	char **workloads, **arches;
	unsigned poll_seconds;
	bool time;	     /* workloads are compared on machines of class time, too */
	unsigned time_pairs; /* runs of each side that one comparison may cost */
	struct watch *watch; /* see watch.c */
};

struct service {
	char *state, *configs;
	unsigned verify_runs;
	unsigned executors; /* runs of class time at once; 0 is 1 */
	char *mail_server, *mail_tls, *mail_user, *mail_password_file, *mail_from;
	char **mail_to, **mail_cc;
	struct tree *trees;
	size_t n_trees, trees_capacity;

	struct engine *engine; /* owned */
	sd_event *loop;	       /* owned */
	struct outbox *outbox; /* see outbox.c */
	struct control *control; /* owned */
};

int service_load(const char *path, struct error *err, struct service *ret);
void service_done(struct service *service);
const struct tree *service_tree(const struct service *service, const char *name);

/* watch.c: polls the trees from the loop, fetches, records tips. */
int watch_start(struct service *service, struct error *err);
void watch_stop(struct service *service);

/* detect.c: new tips against the accepted level; starts searches. */
int detect_step(struct service *service, struct error *err);

/* findings.c: takes searches to their end, findings and their mails. */
int findings_step(struct service *service, struct error *err);

/* words.c: what people say of findings and tips; a control_fn for accept, known, wrong. */
int words_control(void *userdata, const char *verb, const json_t *request, const char *who, struct error *err, json_t **ret);

/* outbox.c: sends queued mails, one at a time. */
int outbox_step(struct service *service, struct error *err);
void outbox_stop(struct service *service);

#endif
