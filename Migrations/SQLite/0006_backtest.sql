-- What a replay of recorded traffic needs besides what explains it. NULL in rows from before: a replay says what it does
-- not know, and guesses nothing.

-- By what one visitor's clicks are known again, which the rows that checks look into lose when a click is closed.
ALTER TABLE clicks ADD COLUMN visitor INTEGER;

-- Who asked, as the first word of a keyed hash: tells a repetition from another launch.
ALTER TABLE checks ADD COLUMN caller INTEGER;

-- What the fingerprint alone made of the likeliest click, where `confidence` does not say it: it is limited, and a surer
-- way has one of its own.
ALTER TABLE checks ADD COLUMN probability REAL;

-- For how many checks a record stands: in a flood, for some of those that are left out too. NULL for itself alone.
ALTER TABLE checks ADD COLUMN weight INTEGER;

-- The first words of the launch's other fingerprints, where it had several: 8 bytes each, the lowest first.
ALTER TABLE checks ADD COLUMN other_fingerprints BLOB;

-- When the device says that the app was installed first.
ALTER TABLE checks ADD COLUMN first_installed_at INTEGER;
