// SPDX-License-Identifier: GPL-2.0-or-later
#include "web/api.h"

#include "web/gather.h"

/*
 * API: {"search": question, state and, once done, the document; "steps": commits it touched with
 * what is known of them; "log": what it did and why; "jobs": running and queued ones;
 * "typical_seconds"}.
 */
int api_search(const struct request *request, struct reply *reply)
{
	_cleanup_json_ json_t *answer = json_object();
	int r = gather_row(answer, "search", request->db, VIEW_SEARCH, request->id);

	if (r >= 0)
		r = gather_rows(answer, "steps", request->db, VIEW_SEARCH_STEPS, request->id);
	if (r >= 0)
		r = gather_rows(answer, "log", request->db, VIEW_SEARCH_LOG, request->id);
	if (r >= 0)
		r = gather_rows(answer, "jobs", request->db, VIEW_SEARCH_JOBS, request->id);
	if (r >= 0)
		r = gather_typical(answer, request->db);
	return r < 0 ? r : reply_json(reply, answer);
}
