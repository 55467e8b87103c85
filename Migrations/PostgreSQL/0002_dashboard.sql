-- Keys of kind `read`. A read key without an app is one for all apps.
ALTER TABLE keys DROP CONSTRAINT keys_kind_check, DROP CONSTRAINT keys_check,
    ADD CONSTRAINT keys_kind_check CHECK (kind IN ('app', 'server', 'test', 'admin', 'read')),
    ADD CONSTRAINT keys_check CHECK (kind = 'read' OR (kind = 'admin') = (app IS NULL));

CREATE TABLE dashboard_sessions (
    -- The sessions of the dashboard: the SHA-256 of each cookie, never its text.

    digest bytea NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    -- The key that signed in; NULL for a session that a one-time link started.
    key_high bigint,
    key_low bigint,
    created_at bigint NOT NULL,
    -- When the session was last used, at most a minute too early.
    used_at bigint NOT NULL,
    expires_at bigint NOT NULL
);

CREATE TABLE sign_in_links (
    -- The links that start one session each: the SHA-256 of each secret, never its text. A link is deleted by its use.

    digest bytea NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    expires_at bigint NOT NULL
);

-- The hours by which the days of an app's reports begin before those of UTC.
ALTER TABLE apps ADD COLUMN reporting_offset bigint NOT NULL DEFAULT 0;

CREATE INDEX top_links
    -- Finds the most clicked links of a span, as `top_campaigns` finds campaigns. Further numbers of `dimension` are 10
    -- browser, 11 link, whose id stands in the column `campaign`, and 12 hour of the day. Browsers are stored with their
    -- version. A further number of `span` is 4, four weeks.
    ON counts (scope, span, period)
    WHERE metric = 'clicks' AND dimension = 11;

-- The counts of four weeks and of the hours of the day, from those that are stored.
INSERT INTO counts (scope, campaign, dimension, span, period, value, metric, count)
SELECT scope, campaign, dimension, 4, period - (period % 2419200000 + 2419200000) % 2419200000, value, metric, sum(count)
FROM counts WHERE span = 1 GROUP BY 1, 2, 3, 5, 6, 7;
INSERT INTO counts (scope, campaign, dimension, span, period, value, metric, count)
SELECT scope, '', 12, 0, 0, lpad(((period / 3600000 % 24 + 24) % 24)::text, 2, '0'), metric, sum(count)
FROM counts WHERE campaign = '' AND dimension = 0 AND span = 2 AND metric NOT IN ('conversions', 'variance')
GROUP BY 1, 5, 6, 7;
INSERT INTO counts (scope, campaign, dimension, span, period, value, metric, count)
SELECT scope, '', 12, 4, period - (period % 2419200000 + 2419200000) % 2419200000, lpad(((period / 3600000 % 24 + 24) % 24)::text, 2, '0'), metric, sum(count)
FROM counts WHERE campaign = '' AND dimension = 0 AND span = 2 AND metric NOT IN ('conversions', 'variance')
GROUP BY 1, 5, 6, 7;
INSERT INTO counts (scope, campaign, dimension, span, period, value, metric, count)
SELECT scope, '', 12, 1, period - (period % 86400000 + 86400000) % 86400000, lpad(((period / 3600000 % 24 + 24) % 24)::text, 2, '0'), metric, sum(count)
FROM counts WHERE campaign = '' AND dimension = 0 AND span = 2 AND metric NOT IN ('conversions', 'variance')
GROUP BY 1, 5, 6, 7;

-- Where the server answers the dashboard; empty without one.
ALTER TABLE servers ADD COLUMN dashboard text NOT NULL DEFAULT '';

CREATE TABLE audit_log (
    -- Every change by the dashboard, the admin API and commands, written in the transaction of the change. The first half of
    -- an id is 48 bits of milliseconds and 16 bits that order the entries of one millisecond.

    id_high bigint NOT NULL,
    id_low bigint NOT NULL,
    actor_kind text NOT NULL,
    -- The id of the key or the name of the system's user; empty for a session of a one-time link.
    actor text NOT NULL,
    action text NOT NULL,
    -- The ids of the app and of what was changed as texts, because both may be deleted.
    app text,
    subject text NOT NULL,
    -- The changed fields as JSON objects; no secrets.
    before text NOT NULL,
    after text NOT NULL,
    PRIMARY KEY (id_high, id_low)
);

CREATE TABLE erasures (
    -- Records of erasures, without anything of what was erased; deleted after three years.

    id_high bigint NOT NULL,
    id_low bigint NOT NULL,
    erased_at bigint NOT NULL,
    app_high bigint NOT NULL,
    app_low bigint NOT NULL,
    -- The kind of value that named the rows: click_id, fingerprint, install_id or address.
    kind text NOT NULL,
    -- The key, session or command that asked for it.
    actor text NOT NULL,
    -- The numbers of deleted rows by table.
    clicks bigint NOT NULL,
    click_index bigint NOT NULL,
    click_addresses bigint NOT NULL,
    claims bigint NOT NULL,
    checks bigint NOT NULL,
    learnt_counters bigint NOT NULL,
    PRIMARY KEY (id_high, id_low)
);

CREATE TABLE erased_rows (
    -- The erased clicks and checks by their random identifiers, so that exports can name them; deleted after three years.

    -- 48 bits of milliseconds and a counter: exports read the rows in the order in which they were erased.
    number bigint PRIMARY KEY,
    table_name text NOT NULL CHECK (table_name IN ('clicks', 'checks')),
    id bigint NOT NULL,
    id_low bigint NOT NULL,
    app_high bigint NOT NULL,
    app_low bigint NOT NULL,
    erased_at bigint NOT NULL
);

-- The longest windows of an app by method; NULL for the clicks' own windows. Rows of clicks keep those.
ALTER TABLE apps ADD COLUMN fingerprint_window_seconds bigint;
ALTER TABLE apps ADD COLUMN deterministic_window_seconds bigint;

CREATE TABLE buckets (
    -- The buckets of the large tables. Statements that read every bucket join this table, which Citus distributes like
    -- the large ones: so each shard answers for its own buckets.

    b smallint PRIMARY KEY
);
INSERT INTO buckets SELECT generate_series(0, 63);
ANALYZE buckets;
