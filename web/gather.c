// SPDX-License-Identifier: GPL-2.0-or-later
#include "web/gather.h"

#include "db/job.h"

static int set(json_t *object, const char *key, json_t *value)
{
	return json_object_set(object, key, value) < 0 ? -ENOMEM : 0;
}

int gather_rows(json_t *object, const char *key, struct db *db, enum view view, int64_t id)
{
	_cleanup_json_ json_t *rows = NULL;
	int r = db_view(db, view, id, &rows);

	return r < 0 ? r : set(object, key, rows);
}

int gather_row(json_t *object, const char *key, struct db *db, enum view view, int64_t id)
{
	_cleanup_json_ json_t *rows = NULL;
	int r = db_view(db, view, id, &rows);

	if (r < 0)
		return r;
	return json_array_size(rows) ? set(object, key, json_array_get(rows, 0)) : -ENOENT;
}

int gather_typical(json_t *object, struct db *db)
{
	static const char *const classes[] = {"build", "exact", "time"};
	_cleanup_json_ json_t *typical = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		double seconds;
		int r = db_job_typical_seconds(db, classes[i], &seconds);

		if (r == -ENOENT)
			continue;
		if (r >= 0 && json_object_set_new(typical, classes[i], json_real(seconds)) < 0)
			r = -ENOMEM;
		if (r < 0)
			return r;
	}
	return set(object, "typical_seconds", typical);
}
