-- A finding whose proof does not show the change is kept and shown, but not mailed.
ALTER TABLE finding ADD COLUMN unproved TEXT; -- why; NULL: it is proved, or was found before proofs were asked for
