-- A commit may be linked in several orders.

-- 0: as the tree links itself; others: the seed of a shuffle.
ALTER TABLE build ADD COLUMN layout INTEGER NOT NULL DEFAULT 0;
-- "measure": on this layout of the commit.
ALTER TABLE search_log ADD COLUMN layout INTEGER NOT NULL DEFAULT 0;
