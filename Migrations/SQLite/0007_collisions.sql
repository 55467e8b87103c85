-- How many people share the fingerprints of an app's clicks, and how many matches that is expected to make wrong: as
-- the last count beside requests found it, so that the statistics cost no count. Written anew by each.
CREATE TABLE collision_reports (
    scope INTEGER PRIMARY KEY,
    -- When the count ended.
    counted_at INTEGER NOT NULL,
    -- The app's window then.
    window_seconds INTEGER NOT NULL,
    -- Recorded matches by a fingerprint, how many of them are expected to be wrong, and one standard deviation of that.
    matches INTEGER NOT NULL,
    expected_false REAL NOT NULL,
    spread REAL NOT NULL
) STRICT;

-- By platform and form, as a number: clicks that can be found so, those of them with whose fingerprint nobody else had
-- clicked within the window, and the others' clicks of all of them together. A click with several fingerprints of a form
-- counts by their weights.
CREATE TABLE collision_forms (
    scope INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    clicks REAL NOT NULL,
    alone REAL NOT NULL,
    competing REAL NOT NULL,
    PRIMARY KEY (scope, lane)
) STRICT, WITHOUT ROWID;

-- What would keep the share of wrong matches at most this high, and how many matches there would be then; NULL where
-- nothing does.
CREATE TABLE collision_limits (
    scope INTEGER NOT NULL,
    share REAL NOT NULL,
    minimum_confidence REAL,
    matches_by_confidence INTEGER,
    window_seconds INTEGER,
    matches_in_window INTEGER,
    PRIMARY KEY (scope, share)
) STRICT, WITHOUT ROWID;
