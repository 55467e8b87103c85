-- What is known after the match: click ids, Google Play's evidence.

-- Google Play's report on the installation, as `name=value&…` with Play's own names, and why it casts doubt on the match.
-- A further number of `counts.dimension` is 13, `play_finding`.
ALTER TABLE checks ADD COLUMN play TEXT;
ALTER TABLE checks ADD COLUMN play_finding TEXT;

-- The click ids of ad networks, such as `gclid`, as a JSON object; NULL for a click without any.
ALTER TABLE clicks ADD COLUMN click_ids TEXT;
-- What is done with them: off, keep or answer.
ALTER TABLE apps ADD COLUMN click_ids TEXT NOT NULL DEFAULT 'keep';

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
