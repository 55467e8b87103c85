-- Keys of kind `read`. A CHECK cannot be changed, so the table is made again.
ALTER TABLE keys RENAME TO former_keys;

CREATE TABLE keys (
    -- API keys: the SHA-256 of each, never its text.

    number INTEGER PRIMARY KEY,
    id_high INTEGER NOT NULL,
    id_low INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('app', 'server', 'test', 'admin', 'read')),
    app INTEGER REFERENCES apps (number) ON DELETE CASCADE,
    label TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER,
    UNIQUE (id_high, id_low),
    -- A read key without an app is one for all apps.
    CHECK (kind = 'read' OR (kind = 'admin') = (app IS NULL))
) STRICT;

INSERT INTO keys SELECT * FROM former_keys;

DROP TABLE former_keys;

CREATE TRIGGER key_created AFTER INSERT ON keys BEGIN UPDATE directory SET version = version + 1; END;

CREATE TRIGGER key_changed AFTER UPDATE ON keys BEGIN UPDATE directory SET version = version + 1; END;

CREATE TRIGGER key_deleted AFTER DELETE ON keys BEGIN UPDATE directory SET version = version + 1; END;

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

CREATE TABLE dashboard_address (
    -- Where the server of this file answers the dashboard, as it wrote at its last start; no row without a dashboard.

    url TEXT NOT NULL
) STRICT;

CREATE TABLE audit_log (
    -- Every change by the dashboard, the admin API and commands, written in the transaction of the change. The first half of
    -- an id is 48 bits of milliseconds and 16 bits that order the entries of one millisecond.

    id_high INTEGER NOT NULL,
    id_low INTEGER NOT NULL,
    actor_kind TEXT NOT NULL,
    -- The id of the key or the name of the system's user; empty for a session of a one-time link.
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    -- The ids of the app and of what was changed as texts, because both may be deleted.
    app TEXT,
    subject TEXT NOT NULL,
    -- The changed fields as JSON objects; no secrets.
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    PRIMARY KEY (id_high, id_low)
) STRICT, WITHOUT ROWID;

CREATE TABLE erasures (
    -- Records of erasures, without anything of what was erased; deleted after three years.

    id_high INTEGER NOT NULL,
    id_low INTEGER NOT NULL,
    erased_at INTEGER NOT NULL,
    app_high INTEGER NOT NULL,
    app_low INTEGER NOT NULL,
    -- The kind of value that named the rows: click_id, fingerprint, install_id or address.
    kind TEXT NOT NULL,
    -- The key, session or command that asked for it.
    actor TEXT NOT NULL,
    -- The numbers of deleted rows by table.
    clicks INTEGER NOT NULL,
    click_index INTEGER NOT NULL,
    click_addresses INTEGER NOT NULL,
    claims INTEGER NOT NULL,
    checks INTEGER NOT NULL,
    learnt_counters INTEGER NOT NULL,
    PRIMARY KEY (id_high, id_low)
) STRICT, WITHOUT ROWID;

CREATE TABLE erased_rows (
    -- The erased clicks and checks by their random identifiers, so that exports can name them; deleted after three years.

    -- 48 bits of milliseconds and a counter: exports read the rows in the order in which they were erased.
    number INTEGER PRIMARY KEY,
    table_name TEXT NOT NULL CHECK (table_name IN ('clicks', 'checks')),
    id INTEGER NOT NULL,
    id_low INTEGER NOT NULL,
    app_high INTEGER NOT NULL,
    app_low INTEGER NOT NULL,
    erased_at INTEGER NOT NULL
) STRICT;

-- The longest windows of an app by method; NULL for the clicks' own windows. Rows of clicks keep those.
ALTER TABLE apps ADD COLUMN fingerprint_window_seconds INTEGER;
ALTER TABLE apps ADD COLUMN deterministic_window_seconds INTEGER;
