/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_BUILD_CONFIG_H
#define MMB_BUILD_CONFIG_H

/*
 * What a kernel config was asked to be (the request: a base target and fragments, the last mention of an option counts), and
 * whether a final .config is that.
 */
#include "lib/error.h"
#include "lib/hash.h"
#include "workers/build-argv.h"

struct config_option {
	char *name;	/* CONFIG_X */
	char *value;	/* NULL: not set */
	char *fragment; /* file name of the last mention, without folders */
};

struct config_request {
	char *base;
	struct config_option *options; /* in the order of their last mention */
	size_t n, capacity;
};
#define CONFIG_REQUEST_INIT ((struct config_request){ 0 })
void config_request_done(struct config_request *request);
#define _cleanup_config_request_ _cleanup_(config_request_done)

/* An empty request on a base target. */
int config_request_init(struct config_request *request, const char *base);
/* Adds a fragment's text over what is there. `path` is for messages. */
int config_request_add(struct config_request *request, const char *path, const char *text, struct error *err);
/* The request as one fragment; and its identity, which neither comments nor overridden lines change. */
char *config_request_text(const struct config_request *request);
int config_request_hash(const struct config_request *request, char ret[HASH_HEX_LEN + 1]);

/* Value of CONFIG_X in a .config: a new string, NULL in *ret when it is not set. */
int config_value(const char *config, const char *name, char **ret);
/* Adds the options that `config` does not have as they were asked for. */
int config_request_missed(const struct config_request *request, const char *config,
			  const struct config_option ***ret, size_t *ret_n);
/* Identity of a whole .config: set options, without those that say which toolchain it was. */
int config_final_hash(const char *config, char ret[HASH_HEX_LEN + 1]);

#endif
