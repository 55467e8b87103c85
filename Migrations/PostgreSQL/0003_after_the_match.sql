-- What is known after the match: click ids, Google Play's evidence.

-- Google Play's report on the installation, as `name=value&…` with Play's own names, and why it casts doubt on the match.
-- A further number of `counts.dimension` is 13, `play_finding`.
ALTER TABLE checks ADD COLUMN play text;
ALTER TABLE checks ADD COLUMN play_finding text;

-- The click ids of ad networks, such as `gclid`, as a JSON object; NULL for a click without any.
ALTER TABLE clicks ADD COLUMN click_ids text;
-- What is done with them: off, keep or answer.
ALTER TABLE apps ADD COLUMN click_ids text NOT NULL DEFAULT 'keep';

-- Postbacks.

-- The receivers of events. A row is never deleted: an app that has had an endpoint keeps its events.
CREATE TABLE postback_endpoints (
    -- The random half of the id, by which deliveries name the endpoint.
    id_low bigint PRIMARY KEY,
    id_high bigint NOT NULL,
    scope bigint NOT NULL,
    app_high bigint NOT NULL,
    app_low bigint NOT NULL,
    url text NOT NULL,
    types text NOT NULL,
    -- A template of the body; NULL for the body of Standard Webhooks.
    body text,
    created_at bigint NOT NULL,
    state text NOT NULL,
    -- Why it is held or disabled.
    reason text NOT NULL,
    -- The secret and the header fields, encrypted under the server key; empty for none.
    secret bytea NOT NULL,
    headers bytea NOT NULL,
    former_secret bytea NOT NULL,
    former_until bigint,
    -- The number of deliveries that have a number.
    sequence bigint NOT NULL,
    -- The failures since the last success, and the time of the first.
    failures bigint NOT NULL,
    failing_since bigint
);

-- What endpoints hear of, written in the transaction of each fact. The first half of an id is 48 bits of milliseconds and
-- 16 random bits.
CREATE TABLE outbox_events (
    scope bigint NOT NULL,
    id_high bigint NOT NULL,
    id_low bigint NOT NULL,
    type text NOT NULL,
    data text NOT NULL,
    -- The click that the event names, so that an erasure finds it.
    click bigint,
    PRIMARY KEY (scope, id_high, id_low)
);

-- One event on its way to one endpoint.
CREATE TABLE deliveries (
    endpoint bigint NOT NULL,
    id_high bigint NOT NULL,
    id_low bigint NOT NULL,
    -- 0 before the first attempt.
    sequence bigint NOT NULL,
    -- 0 pending, 1 delivered, 2 failed.
    state bigint NOT NULL,
    attempts bigint NOT NULL,
    due_at bigint NOT NULL,
    -- The last attempt and its answer.
    attempted_at bigint,
    status bigint,
    failure text,
    answer text,
    milliseconds bigint,
    PRIMARY KEY (endpoint, id_high, id_low)
);

CREATE INDEX due_deliveries ON deliveries (endpoint, due_at) WHERE state = 0;

-- Apple's postbacks.

CREATE TABLE apple_postbacks (
    -- Postbacks of SKAdNetwork and AdAttributionKit, and attributions of Apple Ads. Without values of persons.

    -- 48 bits of milliseconds and a counter, as in the numbers of clicks.
    number bigint PRIMARY KEY,
    -- skadnetwork, adattributionkit or apple_ads.
    framework text NOT NULL,
    version text,
    network text NOT NULL,
    -- The App Store's number of the advertised app, which need not be an app of this database.
    item text NOT NULL,
    -- The postback's own identifier.
    postback text NOT NULL,
    sequence bigint NOT NULL,
    did_win bigint NOT NULL,
    source text,
    conversion_type text,
    publisher text,
    fine_value bigint,
    coarse_value text,
    interaction text,
    country text,
    -- valid, invalid or unverifiable; production or development.
    verification text NOT NULL,
    environment text NOT NULL,
    -- 1 for the first verified postback with its identifier.
    counted bigint NOT NULL,
    received_at bigint NOT NULL,
    -- SHA-256 of the body.
    digest bytea NOT NULL,
    body text NOT NULL
);
CREATE UNIQUE INDEX apple_postback_bodies
    ON apple_postbacks (framework, network, postback, sequence, did_win, digest);
CREATE UNIQUE INDEX counted_apple_postbacks
    ON apple_postbacks (framework, network, postback, sequence, did_win, environment) WHERE counted = 1;

CREATE TABLE apple_probes (
    -- Requests that prove that a shop's domain leads to the receivers of postbacks; any server may receive one.

    nonce text PRIMARY KEY,
    -- SHA-256 of the sent body.
    digest bytea NOT NULL,
    expires_at bigint NOT NULL,
    -- 0 missing, 1 with the same bytes, 2 with others.
    arrival bigint NOT NULL
);

-- Events and what they are credited to. Further numbers of `counts.dimension` are 14 event, 15 event_source, 16
-- event_link, whose id stands in the column `campaign`, and 17 cohort.

CREATE TABLE attributed_installs (
    -- Matches with an installation id, from which the installation's events inherit: kept longer than clicks.

    scope bigint NOT NULL,
    -- A keyed hash of the installation id; NULL if an event has named the click of a match without one.
    install bigint,
    install_rest bigint,
    -- The number of the click, and the second half of its identifier.
    click bigint PRIMARY KEY,
    click_low bigint NOT NULL,
    campaign text,
    source text NOT NULL,
    -- The link's id as a text, because the link may be deleted.
    link text,
    variant text,
    method text NOT NULL,
    matched_at bigint NOT NULL,
    confidence double precision,
    is_guaranteed bigint NOT NULL,
    clicked_at bigint NOT NULL,
    click_ids text
);
CREATE INDEX matches_of_installs ON attributed_installs (scope, install, matched_at) WHERE install IS NOT NULL;
CREATE INDEX attributed_installs_by_time ON attributed_installs (matched_at);

CREATE TABLE events (
    -- What happened in apps after their installation.

    -- 48 bits of milliseconds and a counter, as in the numbers of checks.
    number bigint PRIMARY KEY,
    scope bigint NOT NULL,
    -- The sender's id; an id that was used again after 30 days has a suffix.
    event_id text NOT NULL,
    name text NOT NULL,
    occurred_at bigint NOT NULL,
    received_at bigint NOT NULL,
    -- Whether a server key sent it.
    is_verified bigint NOT NULL,
    -- In the currency's smallest units.
    amount bigint,
    currency text,
    -- The event_id of the purchase that a refund takes back.
    purchase text,
    -- A flat JSON object.
    properties text,
    -- Keyed hashes of the installation id and of the sender's own id of the user.
    install bigint,
    install_rest bigint,
    user_hash bigint,
    user_rest bigint,
    -- The click that the sender named.
    named_click bigint,
    named_low bigint,
    -- What the event is credited to, as in `attributed_installs`; NULL as long as it waits for a match.
    click bigint,
    click_low bigint,
    campaign text,
    source text,
    link text,
    variant text,
    method text,
    matched_at bigint,
    UNIQUE (scope, event_id)
);
CREATE INDEX events_of_installs ON events (scope, install, click) WHERE install IS NOT NULL;
CREATE INDEX events_of_users ON events (scope, user_hash, click) WHERE user_hash IS NOT NULL;
CREATE INDEX events_of_named_clicks ON events (scope, named_click, click) WHERE named_click IS NOT NULL;
CREATE INDEX events_of_clicks ON events (click, name) WHERE click IS NOT NULL;

-- The numbers of erased rows.
ALTER TABLE erasures ADD COLUMN events bigint NOT NULL DEFAULT 0;
ALTER TABLE erasures ADD COLUMN attributed_installs bigint NOT NULL DEFAULT 0;
