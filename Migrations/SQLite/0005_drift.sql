-- Checks and clicks, and how many of them matched, by the groups whose match rate is watched for a fall: launches by
-- platform, OS version and SDK version, clicks by platform, OS version and browser. In spans of six hours, as long as
-- the watch looks back.
CREATE TABLE drift_counters (
    scope INTEGER NOT NULL,
    -- The first millisecond of the span.
    period INTEGER NOT NULL,
    side TEXT NOT NULL CHECK (side IN ('launch', 'click')),
    -- `ios/26.1/1.8.9`; `?` for what nothing told, `*` for others.
    name TEXT NOT NULL,
    trials INTEGER NOT NULL,
    matches INTEGER NOT NULL,
    PRIMARY KEY (scope, period, side, name)
) STRICT, WITHOUT ROWID;

-- Until when the counts of an app were looked at: of several servers, one looks at each span.
CREATE TABLE drift_looks (
    scope INTEGER PRIMARY KEY,
    looked_at INTEGER NOT NULL
) STRICT;

-- How the watched groups were then. Written anew by each look, but for the alarms, which begin and end.
CREATE TABLE drift_groups (
    scope INTEGER NOT NULL,
    side TEXT NOT NULL CHECK (side IN ('launch', 'click')),
    name TEXT NOT NULL,
    -- Of the newest seven days.
    trials INTEGER NOT NULL,
    matches INTEGER NOT NULL,
    -- NULL until there is a past to compare with.
    usual_rate REAL,
    -- Of the alarm that is on: when the rate fell, when that was told, and to what it fell. NULL without one.
    since INTEGER,
    began INTEGER,
    fallen_rate REAL,
    PRIMARY KEY (scope, side, name)
) STRICT, WITHOUT ROWID;

-- The alarms that are on, however many groups are watched; nearly always empty.
CREATE INDEX drift_alarms ON drift_groups (scope, side, name) WHERE began IS NOT NULL;

-- In which program the link was opened, for the match rate by browser. NULL for clicks from before.
ALTER TABLE clicks ADD COLUMN browser TEXT;
