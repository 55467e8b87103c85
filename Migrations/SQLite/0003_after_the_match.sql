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

-- Apple's postbacks.

CREATE TABLE apple_postbacks (
    -- Postbacks of SKAdNetwork and AdAttributionKit, and attributions of Apple Ads. Without values of persons.

    -- 48 bits of milliseconds and a counter, as in the numbers of clicks.
    number INTEGER PRIMARY KEY,
    -- skadnetwork, adattributionkit or apple_ads.
    framework TEXT NOT NULL,
    version TEXT,
    network TEXT NOT NULL,
    -- The App Store's number of the advertised app, which need not be an app of this database.
    item TEXT NOT NULL,
    -- The postback's own identifier.
    postback TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    did_win INTEGER NOT NULL,
    source TEXT,
    conversion_type TEXT,
    publisher TEXT,
    fine_value INTEGER,
    coarse_value TEXT,
    interaction TEXT,
    country TEXT,
    -- valid, invalid or unverifiable; production or development.
    verification TEXT NOT NULL,
    environment TEXT NOT NULL,
    -- 1 for the first verified postback with its identifier.
    counted INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    -- SHA-256 of the body.
    digest BLOB NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX apple_postback_bodies
    ON apple_postbacks (framework, network, postback, sequence, did_win, digest);
CREATE UNIQUE INDEX counted_apple_postbacks
    ON apple_postbacks (framework, network, postback, sequence, did_win, environment) WHERE counted = 1;

CREATE TABLE apple_probes (
    -- Requests that prove that a shop's domain leads to the receivers of postbacks; any server may receive one.

    nonce TEXT PRIMARY KEY,
    -- SHA-256 of the sent body.
    digest BLOB NOT NULL,
    expires_at INTEGER NOT NULL,
    -- 0 missing, 1 with the same bytes, 2 with others.
    arrival INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Events and what they are credited to. Further numbers of `counts.dimension` are 14 event, 15 event_source, 16
-- event_link, whose id stands in the column `campaign`, and 17 cohort.

CREATE TABLE attributed_installs (
    -- Matches with an installation id, from which the installation's events inherit: kept longer than clicks.

    scope INTEGER NOT NULL,
    -- A keyed hash of the installation id; NULL if an event has named the click of a match without one.
    install INTEGER,
    install_rest INTEGER,
    -- The number of the click, and the second half of its identifier.
    click INTEGER PRIMARY KEY,
    click_low INTEGER NOT NULL,
    campaign TEXT,
    source TEXT NOT NULL,
    -- The link's id as a text, because the link may be deleted.
    link TEXT,
    variant TEXT,
    method TEXT NOT NULL,
    matched_at INTEGER NOT NULL,
    confidence REAL,
    is_guaranteed INTEGER NOT NULL,
    clicked_at INTEGER NOT NULL,
    click_ids TEXT
) STRICT;
CREATE INDEX matches_of_installs ON attributed_installs (scope, install, matched_at) WHERE install IS NOT NULL;
CREATE INDEX attributed_installs_by_time ON attributed_installs (matched_at);

CREATE TABLE events (
    -- What happened in apps after their installation.

    -- 48 bits of milliseconds and a counter, as in the numbers of checks.
    number INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    -- The sender's id; an id that was used again after 30 days has a suffix.
    event_id TEXT NOT NULL,
    name TEXT NOT NULL,
    occurred_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    -- Whether a server key sent it.
    is_verified INTEGER NOT NULL,
    -- In the currency's smallest units.
    amount INTEGER,
    currency TEXT,
    -- The event_id of the purchase that a refund takes back.
    purchase TEXT,
    -- A flat JSON object.
    properties TEXT,
    -- Keyed hashes of the installation id and of the sender's own id of the user.
    install INTEGER,
    install_rest INTEGER,
    user_hash INTEGER,
    user_rest INTEGER,
    -- The click that the sender named.
    named_click INTEGER,
    named_low INTEGER,
    -- What the event is credited to, as in `attributed_installs`; NULL as long as it waits for a match.
    click INTEGER,
    click_low INTEGER,
    campaign TEXT,
    source TEXT,
    link TEXT,
    variant TEXT,
    method TEXT,
    matched_at INTEGER,
    UNIQUE (scope, event_id)
) STRICT;
CREATE INDEX events_of_installs ON events (scope, install, click) WHERE install IS NOT NULL;
CREATE INDEX events_of_users ON events (scope, user_hash, click) WHERE user_hash IS NOT NULL;
CREATE INDEX events_of_named_clicks ON events (scope, named_click, click) WHERE named_click IS NOT NULL;
CREATE INDEX events_of_clicks ON events (click, name) WHERE click IS NOT NULL;

-- The numbers of erased rows.
ALTER TABLE erasures ADD COLUMN events INTEGER NOT NULL DEFAULT 0;
ALTER TABLE erasures ADD COLUMN attributed_installs INTEGER NOT NULL DEFAULT 0;
