-- What is known after the match: click ids, Google Play's evidence.

-- Google Play's report on the installation, as `name=value&…` with Play's own names, and why it casts doubt on the match.
-- A further number of `counts.dimension` is 13, `play_finding`.
ALTER TABLE checks ADD COLUMN play TEXT;
ALTER TABLE checks ADD COLUMN play_finding TEXT;

-- The click ids of ad networks, such as `gclid`, as a JSON object; NULL for a click without any.
ALTER TABLE clicks ADD COLUMN click_ids TEXT;
-- What is done with them: off, keep or answer.
ALTER TABLE apps ADD COLUMN click_ids TEXT NOT NULL DEFAULT 'keep';
