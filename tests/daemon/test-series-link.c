// SPDX-License-Identifier: GPL-2.0-or-later
/* Which message ids are of one series? */
#include "daemon/series-link.h"

#include "tap.h"

static const struct {
	const char *first, *second;
	enum series_relation want;
	const char *what;
} cases[] = {
	{ "https://lore.kernel.org/r/20220914102033.123456-3-a@example.org", "https://lore.kernel.org/r/20220914102033.123456-4-a@example.org",
	  SERIES_SAME, "git send-email" },
	{ "https://lore.kernel.org/r/20240101-topic-v2-9-0123456789ab@example.org",
	  "https://patch.msgid.link/20240101-topic-v2-10-0123456789ab@example.org/", SERIES_SAME, "b4, another server, two digits" },
	{ "<20240101-topic-v2-2-0123456789ab@example.org>", "20240101-topic-v2-3-0123456789ab@example.org", SERIES_SAME, "bare ids" },
	{ "20220914102033.123456-4-a@example.org", "20220914102033.123456-3-a@example.org", SERIES_OTHER, "the other way round" },
	{ "20220914102033.123456-3-a@example.org", "20220914102033.123456-3-a@example.org", SERIES_OTHER, "the same patch" },
	{ "20220914102033.123456-3-a@example.org", "20220915102033.654321-4-a@example.org", SERIES_OTHER, "two threads of one day" },
	{ "20220914102033.123456-3-a@example.org", "20220914102033.123456-4-b@example.org", SERIES_OTHER, "another author" },
	{ "20240101-topic-v2-3-0123456789ab@example.org", "20240101-topic-v3-4-0123456789ab@example.org", SERIES_OTHER, "another version" },
	{ "20220914102033.123456-3-a@example.org", "Yx0abc@example.org", SERIES_UNKNOWN, "a reply without a number" },
	{ "https://bugzilla.kernel.org/show_bug.cgi?id=1", "https://bugzilla.kernel.org/show_bug.cgi?id=2", SERIES_UNKNOWN, "no ids at all" },
	{ "a-20220914102033-b@example.org", "a-20220914102034-b@example.org", SERIES_UNKNOWN, "a date is no number of a patch" },
	{ "@", "-1-@", SERIES_UNKNOWN, "rubbish" },
	{ "", "", SERIES_UNKNOWN, "nothing" },
};

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_int(series_links(cases[i].first, cases[i].second), cases[i].want, "%s", cases[i].what);
	return done_testing();
}
