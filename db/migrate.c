// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/query.h"

/* The schema's history: db/schema/NNN.sql brings version NNN-1 to NNN. Files that were released are never edited. */
#define SCHEMA(number)                                                                             \
	__asm__(".pushsection .rodata\n"                                                           \
		"mmb_schema_" #number ":\n"                                                        \
		".incbin \"db/schema/" #number ".sql\"\n"                                          \
		".byte 0\n"                                                                        \
		".popsection\n");                                                                  \
	extern const char mmb_schema_##number[]

SCHEMA(001);
SCHEMA(002);
SCHEMA(003);
SCHEMA(004);
SCHEMA(005);
SCHEMA(006);

static const char *const migrations[] = { mmb_schema_001, mmb_schema_002, mmb_schema_003, mmb_schema_004,
					     mmb_schema_005, mmb_schema_006 };

static int migrate_one(struct db *db, size_t version, struct error *err)
{
	char pragma[64];
	int r = db_begin(db), rc;

	if (r < 0)
		return error_errno(err, r, "schema %zu", version + 1);
	rc = sqlite3_exec(db->sqlite, migrations[version], NULL, NULL, NULL);
	if (rc == SQLITE_OK) {
		(void)snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %zu", version + 1);
		rc = sqlite3_exec(db->sqlite, pragma, NULL, NULL, NULL);
	}
	if (rc != SQLITE_OK)
		(void)error_set(err, db_errno(db, rc), "schema %zu: %s", version + 1, db_error_text(db));
	return db_end(db, db_errno(db, rc));
}

int db_check_schema(struct db *db, struct error *err, int64_t *ret_version)
{
	int64_t version, tables = 0, ours = 0;
	int r = db_int(db, &version, "PRAGMA user_version", "");

	if (r >= 0)
		r = db_int(db, &tables, "SELECT count(*) FROM sqlite_schema", "");
	if (r >= 0)
		r = db_int(db, &ours, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'ref_event'", "");
	if (r < 0)
		return error_set(err, r, "%s", db_error_text(db));
	if (version == 0 ? tables != 0 : ours == 0)
		return error_set(err, -EUCLEAN, "it belongs to another program");
	if (version < 0 || (size_t)version > ARRAY_SIZE(migrations))
		return error_set(err, -EUCLEAN, "schema %lld is newer than this program (%zu): use the newer mmbisect",
				 (long long)version, ARRAY_SIZE(migrations));
	if (ret_version)
		*ret_version = version;
	return 0;
}

int db_migrate(struct db *db, struct error *err)
{
	int64_t version = 0;
	int r = db_check_schema(db, err, &version);

	if (r < 0)
		return r;
	for (size_t v = (size_t)version; v < ARRAY_SIZE(migrations); v++) {
		r = migrate_one(db, v, err);
		if (r < 0)
			return r;
	}
	return 0;
}
