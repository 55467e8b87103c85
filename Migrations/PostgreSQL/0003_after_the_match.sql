-- What is known after the match: click ids, Google Play's evidence.

-- Google Play's report on the installation, as `name=value&…` with Play's own names, and why it casts doubt on the match.
-- A further number of `counts.dimension` is 13, `play_finding`.
ALTER TABLE checks ADD COLUMN play text;
ALTER TABLE checks ADD COLUMN play_finding text;

-- The click ids of ad networks, such as `gclid`, as a JSON object; NULL for a click without any.
ALTER TABLE clicks ADD COLUMN click_ids text;
-- What is done with them: off, keep or answer.
ALTER TABLE apps ADD COLUMN click_ids text NOT NULL DEFAULT 'keep';

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
