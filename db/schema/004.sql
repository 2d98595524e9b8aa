-- Searches whose ends have diverged.

-- The good end is no ancestor of bad: the search goes on from here, as the merge base behaves like good. NULL: not known yet, or not needed.
ALTER TABLE search ADD COLUMN base TEXT;
-- So many of its marks belong to the question whether it does.
ALTER TABLE search ADD COLUMN base_marks INTEGER NOT NULL DEFAULT 0;
