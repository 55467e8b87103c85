-- What a click's page told of the screen, where the fingerprint of the row does not hold it: 16 bits for each component,
-- cut from a hash of its value, the width in pixels in the lowest, then the points; 0 for one that was not told. NULL
-- where nothing was, in rows from before, and once the click is closed.
ALTER TABLE fingerprints ADD COLUMN signals INTEGER;

-- The same of a launch: what its client told beside its fingerprint. NULL for nothing, and in records from before.
ALTER TABLE checks ADD COLUMN signals INTEGER;

-- How many clicks had which width was counted under another hash.
DELETE FROM learnt_counters WHERE family = 8;
