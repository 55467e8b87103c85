CREATE TABLE dashboard_sessions (
    -- The sessions of the dashboard: the SHA-256 of each cookie, never its text.

    digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    -- The key that signed in; NULL for a session that a one-time link started.
    key_high INTEGER,
    key_low INTEGER,
    created_at INTEGER NOT NULL,
    -- When the session was last used, at most a minute too early.
    used_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sign_in_links (
    -- The links that start one session each: the SHA-256 of each secret, never its text. A link is deleted by its use.

    digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The hours by which the days of an app's reports begin before those of UTC.
ALTER TABLE apps ADD COLUMN reporting_offset INTEGER NOT NULL DEFAULT 0;

CREATE INDEX top_links
    -- Finds the most clicked links of a span, as `top_campaigns` finds campaigns. Further numbers of `dimension` are 10
    -- browser, 11 link, whose id stands in the column `campaign`, and 12 hour of the day. Browsers are stored with their
    -- version. A further number of `span` is 4, four weeks.
    ON counts (scope, span, period, count)
    WHERE metric = 'clicks' AND dimension = 11;

-- The counts of four weeks and of the hours of the day, from those that are stored.
INSERT INTO counts (scope, campaign, dimension, span, period, value, metric, count)
SELECT scope, campaign, dimension, 4, period - (period % 2419200000 + 2419200000) % 2419200000, value, metric, sum(count)
FROM counts WHERE span = 1 GROUP BY 1, 2, 3, 5, 6, 7;
INSERT INTO counts (scope, campaign, dimension, span, period, value, metric, count)
SELECT scope, '', 12, 0, 0, printf('%02d', (period / 3600000 % 24 + 24) % 24), metric, sum(count)
FROM counts WHERE campaign = '' AND dimension = 0 AND span = 2 AND metric NOT IN ('conversions', 'variance')
GROUP BY 1, 5, 6, 7;
INSERT INTO counts (scope, campaign, dimension, span, period, value, metric, count)
SELECT scope, '', 12, 4, period - (period % 2419200000 + 2419200000) % 2419200000, printf('%02d', (period / 3600000 % 24 + 24) % 24), metric, sum(count)
FROM counts WHERE campaign = '' AND dimension = 0 AND span = 2 AND metric NOT IN ('conversions', 'variance')
GROUP BY 1, 5, 6, 7;
INSERT INTO counts (scope, campaign, dimension, span, period, value, metric, count)
SELECT scope, '', 12, 1, period - (period % 86400000 + 86400000) % 86400000, printf('%02d', (period / 3600000 % 24 + 24) % 24), metric, sum(count)
FROM counts WHERE campaign = '' AND dimension = 0 AND span = 2 AND metric NOT IN ('conversions', 'variance')
GROUP BY 1, 5, 6, 7;
