-- Times are milliseconds since 1970, UTC. Words (source, platform, method, …) are those of the wire.
--
-- A scope is an app with its live or its test traffic: the app's number times two, plus one for test traffic. Every
-- query of clicks begins with it, so that no app sees another's clicks and no live check sees a test click.
--
-- Keyed hashes are 16 bytes in two integers: the first, under the hash's name, is indexed; the second (`…_rest`) is
-- compared on the row. A short index entry keeps more of them on a page, and pages are what an insert costs.

CREATE TABLE apps (
    -- Mobile apps; few, and read as a whole into memory.

    number INTEGER PRIMARY KEY,
    id_high INTEGER NOT NULL,
    id_low INTEGER NOT NULL,
    name TEXT NOT NULL UNIQUE,
    open_clicks INTEGER NOT NULL CHECK (open_clicks IN (0, 1)),
    window_seconds INTEGER,
    created_at INTEGER NOT NULL,
    -- The language that the app falls back to where it has none of the device's.
    development_language TEXT,
    -- How the app wants matches made; see `apps set`.
    matching_rule TEXT NOT NULL DEFAULT 'probability',
    minimum_confidence REAL NOT NULL DEFAULT 0.7,
    on_ambiguity TEXT NOT NULL DEFAULT 'noMatch',
    uses_fingerprints INTEGER NOT NULL DEFAULT 1,
    default_link TEXT,
    UNIQUE (id_high, id_low)
) STRICT;

CREATE TABLE app_fields (
    -- Settings of an app that are lists, in the operator's order: `allowed_origins`, `destinations`, `localizations`, and
    -- what its links, stores and domain files need, under the names of the wire.

    app INTEGER NOT NULL REFERENCES apps (number) ON DELETE CASCADE,
    field TEXT NOT NULL,
    position INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (app, field, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
    -- API keys: the SHA-256 of each, never its text.

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

CREATE TABLE directory (
    -- One row whose number moves with every change of apps and keys, whichever process makes it: a server compares it,
    -- instead of reading all apps and keys, to see a key that another process revoked.

    version INTEGER NOT NULL
) STRICT;
INSERT INTO directory (version) VALUES (1);

CREATE TRIGGER app_created AFTER INSERT ON apps BEGIN UPDATE directory SET version = version + 1; END;
CREATE TRIGGER app_changed AFTER UPDATE ON apps BEGIN UPDATE directory SET version = version + 1; END;
CREATE TRIGGER app_deleted AFTER DELETE ON apps BEGIN UPDATE directory SET version = version + 1; END;
CREATE TRIGGER key_created AFTER INSERT ON keys BEGIN UPDATE directory SET version = version + 1; END;
CREATE TRIGGER key_changed AFTER UPDATE ON keys BEGIN UPDATE directory SET version = version + 1; END;
CREATE TRIGGER key_deleted AFTER DELETE ON keys BEGIN UPDATE directory SET version = version + 1; END;

CREATE TABLE clicks (
    -- What was clicked, by which visitor, and where it leads. The row id is the first half of the click's identifier, 48
    -- bits of milliseconds and a 16-bit counter: new clicks go to the end of the table, and a query by identifier needs no
    -- index of its own.

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
    -- Same for all posts of one visitor to one place: their clicks are retired together.
    visit INTEGER NOT NULL,
    visit_rest INTEGER NOT NULL,
    -- Same for a post that is sent again: the visit, with the campaign key and the journey id that the post brought.
    post INTEGER NOT NULL,
    post_rest INTEGER NOT NULL,
    idempotency INTEGER,
    idempotency_rest INTEGER,
    -- The hashes that the click can be found by, both words of each in 16 bytes, the lowest byte first: leads from the
    -- click to its rows in `click_index`.
    fingerprints BLOB NOT NULL CHECK (length(fingerprints) % 16 = 0),
    -- The canonical values that the browser sent, in words: they explain a fingerprint that found nothing.
    signals TEXT,
    -- Where the click came from, keyed, as far as its address tells: exactly, and the network around it.
    exact_address INTEGER,
    near_address INTEGER,
    -- The program in which the link was opened, for the match rate by browser.
    browser TEXT,
    -- Recognises one visitor's clicks; `click_index` loses it when a click is closed.
    visitor INTEGER,
    -- The link that was tapped, and which of its variants the visitor got. A link that was clicked is never deleted.
    link INTEGER,
    variant TEXT
) STRICT;

CREATE INDEX clicks_by_expiry
    -- Retention walks along it: first it closes what expired, later it deletes it.
    ON clicks (expires_at);

CREATE INDEX clicks_by_idempotency
    -- Finds the click that a repeated post with an idempotency key repeats; posts without one pay nothing.
    ON clicks (scope, idempotency) WHERE idempotency IS NOT NULL;

CREATE TABLE click_index (
    -- What a click is found by: fingerprints under each key and form, and advertising ids. Open rows are those of clicks
    -- that can be matched, closed ones those of clicks that no longer can. Both stand in one table, so that a claim moves a
    -- click within a page. A closed row tells a check that found nothing what became of the last click with its
    -- fingerprint, and gives a caller without an install id the same answer again within the grace.

    scope INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    -- 0 open, 1 closed.
    state INTEGER NOT NULL,
    -- Since when it is in this state. Open: clicked. Closed: claimed or expired; clicked, for a robot's click and for
    -- one that was retired as a duplicate.
    since INTEGER NOT NULL,
    click INTEGER NOT NULL,
    hash_rest INTEGER NOT NULL,
    -- Open rows alone: the last millisecond of the window, and the first word of the visit, by which a claim finds the
    -- same visitor's duplicates.
    expires_at INTEGER,
    visit INTEGER,
    -- Closed rows alone: when it was clicked, the first word of the caller who claimed it, and the reason that a check
    -- gets. The caller stands here and not with the claim, because an index over callers would cost each claim a page.
    clicked_at INTEGER,
    caller INTEGER,
    --
    -- No IN here: for three words SQLite would fill a table with them at every insert.
    closed_as TEXT CHECK (closed_as = 'already_claimed' OR closed_as = 'expired' OR closed_as = 'robot_click'),
    -- From here on: what an open click is weighed by; NULL where it is unknown. A closed row keeps its platform and form
    -- (as one number), weight and visitor, from which fingerprint sharing is counted.
    platform_form INTEGER,
    weight REAL,
    exact_address INTEGER,
    near_address INTEGER,
    visitor INTEGER,
    destination INTEGER,
    campaign INTEGER,
    os_release INTEGER,
    -- What the click's page reported of the screen, where the row's fingerprint does not contain it: 16 bits for each
    -- component, cut from a hash of its value, the width in pixels in the lowest, then the points; 0 for an unreported
    -- one. NULL where none was reported.
    signal_marks INTEGER,
    PRIMARY KEY (scope, hash, state, since, click)
) STRICT, WITHOUT ROWID;

CREATE TABLE click_addresses (
    -- Where clicks came from, as far as addresses tell: a row for each click that can be matched, by the network around its
    -- address. A check finds the clicks that agree with its own address, and how many others do.

    scope INTEGER NOT NULL,
    near_address INTEGER NOT NULL,
    clicked_at INTEGER NOT NULL,
    click INTEGER NOT NULL,
    exact_address INTEGER NOT NULL,
    -- The first four bytes of each of its hashes, the lowest first: rules out most clicks that a hash does not find.
    marks BLOB NOT NULL,
    PRIMARY KEY (scope, near_address, clicked_at, click)
) STRICT, WITHOUT ROWID;

CREATE TABLE claims (
    -- Which first launch consumed a click. The primary key is the promise that a click gives one match.

    click INTEGER PRIMARY KEY REFERENCES clicks (id) ON DELETE CASCADE,
    scope INTEGER NOT NULL,
    claimed_at INTEGER NOT NULL,
    method TEXT NOT NULL,
    confidence REAL,
    -- The hash that the launch was recognised by, one of the click's where it has one.
    hash INTEGER NOT NULL,
    hash_rest INTEGER NOT NULL,
    install INTEGER,
    install_rest INTEGER,
    -- 1 when the response was seen to fail on its way: the next check with this hash gets it, once.
    is_undelivered INTEGER NOT NULL DEFAULT 0 CHECK (is_undelivered IN (0, 1)),
    -- What else the response said, so that a repeated one says the same; and the caller who may have it again.
    competing_clicks INTEGER,
    is_campaign_only INTEGER NOT NULL DEFAULT 0,
    caller INTEGER,
    caller_rest INTEGER
) STRICT;

CREATE INDEX claims_by_install
    -- Gives an installation the same answer again.
    ON claims (scope, install, claimed_at) WHERE install IS NOT NULL;

CREATE INDEX undelivered_claims
    -- Responses waiting for the next check; nearly always empty.
    ON claims (scope, hash) WHERE is_undelivered = 1;

CREATE TABLE checks (
    -- How checks ended and what they were decided from: every match, and as many other checks as can be kept without harm.
    -- The row id is the first half of the check's identifier, made as those of clicks are: new rows go to the end of the
    -- table, and the oldest are deleted at its beginning. It has no index, because a record costs little only as long as it
    -- touches no other page.

    id INTEGER PRIMARY KEY,
    id_low INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    checked_at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    -- Of no match.
    reason TEXT,
    method TEXT,
    confidence REAL,
    is_campaign_only INTEGER NOT NULL,
    minimum_confidence REAL NOT NULL,
    organic_share REAL,
    -- Live clicks with the fingerprint.
    candidates INTEGER NOT NULL,
    -- The click that was returned, or the most likely one.
    click INTEGER,
    -- Its platform and form, as a number, and how its address compares with the launch's.
    platform_form INTEGER,
    agreement INTEGER,
    -- The most likely clicks: 8 bytes of each row id, the lowest first, and 2 of its share in 65535ths.
    shares BLOB,
    fingerprint INTEGER,
    fingerprint_rest INTEGER,
    exact_address INTEGER,
    near_address INTEGER,
    names_click INTEGER NOT NULL,
    has_install_id INTEGER NOT NULL,
    platform TEXT NOT NULL,
    os_release INTEGER,
    sdk_version TEXT,
    request_id TEXT,
    -- The first word of the caller's hash: tells a repetition from another launch.
    caller INTEGER,
    -- What the fingerprint alone made of the most likely click, where `confidence` does not say it: that is limited, and
    -- a certain match has one of its own.
    probability REAL,
    -- For how many checks the record stands: in a flood, for some of those that are left out too. NULL for itself alone.
    weight INTEGER,
    -- The first words of the launch's other fingerprints, where it had several: 8 bytes each, the lowest first.
    other_fingerprints BLOB,
    -- When the app was first installed, as the device reports it.
    first_installed_at INTEGER,
    -- What the client reported in addition to its fingerprint, as in `click_index`. NULL for nothing.
    signal_marks INTEGER
) STRICT;

CREATE TABLE counts (
    -- Counts, moved in the transaction of what they count. Ordered so that the values of one span of time lie together.

    scope INTEGER NOT NULL,
    -- '' for all campaigns together.
    campaign TEXT NOT NULL,
    -- `total` (its value is ''), `source`, `platform`, `os_version`, `method`; the bins of `time_to_install` and of
    -- `calibration`; the groups whose match rate is watched, `launch` and `click`: `ios/26.1/1.8.9`, `?` for what was not
    -- reported, `*` for others.
    dimension TEXT NOT NULL,
    -- `all`, `day`, `hour`; `quarter`, a quarter of a day, of watched groups alone, as long as the watch looks back.
    span TEXT NOT NULL,
    -- The first millisecond of the span; 0 for `all`.
    period INTEGER NOT NULL,
    value TEXT NOT NULL,
    -- `clicks`, `duplicates`, `robots`, `checks`, `matches`, `replays`, `no_match_` and a reason. A campaign's total has a
    -- row of `clicks` in each span, 0 too. Sums of probabilities are in millionths: of a total, `conversions` and
    -- `variance`; of a bin of `calibration`, `stated` and `expected`, beside its `launches` and those `correct`.
    metric TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (scope, campaign, dimension, span, period, value, metric)
) STRICT, WITHOUT ROWID;

CREATE INDEX top_campaigns
    -- The most clicked campaigns of a span without reading the others, and the campaigns that a day knows.
    ON counts (scope, span, period, count)
    WHERE metric = 'clicks' AND dimension = 'total' AND campaign <> '';

CREATE TABLE jobs (
    -- Background jobs that one process does for all processes of the database, and how far they are.

    name TEXT PRIMARY KEY,
    -- The process that is doing it, by a random number, and the time until which the others leave it alone.
    holder INTEGER NOT NULL,
    until INTEGER NOT NULL,
    -- `drift`: the end of the last evaluated span. `collisions`: when the last count ended. `clock`: when jobs last went
    -- by the wall clock.
    progress INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE drift_groups (
    -- How the watched groups were at the last evaluation. Each one replaces them, but for the alarms, which begin and end.

    scope INTEGER NOT NULL,
    side TEXT NOT NULL CHECK (side IN ('launch', 'click')),
    name TEXT NOT NULL,
    -- Of the newest seven days.
    trials INTEGER NOT NULL,
    matches INTEGER NOT NULL,
    -- NULL until there is a past to compare with.
    usual_rate REAL,
    -- Of the alarm that is on: when the rate fell, when that was detected, and to what it fell. NULL without one.
    since INTEGER,
    began INTEGER,
    fallen_rate REAL,
    PRIMARY KEY (scope, side, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX drift_alarms
    -- The alarms that are on, however many groups are watched; nearly always empty.
    ON drift_groups (scope, side, name) WHERE began IS NOT NULL;

CREATE TABLE live_clicks (
    -- Live clicks by the second and by the hour in which they expire: the hours to come and the seconds of this one add up
    -- to the current figure, which therefore cannot drift.

    scope INTEGER NOT NULL,
    span TEXT NOT NULL CHECK (span IN ('second', 'hour')),
    -- Seconds since 1970, or hours.
    expires_in INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (scope, span, expires_in)
) STRICT, WITHOUT ROWID;

CREATE TABLE figures (
    -- What background jobs worked out of an app, so that the statistics cost no count: each run replaces the figures of its
    -- report. The names are those of the report's type.

    scope INTEGER NOT NULL,
    report TEXT NOT NULL,
    name TEXT NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (scope, report, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE learnt_counters (
    -- What an app's traffic has taught: sums that fade with time; see the article on matching.

    scope INTEGER NOT NULL,
    family INTEGER NOT NULL,
    key INTEGER NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (scope, family, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE learning (
    -- Since when it has, and the time that the sums are relative to.

    scope INTEGER PRIMARY KEY,
    began_at INTEGER NOT NULL,
    landmark INTEGER NOT NULL
) STRICT;

CREATE TABLE links (
    -- Short links. The settings of one stand field by field, in the texts that every way in and out uses; here stands what
    -- a tap and a list query.

    number INTEGER PRIMARY KEY,
    id_high INTEGER NOT NULL,
    id_low INTEGER NOT NULL,
    app INTEGER NOT NULL REFERENCES apps (number) ON DELETE CASCADE,
    slug TEXT NOT NULL,
    campaign_key TEXT,
    -- Slug, title, campaign key and destinations in small letters, a line each.
    search_text TEXT NOT NULL,
    -- The first moment in which it leads nowhere any more.
    expires_at INTEGER,
    -- Of people, with live traffic.
    maximum_clicks INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    archived_at INTEGER,
    UNIQUE (id_high, id_low),
    -- Finds the link of a tap. Apps that share a host have no slug twice, which is checked when a link is created: they
    -- may come to share one later.
    UNIQUE (slug, app)
) STRICT;

CREATE INDEX links_by_app ON links (app);
CREATE INDEX links_by_campaign ON links (campaign_key) WHERE campaign_key IS NOT NULL;

CREATE TABLE link_fields (
    link INTEGER NOT NULL REFERENCES links (number) ON DELETE CASCADE,
    -- The field's name on the wire.
    field TEXT NOT NULL,
    position INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (link, field, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_by_tag ON link_fields (value, link) WHERE field = 'tags';

CREATE TABLE link_counts (
    -- What came of a link, moved in the transaction of what is counted: it decides how often the link may be clicked. A
    -- variant of '' stands for all of the link.

    link INTEGER NOT NULL REFERENCES links (number) ON DELETE CASCADE,
    variant TEXT NOT NULL,
    clicks INTEGER NOT NULL,
    robots INTEGER NOT NULL,
    -- Clicks with test keys, robots' too.
    tests INTEGER NOT NULL,
    matches INTEGER NOT NULL,
    PRIMARY KEY (link, variant)
) STRICT, WITHOUT ROWID;

CREATE TABLE former_server_keys (
    -- Server keys that were replaced, as long as anything may be stored under them. `server_key` in `progress` is the check
    -- value of the current one.
    -- Recognises the key.

    key_check INTEGER PRIMARY KEY,
    replaced_at INTEGER NOT NULL
) STRICT;

CREATE TABLE address_days (
    -- Until when a click with an address that came on a day can be matched, rounded up to the hour: so long the day's key is
    -- kept. Days since 1970.

    day INTEGER PRIMARY KEY,
    needed_until INTEGER NOT NULL
) STRICT;

CREATE TABLE progress (
    -- Single values. `closed_before`: every click that expires earlier has been closed. `server_key`: recognises the key
    -- that the hashes were made with. `failures`: how often the database failed and was reopened.

    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
