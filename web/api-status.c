// SPDX-License-Identifier: GPL-2.0-or-later
#include "web/api.h"

#include "web/gather.h"

static int add_data_version(json_t *answer, struct db *db)
{
	int64_t version;
	int r = db_data_version(db, &version);

	if (r < 0)
		return r;
	return json_object_set_new(answer, "data_version", json_integer(version)) < 0 ? -ENOMEM : 0;
}

/* API: what goes on now: {"counts", "jobs": running, "queue": by class, "refs": newest of each,
 * "typical_seconds", "data_version"}. */
int api_status(const struct request *request, struct reply *reply)
{
	_cleanup_json_ json_t *answer = json_object();
	int r = gather_row(answer, "counts", request->db, VIEW_COUNTS, 0);

	if (r >= 0)
		r = gather_rows(answer, "jobs", request->db, VIEW_JOBS, 0);
	if (r >= 0)
		r = gather_rows(answer, "queue", request->db, VIEW_QUEUE, 0);
	if (r >= 0)
		r = gather_rows(answer, "refs", request->db, VIEW_REFS, 0);
	if (r >= 0)
		r = gather_typical(answer, request->db);
	if (r >= 0)
		r = add_data_version(answer, request->db);
	return r < 0 ? r : reply_json(reply, answer);
}
