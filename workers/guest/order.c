// SPDX-License-Identifier: GPL-2.0-or-later
#include "order.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "mmb."

static int order_word(struct order *o, char *word)
{
	char *value = strchr(word, '=');
	const char *name = word + strlen(PREFIX);

	if (strncmp(word, PREFIX, strlen(PREFIX)) != 0)
		return 0;
	if (value)
		*value++ = '\0';
	else
		value = word + strlen(word);

	if (!strcmp(name, "nonce")) {
		o->nonce = value;
	} else if (!strcmp(name, "port")) {
		o->port = value;
	} else if (!strcmp(name, "workload")) {
		o->workload = value;
	} else {
		if (o->n_params == ORDER_PARAMS_MAX)
			return -E2BIG;
		o->params[o->n_params++] = (struct order_param){name, value};
	}
	return 0;
}

int order_read(struct order *o, const char *path)
{
	char *save = NULL, *word;
	ssize_t n;
	int fd, r;

	memset(o, 0, sizeof(*o));
	o->nonce = o->port = o->workload = "";

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, o->text, sizeof(o->text) - 1);
	r = n < 0 ? -errno : 0;
	close(fd);
	if (r < 0)
		return r;

	for (word = strtok_r(o->text, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
		r = order_word(o, word);
		if (r < 0)
			return r;
	}
	return 0;
}
