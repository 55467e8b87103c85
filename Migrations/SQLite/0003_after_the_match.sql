-- What is known after the match: click ids, Google Play's evidence.

-- Google Play's report on the installation, as `name=value&…` with Play's own names, and why it casts doubt on the match.
-- A further number of `counts.dimension` is 13, `play_finding`.
ALTER TABLE checks ADD COLUMN play TEXT;
ALTER TABLE checks ADD COLUMN play_finding TEXT;

-- The click ids of ad networks, such as `gclid`, as a JSON object; NULL for a click without any.
ALTER TABLE clicks ADD COLUMN click_ids TEXT;
-- What is done with them: off, keep or answer.
ALTER TABLE apps ADD COLUMN click_ids TEXT NOT NULL DEFAULT 'keep';

-- Postbacks.

CREATE TABLE postback_endpoints (
    -- The receivers of events. A row is never deleted: an app that has had an endpoint keeps its events.

    -- The random half of the id, by which deliveries name the endpoint.
    id_low INTEGER PRIMARY KEY,
    id_high INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    app_high INTEGER NOT NULL,
    app_low INTEGER NOT NULL,
    url TEXT NOT NULL,
    types TEXT NOT NULL,
    -- A template of the body; NULL for the body of Standard Webhooks.
    body TEXT,
    created_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    -- Why it is held or disabled.
    reason TEXT NOT NULL,
    -- The secret and the header fields, encrypted under the server key; empty for none.
    secret BLOB NOT NULL,
    headers BLOB NOT NULL,
    former_secret BLOB NOT NULL,
    former_until INTEGER,
    -- The number of deliveries that have a number.
    sequence INTEGER NOT NULL,
    -- The failures since the last success, and the time of the first.
    failures INTEGER NOT NULL,
    failing_since INTEGER
) STRICT;

CREATE TABLE outbox_events (
    -- What endpoints hear of, written in the transaction of each fact. The first half of an id is 48 bits of milliseconds
    -- and 16 random bits.

    scope INTEGER NOT NULL,
    id_high INTEGER NOT NULL,
    id_low INTEGER NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    -- The click that the event names, so that an erasure finds it.
    click INTEGER,
    PRIMARY KEY (scope, id_high, id_low)
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (
    -- One event on its way to one endpoint.

    endpoint INTEGER NOT NULL,
    id_high INTEGER NOT NULL,
    id_low INTEGER NOT NULL,
    -- 0 before the first attempt.
    sequence INTEGER NOT NULL,
    -- 0 pending, 1 delivered, 2 failed.
    state INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    -- The last attempt and its answer.
    attempted_at INTEGER,
    status INTEGER,
    failure TEXT,
    answer TEXT,
    milliseconds INTEGER,
    PRIMARY KEY (endpoint, id_high, id_low)
) STRICT, WITHOUT ROWID;

CREATE INDEX due_deliveries ON deliveries (endpoint, due_at) WHERE state = 0;
