-- Searches that weigh noise.

-- What a search is told beside its question.
ALTER TABLE search ADD COLUMN claim REAL NOT NULL DEFAULT 0;       -- relative change that made somebody ask; 0: not known
ALTER TABLE search ADD COLUMN max_runs INTEGER NOT NULL DEFAULT 0; -- budget; 0: the judge's own

-- What was known when the verdict was reached: runs of the proof and of others come later and change nothing of it.
ALTER TABLE search ADD COLUMN judged_run INTEGER;                  -- NULL while searching

-- A decision in full: where the search was then, and how many runs of the commit were to be there in total.
ALTER TABLE search_log ADD COLUMN phase TEXT;
ALTER TABLE search_log ADD COLUMN runs INTEGER;

-- Truth: from this run on the judge takes a fresh look at a commit. Append-only.
CREATE TABLE search_mark (
	id INTEGER PRIMARY KEY,
	search_id INTEGER NOT NULL REFERENCES search (id),
	oid TEXT NOT NULL,
	run_order INTEGER NOT NULL,  -- runs whose id is larger are fresh
	at_ns INTEGER NOT NULL
);
CREATE INDEX search_mark_search ON search_mark (search_id, id);

CREATE TRIGGER search_mark_no_update BEFORE UPDATE ON search_mark BEGIN SELECT RAISE(ABORT, 'search_mark is append-only'); END;
CREATE TRIGGER search_mark_no_delete BEFORE DELETE ON search_mark BEGIN SELECT RAISE(ABORT, 'search_mark is append-only'); END;
