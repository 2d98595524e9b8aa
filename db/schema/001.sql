-- Truth: what happened. Append-only, held by the triggers at the end.

-- A ref of a watched tree was seen to point at a commit (NULL: it is gone).
CREATE TABLE ref_event (
	id INTEGER PRIMARY KEY,
	tree TEXT NOT NULL,
	ref TEXT NOT NULL,
	oid TEXT,
	at_ns INTEGER NOT NULL
);
CREATE INDEX ref_event_ref ON ref_event (tree, ref, id);

-- The end of a build job. Only ok and build-failed are kept: infra says nothing about a commit.
CREATE TABLE build (
	id INTEGER PRIMARY KEY,
	job_id INTEGER NOT NULL UNIQUE REFERENCES job (id),
	oid TEXT NOT NULL,
	tree_oid TEXT NOT NULL,
	arch TEXT NOT NULL,
	config TEXT NOT NULL,        -- hash of base and fragments
	toolchain TEXT NOT NULL,
	status TEXT NOT NULL CHECK (status IN ('ok', 'build-failed')),
	signature TEXT,              -- of what the guest executes; ok only
	kernel TEXT,                 -- path
	unknown_options TEXT,
	error TEXT,
	seconds REAL NOT NULL,
	cached INTEGER NOT NULL,     -- answered from the image store
	at_ns INTEGER NOT NULL
);
CREATE INDEX build_tree ON build (tree_oid, arch, config, toolchain);
CREATE INDEX build_oid ON build (oid);

-- What may be compared: everything of a result's identity but the image signature. hash = SHA-256 of text.
CREATE TABLE series (
	hash TEXT PRIMARY KEY,
	text TEXT NOT NULL,
	arch TEXT NOT NULL,
	workload TEXT NOT NULL,
	class TEXT NOT NULL CHECK (class IN ('exact', 'time')),
	machine TEXT NOT NULL
);

-- The end of a run job: one boot.
CREATE TABLE run (
	id INTEGER PRIMARY KEY,
	job_id INTEGER NOT NULL UNIQUE REFERENCES job (id),
	series TEXT NOT NULL REFERENCES series (hash),
	signature TEXT NOT NULL,
	oid TEXT NOT NULL,           -- the commit it was asked for
	status TEXT NOT NULL,
	title TEXT,                  -- of a crash
	error TEXT,
	nonce TEXT NOT NULL UNIQUE,
	seconds REAL NOT NULL,
	boot_seconds REAL,
	at_ns INTEGER NOT NULL
);
CREATE INDEX run_image ON run (series, signature, status);

CREATE TABLE sample (
	run_id INTEGER NOT NULL REFERENCES run (id),
	metric TEXT NOT NULL,
	value REAL NOT NULL,
	unit TEXT NOT NULL,
	better TEXT NOT NULL CHECK (better IN ('lower', 'higher')),
	class TEXT NOT NULL CHECK (class IN ('exact', 'count', 'time')),
	PRIMARY KEY (run_id, metric)
) WITHOUT ROWID;

-- What a search did and why, in order.
CREATE TABLE search_log (
	id INTEGER PRIMARY KEY,
	search_id INTEGER NOT NULL REFERENCES search (id),
	at_ns INTEGER NOT NULL,
	action TEXT NOT NULL,
	oid TEXT,
	reason TEXT NOT NULL
);
CREATE INDEX search_log_search ON search_log (search_id, id);

-- The accelerator that a timed boot found usable on this host.
CREATE TABLE probe (
	id INTEGER PRIMARY KEY,
	host TEXT NOT NULL,          -- host name, kernel and QEMU version
	arch TEXT NOT NULL,
	accel TEXT NOT NULL,
	reason TEXT NOT NULL,
	at_ns INTEGER NOT NULL
);

-- State: what is going on. Changes.

CREATE TABLE job (
	id INTEGER PRIMARY KEY,
	kind TEXT NOT NULL CHECK (kind IN ('build', 'run')),
	key TEXT NOT NULL,           -- what it is for: at most one unfinished job of a key
	class TEXT NOT NULL CHECK (class IN ('build', 'exact', 'time')),
	spec TEXT NOT NULL,          -- the worker's JSON, without id and nonce
	oid TEXT NOT NULL,
	search_id INTEGER REFERENCES search (id),
	priority INTEGER NOT NULL,   -- smaller is sooner
	state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'leased', 'done', 'failed', 'cancelled')),
	attempts INTEGER NOT NULL DEFAULT 0,
	lease_owner TEXT,
	lease_until_ns INTEGER,
	not_before_ns INTEGER NOT NULL DEFAULT 0,
	error TEXT,
	created_ns INTEGER NOT NULL,
	started_ns INTEGER,
	ended_ns INTEGER
);
CREATE UNIQUE INDEX job_unfinished ON job (key) WHERE state IN ('queued', 'leased');
CREATE INDEX job_key ON job (key, state);
CREATE INDEX job_state ON job (state, priority, id);

-- A tip of a watched branch and how far it got.
CREATE TABLE tip (
	id INTEGER PRIMARY KEY,
	tree TEXT NOT NULL,
	ref TEXT NOT NULL,
	oid TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('new', 'accepted', 'searched', 'failed', 'superseded')),
	reason TEXT,
	at_ns INTEGER NOT NULL
);
CREATE INDEX tip_ref ON tip (tree, ref, id);

-- The question of a bisection; everything about its course is recomputed from builds and samples.
CREATE TABLE search (
	id INTEGER PRIMARY KEY,
	tree TEXT NOT NULL,          -- tree name of the daemon, or path of the repository
	ref TEXT,
	good TEXT NOT NULL,
	bad TEXT NOT NULL,
	workload TEXT NOT NULL,
	arch TEXT NOT NULL,
	metric TEXT NOT NULL,
	class TEXT NOT NULL CHECK (class IN ('exact', 'time')),
	first_parent INTEGER NOT NULL DEFAULT 0,
	state TEXT NOT NULL DEFAULT 'searching' CHECK (state IN ('searching', 'verifying', 'done')),
	verdict TEXT CHECK (verdict IN ('culprit', 'set', 'not-reproduced', 'gave-up')),
	culprit TEXT,
	document TEXT,               -- the JSON document of the answer
	settled INTEGER NOT NULL DEFAULT 0, -- finding, mail and tip were made of it
	created_ns INTEGER NOT NULL,
	ended_ns INTEGER
);

CREATE TABLE finding (
	id INTEGER PRIMARY KEY,
	search_id INTEGER NOT NULL UNIQUE REFERENCES search (id),
	culprit TEXT NOT NULL,
	patch_id TEXT NOT NULL,
	subject TEXT NOT NULL,
	fix TEXT,
	report TEXT NOT NULL,        -- the text that is mailed and shown
	created_ns INTEGER NOT NULL
);
CREATE INDEX finding_patch ON finding (patch_id);

CREATE TABLE mail (
	id INTEGER PRIMARY KEY,
	finding_id INTEGER NOT NULL UNIQUE REFERENCES finding (id),
	message_id TEXT NOT NULL UNIQUE,
	sender TEXT NOT NULL,
	recipients TEXT NOT NULL,    -- one address a line
	message BLOB NOT NULL,       -- RFC 5322, CRLF
	state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'sent', 'failed')),
	attempts INTEGER NOT NULL DEFAULT 0,
	next_ns INTEGER NOT NULL DEFAULT 0,
	error TEXT,
	created_ns INTEGER NOT NULL,
	sent_ns INTEGER
);

-- Derived: rebuilt from the truth at any time (db_level_rebuild).
CREATE TABLE level (
	series TEXT NOT NULL,
	signature TEXT NOT NULL,
	metric TEXT NOT NULL,
	n INTEGER NOT NULL,
	median REAL NOT NULL,
	low REAL NOT NULL,
	high REAL NOT NULL,
	unit TEXT NOT NULL,
	better TEXT NOT NULL,
	class TEXT NOT NULL,
	PRIMARY KEY (series, signature, metric)
) WITHOUT ROWID;

CREATE TRIGGER ref_event_no_update BEFORE UPDATE ON ref_event BEGIN SELECT RAISE(ABORT, 'ref_event is append-only'); END;
CREATE TRIGGER ref_event_no_delete BEFORE DELETE ON ref_event BEGIN SELECT RAISE(ABORT, 'ref_event is append-only'); END;
CREATE TRIGGER build_no_update BEFORE UPDATE ON build BEGIN SELECT RAISE(ABORT, 'build is append-only'); END;
CREATE TRIGGER build_no_delete BEFORE DELETE ON build BEGIN SELECT RAISE(ABORT, 'build is append-only'); END;
CREATE TRIGGER run_no_update BEFORE UPDATE ON run BEGIN SELECT RAISE(ABORT, 'run is append-only'); END;
CREATE TRIGGER run_no_delete BEFORE DELETE ON run BEGIN SELECT RAISE(ABORT, 'run is append-only'); END;
CREATE TRIGGER sample_no_update BEFORE UPDATE ON sample BEGIN SELECT RAISE(ABORT, 'sample is append-only'); END;
CREATE TRIGGER sample_no_delete BEFORE DELETE ON sample BEGIN SELECT RAISE(ABORT, 'sample is append-only'); END;
CREATE TRIGGER series_no_update BEFORE UPDATE ON series BEGIN SELECT RAISE(ABORT, 'series is append-only'); END;
CREATE TRIGGER series_no_delete BEFORE DELETE ON series BEGIN SELECT RAISE(ABORT, 'series is append-only'); END;
CREATE TRIGGER search_log_no_update BEFORE UPDATE ON search_log BEGIN SELECT RAISE(ABORT, 'search_log is append-only'); END;
CREATE TRIGGER search_log_no_delete BEFORE DELETE ON search_log BEGIN SELECT RAISE(ABORT, 'search_log is append-only'); END;
CREATE TRIGGER probe_no_update BEFORE UPDATE ON probe BEGIN SELECT RAISE(ABORT, 'probe is append-only'); END;
CREATE TRIGGER probe_no_delete BEFORE DELETE ON probe BEGIN SELECT RAISE(ABORT, 'probe is append-only'); END;
