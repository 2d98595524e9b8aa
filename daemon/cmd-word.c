// SPDX-License-Identifier: GPL-2.0-or-later
/* mmbisect accept, known, wrong: a person's word on a finding or a tip, told to the daemon. */
#include "daemon/cli.h"
#include "daemon/control.h"
#include "lib/str.h"

static int say(const struct cli *cli, const char *verb)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_(paths_done) struct paths paths = PATHS_INIT;
	_cleanup_json_ json_t *request = NULL, *reply = NULL;
	const char *text;
	int r;

	if (cli->n_revs != 1)
		r = error_set(&err, -EINVAL, "%s: give one finding by its number, or one tip by its commit", verb);
	else if (!cli->reason)
		r = error_set(&err, -EINVAL, "%s: --reason is needed: others will want to know why", verb);
	else
		r = paths_init(cli->state, cli->configs, &err, &paths);
	if (r < 0)
		return cli_fail(&err);
	request = json_pack("{s:s, s:o, s:o}", "verb", verb, "id", json_bytes(cli->revs[0]), "reason", json_bytes(cli->reason));
	r = request ? control_call(paths.socket, request, &err, &reply) : error_errno(&err, -ENOMEM, "%s", verb);
	if (r < 0)
		return cli_fail(&err);
	if (cli->json)
		return cli_print_json(reply) < 0 ? CLI_INFRA : CLI_ANSWER;
	text = json_get_string(reply, "text");
	(void)printf("%s\n", text ? text : "ok");
	return CLI_ANSWER;
}

int cmd_accept(const struct cli *cli)
{
	return say(cli, "accept");
}

int cmd_known(const struct cli *cli)
{
	return say(cli, "known");
}

int cmd_wrong(const struct cli *cli)
{
	return say(cli, "wrong");
}
