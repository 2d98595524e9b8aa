// SPDX-License-Identifier: GPL-2.0-or-later
#include "web/api.h"

#include "web/gather.h"

/* API: {"finding": with report, mail, last word and the document of the answer, "searches" that ended in it, "words"}. */
int api_finding(const struct request *request, struct reply *reply)
{
	_cleanup_json_ json_t *answer = json_object();
	int r = gather_row(answer, "finding", request->db, VIEW_FINDING, request->id);

	if (r >= 0)
		r = gather_rows(answer, "searches", request->db, VIEW_FINDING_SEARCHES, request->id);
	if (r >= 0)
		r = gather_rows(answer, "words", request->db, VIEW_FINDING_WORDS, request->id);
	return r < 0 ? r : reply_json(reply, answer);
}
