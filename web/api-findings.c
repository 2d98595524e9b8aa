// SPDX-License-Identifier: GPL-2.0-or-later
#include "web/api.h"

#include "web/gather.h"

/* API: {"counts", "findings": the newest VIEW_ROWS, each with its change}. */
int api_findings(const struct request *request, struct reply *reply)
{
	_cleanup_json_ json_t *answer = json_object();
	int r = gather_row(answer, "counts", request->db, VIEW_COUNTS, 0);

	if (r >= 0)
		r = gather_rows(answer, "findings", request->db, VIEW_FINDINGS, 0);
	return r < 0 ? r : reply_json(reply, answer);
}
