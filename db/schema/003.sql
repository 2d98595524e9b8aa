-- Detection among noise, and what people say.

-- Class time: runs of a tip and of its base with larger ids are compared. NULL: not begun.
ALTER TABLE tip ADD COLUMN run_order INTEGER;

-- Truth: what a person said of a finding or a tip; the last word counts. Append-only.
CREATE TABLE word (
	id INTEGER PRIMARY KEY,
	finding_id INTEGER REFERENCES finding (id),
	tip_id INTEGER REFERENCES tip (id),
	state TEXT NOT NULL CHECK (state IN ('accepted', 'known', 'wrong')),
	reason TEXT NOT NULL,
	who TEXT NOT NULL,
	at_ns INTEGER NOT NULL,
	CHECK ((finding_id IS NULL) <> (tip_id IS NULL))
);
CREATE INDEX word_finding ON word (finding_id, id);
CREATE INDEX word_tip ON word (tip_id, id);

CREATE TRIGGER word_no_update BEFORE UPDATE ON word BEGIN SELECT RAISE(ABORT, 'word is append-only'); END;
CREATE TRIGGER word_no_delete BEFORE DELETE ON word BEGIN SELECT RAISE(ABORT, 'word is append-only'); END;

-- One finding a patch: all the searches that ended in it. finding.search_id is the first.
CREATE TABLE finding_search (
	search_id INTEGER PRIMARY KEY REFERENCES search (id),
	finding_id INTEGER NOT NULL REFERENCES finding (id)
);
CREATE INDEX finding_search_finding ON finding_search (finding_id);
INSERT INTO finding_search (search_id, finding_id) SELECT search_id, id FROM finding;
