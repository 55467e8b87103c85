-- How checks ended and what they were decided from: every match, and of other checks as many as can be kept without
-- harm. The row id is the first half of the check's identifier, made as those of clicks are: new rows go to the end of
-- the table, and the oldest are deleted at its beginning. It has no index, because a record costs little only as long as
-- it touches no other page.
CREATE TABLE checks (
    id INTEGER PRIMARY KEY,
    id_low INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    checked_at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    -- Of no match.
    reason TEXT,
    method TEXT,
    confidence REAL,
    is_campaign_only INTEGER NOT NULL,
    minimum_confidence REAL NOT NULL,
    organic_share REAL,
    -- Live clicks with the fingerprint.
    candidates INTEGER NOT NULL,
    -- The click that was answered, or the likeliest one.
    click INTEGER,
    -- Its platform and form, as a number, and how its address compares with the launch's.
    lane INTEGER,
    agreement INTEGER,
    -- The likeliest clicks: 8 bytes of each row id, the lowest first, and 2 of its share in 65535ths.
    shares BLOB,
    fingerprint INTEGER,
    fingerprint_rest INTEGER,
    exact_address INTEGER,
    near_address INTEGER,
    names_click INTEGER NOT NULL,
    has_install_id INTEGER NOT NULL,
    platform TEXT NOT NULL,
    release INTEGER,
    sdk_version TEXT,
    request_id TEXT
) STRICT;

-- How many launches clicks are expected to have led to, in millionths, and the variance of that: sums of probabilities.
-- A campaign of '' stands for all of them, also for those that have no key.
CREATE TABLE expected_conversions (
    scope INTEGER NOT NULL,
    campaign TEXT NOT NULL,
    granularity TEXT NOT NULL CHECK (granularity IN ('all', 'day', 'hour')),
    period INTEGER NOT NULL,
    conversions INTEGER NOT NULL,
    variance INTEGER NOT NULL,
    PRIMARY KEY (scope, campaign, granularity, period)
) STRICT, WITHOUT ROWID;

-- What fingerprints said of launches whose token told which click led to them, by the tenth in which the probability of
-- the likeliest click lay: sums in millionths, as it was stated and given that some click led to the launch.
CREATE TABLE calibration (
    scope INTEGER NOT NULL,
    granularity TEXT NOT NULL CHECK (granularity IN ('all', 'day')),
    period INTEGER NOT NULL,
    bin INTEGER NOT NULL,
    launches INTEGER NOT NULL,
    stated INTEGER NOT NULL,
    expected INTEGER NOT NULL,
    correct INTEGER NOT NULL,
    PRIMARY KEY (scope, granularity, period, bin)
) STRICT, WITHOUT ROWID;

-- Matches are counted by method from now on; those before were all made by the fingerprint.
INSERT INTO counters (
    scope, campaign, dimension, granularity, period, value, clicks, duplicates, robots, checks, matches, replays,
    no_match_no_click, no_match_expired, no_match_already_claimed, no_match_robot_click
)
SELECT scope, campaign, 'method', granularity, period, 'fingerprint', 0, 0, 0, 0, matches, 0, 0, 0, 0, 0
FROM counters WHERE dimension = 'total' AND matches > 0;
