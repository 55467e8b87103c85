-- Times are milliseconds since 1970, UTC. Words (source, platform, method, …) are those of the wire.
--
-- A scope is an app with its live or its test traffic: the app's number times two, plus one for test. Every
-- look at clicks begins with it, so that no app sees another's clicks and no live check sees a test click.
--
-- Keyed hashes are 16 bytes in two integers: the first, under the hash's name, is indexed; the second (`…_rest`)
-- is compared on the row. A short index entry keeps more of them on a page, and pages are what an insert costs.

-- Mobile apps; few, and read as a whole into memory.
CREATE TABLE apps (
    number INTEGER PRIMARY KEY,
    id_high INTEGER NOT NULL,
    id_low INTEGER NOT NULL,
    name TEXT NOT NULL UNIQUE,
    open_clicks INTEGER NOT NULL CHECK (open_clicks IN (0, 1)),
    window_seconds INTEGER,
    created_at INTEGER NOT NULL,
    UNIQUE (id_high, id_low)
) STRICT;

-- Origins whose pages may post clicks of an app, in the operator's order.
CREATE TABLE app_origins (
    app INTEGER NOT NULL REFERENCES apps (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    origin TEXT NOT NULL,
    PRIMARY KEY (app, position)
) STRICT, WITHOUT ROWID;

-- Where clicks of strangers may lead, in the operator's order.
CREATE TABLE app_destinations (
    app INTEGER NOT NULL REFERENCES apps (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    prefix TEXT NOT NULL,
    PRIMARY KEY (app, position)
) STRICT, WITHOUT ROWID;

-- API keys: the SHA-256 of each, never its text.
CREATE TABLE keys (
    number INTEGER PRIMARY KEY,
    id_high INTEGER NOT NULL,
    id_low INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('app', 'server', 'test', 'admin')),
    app INTEGER REFERENCES apps (number) ON DELETE CASCADE,
    label TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER,
    UNIQUE (id_high, id_low),
    CHECK ((kind = 'admin') = (app IS NULL))
) STRICT;

-- One row whose number moves with every change of apps and keys, whichever process makes it: a server compares
-- it, instead of reading all apps and keys, to see a key revoked beside it.
CREATE TABLE directory (
    version INTEGER NOT NULL
) STRICT;
INSERT INTO directory (version) VALUES (1);

CREATE TRIGGER app_created AFTER INSERT ON apps BEGIN UPDATE directory SET version = version + 1; END;
CREATE TRIGGER app_changed AFTER UPDATE ON apps BEGIN UPDATE directory SET version = version + 1; END;
CREATE TRIGGER app_deleted AFTER DELETE ON apps BEGIN UPDATE directory SET version = version + 1; END;
CREATE TRIGGER key_created AFTER INSERT ON keys BEGIN UPDATE directory SET version = version + 1; END;
CREATE TRIGGER key_changed AFTER UPDATE ON keys BEGIN UPDATE directory SET version = version + 1; END;
CREATE TRIGGER key_deleted AFTER DELETE ON keys BEGIN UPDATE directory SET version = version + 1; END;

-- What was clicked, by whom, and where it leads. The row id is the first half of the click's identifier, 48 bits
-- of milliseconds and a 16-bit counter: new clicks go to the end of the table, and a look by identifier needs no
-- index of its own.
CREATE TABLE clicks (
    id INTEGER PRIMARY KEY,
    id_low INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    clicked_at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    window_seconds INTEGER NOT NULL,
    -- The last millisecond of the window.
    expires_at INTEGER NOT NULL,
    destination TEXT NOT NULL,
    campaign_key TEXT,
    journey_id TEXT NOT NULL,
    source TEXT NOT NULL,
    raw_source TEXT,
    platform TEXT NOT NULL,
    os_version TEXT,
    metadata TEXT,
    is_robot INTEGER NOT NULL CHECK (is_robot IN (0, 1)),
    is_contradictory INTEGER NOT NULL CHECK (is_contradictory IN (0, 1)),
    visit INTEGER NOT NULL,
    visit_rest INTEGER NOT NULL,
    idempotency INTEGER,
    idempotency_rest INTEGER,
    -- The fingerprints that it can be found by, both words of each in 16 bytes, the lowest byte first: leads from
    -- the click to its rows in the two tables below.
    fingerprints BLOB NOT NULL CHECK (length(fingerprints) % 16 = 0)
) STRICT;

-- Retention walks along it: first it closes what expired, later it deletes it.
CREATE INDEX clicks_by_expiry ON clicks (expires_at);

-- Finds the click that a repeated post with an idempotency key repeats; posts without one pay nothing.
CREATE INDEX clicks_by_idempotency ON clicks (scope, idempotency) WHERE idempotency IS NOT NULL;

-- What a check looks into: the fingerprints of live clicks alone, several for a click where clients compute them
-- differently, so that it grows with the traffic of a window and not with history. Holds the visit, so that a
-- claim finds the same visitor's duplicates without reading clicks.
CREATE TABLE open_fingerprints (
    scope INTEGER NOT NULL,
    fingerprint INTEGER NOT NULL,
    clicked_at INTEGER NOT NULL,
    click INTEGER NOT NULL,
    fingerprint_rest INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    visit INTEGER NOT NULL,
    -- How the fingerprint was made; NULL when the caller brought it ready-made.
    form TEXT,
    weight REAL NOT NULL,
    PRIMARY KEY (scope, fingerprint, clicked_at, click)
) STRICT, WITHOUT ROWID;

-- Where they move when a click can be matched no more: tells a check that found nothing what became of the last
-- click with its fingerprint, and gives a caller without an install id the same answer again within the grace.
CREATE TABLE closed_fingerprints (
    scope INTEGER NOT NULL,
    fingerprint INTEGER NOT NULL,
    -- When it was claimed or expired; when it was clicked, for a robot's click and for one retired as a duplicate.
    closed_at INTEGER NOT NULL,
    click INTEGER NOT NULL,
    fingerprint_rest INTEGER NOT NULL,
    clicked_at INTEGER NOT NULL,
    -- The reason that a check gets.
    closed_as TEXT NOT NULL CHECK (closed_as IN ('already_claimed', 'expired', 'robot_click')),
    -- Who claimed it: here and not with the claim, because an index over callers would cost each claim a page.
    caller INTEGER,
    caller_rest INTEGER,
    PRIMARY KEY (scope, fingerprint, closed_at, click)
) STRICT, WITHOUT ROWID;

-- Which first launch consumed a click. The primary key is the promise that a click gives one match.
CREATE TABLE claims (
    click INTEGER PRIMARY KEY REFERENCES clicks (id) ON DELETE CASCADE,
    scope INTEGER NOT NULL,
    claimed_at INTEGER NOT NULL,
    method TEXT NOT NULL,
    confidence REAL,
    fingerprint INTEGER NOT NULL,
    fingerprint_rest INTEGER NOT NULL,
    install INTEGER,
    install_rest INTEGER,
    -- 1 when the answer was seen to fail on its way: the next check with this fingerprint gets it, once.
    is_undelivered INTEGER NOT NULL DEFAULT 0 CHECK (is_undelivered IN (0, 1))
) STRICT;

-- Gives an installation the same answer again.
CREATE INDEX claims_by_install ON claims (scope, install, claimed_at) WHERE install IS NOT NULL;

-- Answers waiting for the next check; nearly always empty.
CREATE INDEX undelivered_claims ON claims (scope, fingerprint) WHERE is_undelivered = 1;

-- Counts, moved in the transaction of what they count. A campaign of '' stands for all campaigns together; the
-- dimension 'total' has the value ''. Ordered so that the values of one span of time lie together.
CREATE TABLE counters (
    scope INTEGER NOT NULL,
    campaign TEXT NOT NULL,
    dimension TEXT NOT NULL,
    granularity TEXT NOT NULL CHECK (granularity IN ('all', 'day', 'hour')),
    -- The first millisecond of the span; 0 for 'all'.
    period INTEGER NOT NULL,
    value TEXT NOT NULL,
    clicks INTEGER NOT NULL,
    duplicates INTEGER NOT NULL,
    robots INTEGER NOT NULL,
    checks INTEGER NOT NULL,
    matches INTEGER NOT NULL,
    replays INTEGER NOT NULL,
    no_match_no_click INTEGER NOT NULL,
    no_match_expired INTEGER NOT NULL,
    no_match_already_claimed INTEGER NOT NULL,
    no_match_robot_click INTEGER NOT NULL,
    PRIMARY KEY (scope, campaign, dimension, granularity, period, value)
) STRICT, WITHOUT ROWID;

-- The most clicked campaigns of a span without reading the others, and the campaigns that a day knows.
CREATE INDEX top_campaigns ON counters (scope, granularity, period, clicks)
    WHERE dimension = 'total' AND campaign <> '';

-- Delays from click to first launch in bins, for quantiles without keeping delays.
CREATE TABLE install_delays (
    scope INTEGER NOT NULL,
    campaign TEXT NOT NULL,
    granularity TEXT NOT NULL CHECK (granularity IN ('all', 'day')),
    period INTEGER NOT NULL,
    bin INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (scope, campaign, granularity, period, bin)
) STRICT, WITHOUT ROWID;

-- Live clicks by the second and by the hour in which they expire: the hours to come and the seconds of this one
-- add up to the present figure, which therefore cannot drift.
CREATE TABLE live_clicks (
    scope INTEGER NOT NULL,
    span TEXT NOT NULL CHECK (span IN ('second', 'hour')),
    -- Seconds since 1970, or hours.
    expires_in INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (scope, span, expires_in)
) STRICT, WITHOUT ROWID;

-- Single values. `closed_before`: every click that expires earlier has been closed. `server_key`: by which the key
-- that the hashes were made with is known again. `failures`: how often the database failed and was opened anew.
CREATE TABLE progress (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
