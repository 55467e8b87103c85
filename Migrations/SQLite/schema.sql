-- The schema that all migrations make. A test writes this file: change a migration instead.

-- Times are milliseconds since 1970, UTC. Words (source, platform, method, …) are those of the HTTP API.
--
-- A scope is an app's live traffic or its test traffic: the app's number times two, plus one for test traffic. Every
-- query of clicks names the scope first, so that no app sees another's clicks and no live check sees a test click.
-- A check is the request of a first launch, which may match a click.
--
-- A keyed hash has 16 bytes, stored as two integers. The first integer has the hash's name and is indexed. The second
-- (`…_rest`) is compared after the row is found. So an index entry is short and a page contains more entries; the
-- number of pages that an insert writes determines its cost.

CREATE TABLE migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    digest BLOB NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;

CREATE TABLE apps (
    -- Mobile apps. They are few: a server reads the whole table into memory.

    number INTEGER PRIMARY KEY,
    id_high INTEGER NOT NULL,
    id_low INTEGER NOT NULL,
    name TEXT NOT NULL UNIQUE,
    open_clicks INTEGER NOT NULL CHECK (open_clicks IN (0, 1)),
    window_seconds INTEGER,
    created_at INTEGER NOT NULL,
    -- The language in which the app runs if it supports none of the device's languages.
    development_language TEXT,
    -- How launches of the app are matched; see `afterlink apps set`.
    matching_rule TEXT NOT NULL DEFAULT 'probability',
    minimum_confidence REAL NOT NULL DEFAULT 0.7,
    on_ambiguity TEXT NOT NULL DEFAULT 'noMatch',
    uses_fingerprints INTEGER NOT NULL DEFAULT 1,
    default_link TEXT, reporting_offset INTEGER NOT NULL DEFAULT 0, fingerprint_window_seconds INTEGER, deterministic_window_seconds INTEGER, click_ids TEXT NOT NULL DEFAULT 'keep',
    UNIQUE (id_high, id_low)
) STRICT;

CREATE TABLE app_fields (
    -- Settings of an app that are lists, in the operator's order: `allowed_origins`, `destinations`, `localizations`, and
    -- the settings of links, stores and domain files. `field` is the setting's name in the HTTP API.

    app INTEGER NOT NULL REFERENCES apps (number) ON DELETE CASCADE,
    field TEXT NOT NULL,
    position INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (app, field, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE directory (
    -- One row with a number that grows with every change of apps and keys, by any process. A server compares this number
    -- to notice changes of other processes, such as a revoked key, without reading all apps and keys.

    version INTEGER NOT NULL
) STRICT;

CREATE TRIGGER app_created AFTER INSERT ON apps BEGIN UPDATE directory SET version = version + 1; END;

CREATE TRIGGER app_changed AFTER UPDATE ON apps BEGIN UPDATE directory SET version = version + 1; END;

CREATE TRIGGER app_deleted AFTER DELETE ON apps BEGIN UPDATE directory SET version = version + 1; END;

CREATE TABLE clicks (
    -- Recorded clicks. The row id is the first half of the click's identifier: 48 bits of milliseconds and a 16-bit
    -- counter. So new clicks go to the end of the table, and a query by identifier needs no index.

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
    -- The hash of a visitor and of what they tapped (short link or destination). A claim of a click also closes the
    -- clicks with the same visit in the ten minutes before it.
    visit INTEGER NOT NULL,
    visit_rest INTEGER NOT NULL,
    -- The hash of the visit with the post's campaign key and journey id: a post that is sent again has the same hash.
    post INTEGER NOT NULL,
    post_rest INTEGER NOT NULL,
    idempotency INTEGER,
    idempotency_rest INTEGER,
    -- The hashes of the click's rows in `click_index`: 16 bytes each, first integer first, lowest byte first.
    fingerprints BLOB NOT NULL CHECK (length(fingerprints) % 16 = 0),
    -- The canonical values that the browser sent, as text. They explain why a launch's fingerprint found no click.
    signals TEXT,
    -- Keyed hashes of the click's IP address (of IPv6, the first 64 bits) and of the network around it. NULL for shared
    -- and private addresses.
    exact_address INTEGER,
    near_address INTEGER,
    -- The browser, or the app with a built-in browser, that opened the link; for the match rate by browser.
    browser TEXT,
    -- The hash of the visitor's exact address and user agent, or of the user agent alone if `exact_address` is NULL.
    visitor INTEGER,
    -- The short link that was tapped, and the variant that the visitor got. A link with clicks is never deleted.
    link INTEGER,
    variant TEXT
, click_ids TEXT) STRICT;

CREATE INDEX clicks_by_expiry
    -- The retention job reads clicks in this order: it closes expired clicks, and deletes them later.
    ON clicks (expires_at);

CREATE INDEX clicks_by_idempotency
    -- Finds the click of an earlier post with the same idempotency key. Posts without a key have no entry, so no cost.
    ON clicks (scope, idempotency) WHERE idempotency IS NOT NULL;

CREATE TABLE click_index (
    -- The hashes by which checks find clicks: fingerprints under each key and form (the choice of signals that a
    -- fingerprint contains), and advertising ids. Rows of clicks that can be matched are open, the others closed. Both
    -- kinds are in one table, so that a claim moves a row within a page. From a closed row, a check without a match gets
    -- its reason, and a caller without an install id gets the same answer again within the replay grace.

    scope INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    -- 0 for open, 1 for closed.
    state INTEGER NOT NULL,
    -- The start of the state: for an open row, the time of the click; for a closed row, the time of its claim or expiry,
    -- or the time of the click if a robot clicked or the click was closed as a duplicate.
    since INTEGER NOT NULL,
    click INTEGER NOT NULL,
    hash_rest INTEGER NOT NULL,
    -- Only in open rows: the last millisecond of the window, and the first integer of the visit's hash, by which a claim
    -- finds the visitor's duplicate clicks.
    expires_at INTEGER,
    visit INTEGER,
    -- Only in closed rows: the time of the click, the first integer of the hash of the caller that claimed it, and the
    -- reason for a check without a match. An index of `claims` by caller would cost each claim another page.
    clicked_at INTEGER,
    caller INTEGER,
    --
    -- This uses no IN: with three words in IN, SQLite would create a temporary table at every insert.
    closed_as TEXT CHECK (closed_as = 'already_claimed' OR closed_as = 'expired' OR closed_as = 'robot_click'),
    -- The remaining columns are the evidence for or against an open click; NULL if unknown. A closed row retains only
    -- platform and form (as one number), weight and visitor, to count the visitors that share a fingerprint.
    platform_form INTEGER,
    weight REAL,
    exact_address INTEGER,
    near_address INTEGER,
    visitor INTEGER,
    destination INTEGER,
    campaign INTEGER,
    os_release INTEGER,
    -- Hashes of screen values that the click's page reported and the row's fingerprint does not contain. Each has 16
    -- bits, 0 for a missing value: bits 0 to 15 for the width, bits 16 to 31 for the screen. NULL if both are missing.
    signal_marks INTEGER,
    PRIMARY KEY (scope, hash, state, since, click)
) STRICT, WITHOUT ROWID;

CREATE TABLE click_addresses (
    -- The address hashes of each click that can be matched, ordered by network. With them, a check finds the clicks from
    -- its own address or network, and counts all clicks from there.

    scope INTEGER NOT NULL,
    near_address INTEGER NOT NULL,
    clicked_at INTEGER NOT NULL,
    click INTEGER NOT NULL,
    exact_address INTEGER NOT NULL,
    -- The lowest four bytes of the first integer of each of the click's hashes. They rule out most clicks without a
    -- searched hash.
    marks BLOB NOT NULL,
    PRIMARY KEY (scope, near_address, clicked_at, click)
) STRICT, WITHOUT ROWID;

CREATE TABLE claims (
    -- The first launches that consumed clicks. The primary key ensures that a click gives only one match.

    click INTEGER PRIMARY KEY REFERENCES clicks (id) ON DELETE CASCADE,
    scope INTEGER NOT NULL,
    claimed_at INTEGER NOT NULL,
    method TEXT NOT NULL,
    confidence REAL,
    -- A hash of the launch, if possible one that the click has too; 0 for a launch without hashes.
    hash INTEGER NOT NULL,
    hash_rest INTEGER NOT NULL,
    install INTEGER,
    install_rest INTEGER,
    -- 1 if the response could not be delivered: the next check with this hash gets the answer, once.
    is_undelivered INTEGER NOT NULL DEFAULT 0 CHECK (is_undelivered IN (0, 1)),
    -- The other contents of the response, so that a repeated response is equal; and the caller that may get it again.
    competing_clicks INTEGER,
    is_campaign_only INTEGER NOT NULL DEFAULT 0,
    caller INTEGER,
    caller_rest INTEGER
) STRICT;

CREATE INDEX claims_by_install
    -- Finds the earlier claim of an installation, which then gets the same answer again.
    ON claims (scope, install, claimed_at) WHERE install IS NOT NULL;

CREATE INDEX undelivered_claims
    -- Claims with an undelivered response, which the next check gets. This index is nearly always empty.
    ON claims (scope, hash) WHERE is_undelivered = 1;

CREATE TABLE checks (
    -- Results of checks and the evidence that decided them: every match, and a limited number of other checks. The row id
    -- is the first half of the check's identifier, as in `clicks`. So new rows go to the end of the table, and
    -- the oldest are deleted at its start. The table has no index, because an index would cost each row another page.

    id INTEGER PRIMARY KEY,
    id_low INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    checked_at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    -- The reason for no match; NULL for a match.
    reason TEXT,
    method TEXT,
    confidence REAL,
    is_campaign_only INTEGER NOT NULL,
    minimum_confidence REAL NOT NULL,
    organic_share REAL,
    -- The number of live clicks with the launch's fingerprint.
    candidates INTEGER NOT NULL,
    -- The click that was returned, or the most likely one.
    click INTEGER,
    -- That click's platform and fingerprint form, as one number, and how its address compares with the launch's.
    platform_form INTEGER,
    agreement INTEGER,
    -- The most likely clicks: for each, 8 bytes of row id and 2 bytes of probability in 65535ths, lowest byte first.
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
    -- The first integer of the caller's hash, which distinguishes a repeated check from another launch.
    caller INTEGER,
    -- The probability of the most likely click by fingerprint; NULL if it equals `confidence`. It differs if the
    -- confidence was capped, or if the match is certain and so has a fixed confidence.
    probability REAL,
    -- The number of checks that the row stands for, NULL for 1. Under load, some checks get no row of their own.
    weight INTEGER,
    -- The first integers of the launch's other fingerprints: 8 bytes each, lowest byte first. NULL if it had only one.
    other_fingerprints BLOB,
    -- The time of the app's first installation, as the device reported it.
    first_installed_at INTEGER,
    -- The signals that the client reported in addition to its fingerprint, in the format of `click_index`.
    signal_marks INTEGER
, play TEXT, play_finding TEXT) STRICT;

CREATE TABLE counts (
    -- Counts of clicks and checks, updated in the transaction that records them. The values of one period are adjacent.

    scope INTEGER NOT NULL,
    -- '' for the sum of all campaigns.
    campaign TEXT NOT NULL,
    -- A number, because numbers compare faster than words, and every event changes dozens of counts: 0 the total (its
    -- value is ''), 2 source, 3 platform, 4 os_version, 5 method; 6 time to install and 7 calibration, with bins as
    -- values; 8 launch and 9 click, whose values are the groups with a monitored match rate, such as `ios/26.1/1.8.9`. In
    -- a group's name, `?` stands for an unreported part and `*` for all other values.
    dimension INTEGER NOT NULL,
    -- 0 all time, 1 a day, 2 an hour; or 3, a quarter of a day, only for groups with a monitored match rate.
    span INTEGER NOT NULL,
    -- The time at which the span starts; 0 for all time.
    period INTEGER NOT NULL,
    value TEXT NOT NULL,
    -- `clicks`, `duplicates`, `robots`, `checks`, `matches`, `replays`, or `no_match_` with a reason. A campaign's total
    -- has a row of `clicks` for each span, even if it is 0. Sums of probabilities are in millionths: `conversions` and
    -- `variance` of a total, `stated` and `expected` of a bin. A bin also counts `launches` and `correct` matches.
    metric TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (scope, campaign, dimension, span, period, value, metric)
) STRICT, WITHOUT ROWID;

CREATE INDEX top_campaigns
    -- Finds the most clicked campaigns of a span without reading the others, and all campaigns of a day.
    ON counts (scope, span, period, count)
    WHERE metric = 'clicks' AND dimension = 0 AND campaign <> '';

CREATE TABLE jobs (
    -- Background jobs that one process runs for all processes of the database, and their progress.

    name TEXT PRIMARY KEY,
    -- The random number of the process that runs the job, and the time until which no other process may run it.
    holder INTEGER NOT NULL,
    until INTEGER NOT NULL,
    -- For `drift`, the end of the last evaluated span; for `collisions`, the end of the last count; for `clock`, the
    -- last time at which jobs trusted the wall clock.
    progress INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE drift_groups (
    -- The groups with a monitored match rate. Each evaluation replaces all values except those of a continuing alarm.

    scope INTEGER NOT NULL,
    side TEXT NOT NULL CHECK (side IN ('launch', 'click')),
    name TEXT NOT NULL,
    -- The launches or clicks of the newest seven days, and their matches.
    trials INTEGER NOT NULL,
    matches INTEGER NOT NULL,
    -- The match rate of the days before, 0 to 1; NULL until there are enough of these days.
    usual_rate REAL,
    -- When the rate fell, when the drop was detected, and the rate between those times. NULL if there is no alarm.
    since INTEGER,
    began INTEGER,
    fallen_rate REAL,
    PRIMARY KEY (scope, side, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX drift_alarms
    -- Finds the groups with an alarm without reading the others. This index is nearly always empty.
    ON drift_groups (scope, side, name) WHERE began IS NOT NULL;

CREATE TABLE live_clicks (
    -- Numbers of live clicks by the second and by the hour in which they expire. The current number is the sum of the
    -- later hours and of the remaining seconds of this hour, so errors cannot accumulate.

    scope INTEGER NOT NULL,
    span TEXT NOT NULL CHECK (span IN ('second', 'hour')),
    -- Seconds or hours since 1970, by `span`.
    expires_in INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (scope, span, expires_in)
) STRICT, WITHOUT ROWID;

CREATE TABLE figures (
    -- Results of background jobs for an app, so that a request of statistics counts nothing. Each run of a job replaces
    -- the values of its report. The report's Swift type defines the names.

    scope INTEGER NOT NULL,
    report TEXT NOT NULL,
    name TEXT NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (scope, report, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE learnt_counters (
    -- Sums that the matching model has learnt from an app's traffic. They fade with time; see the article on matching.

    scope INTEGER NOT NULL,
    family INTEGER NOT NULL,
    key INTEGER NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (scope, family, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE learning (
    -- When the model of an app began to learn, and the time to which the sums in `learnt_counters` are scaled.

    scope INTEGER PRIMARY KEY,
    began_at INTEGER NOT NULL,
    landmark INTEGER NOT NULL
) STRICT;

CREATE TABLE links (
    -- Short links, with the columns that a tap or a list of links queries. All settings of a link, including some of
    -- these, are in `link_fields`, as text in the format of the HTTP API.

    number INTEGER PRIMARY KEY,
    id_high INTEGER NOT NULL,
    id_low INTEGER NOT NULL,
    app INTEGER NOT NULL REFERENCES apps (number) ON DELETE CASCADE,
    slug TEXT NOT NULL,
    campaign_key TEXT,
    -- Slug, title, campaign key and destinations in lower case, one per line.
    search_text TEXT NOT NULL,
    -- From this time on, the link no longer leads to its destination.
    expires_at INTEGER,
    -- The limit of live clicks; clicks of robots and test clicks do not count.
    maximum_clicks INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    archived_at INTEGER,
    UNIQUE (id_high, id_low),
    -- Finds the link of a tap. Two apps with a common host may not use the same slug. The creation of a link checks this,
    -- because a constraint cannot: apps may get a common host later.
    UNIQUE (slug, app)
) STRICT;

CREATE INDEX links_by_app ON links (app);

CREATE INDEX links_by_campaign ON links (campaign_key) WHERE campaign_key IS NOT NULL;

CREATE TABLE link_fields (
    link INTEGER NOT NULL REFERENCES links (number) ON DELETE CASCADE,
    -- The setting's name in the HTTP API.
    field TEXT NOT NULL,
    position INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (link, field, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_by_tag ON link_fields (value, link) WHERE field = 'tags';

CREATE TABLE link_counts (
    -- Counts of a link's clicks and matches, updated in the transaction that records them: `maximum_clicks` limits these
    -- clicks. The row with the variant '' counts the whole link.

    link INTEGER NOT NULL REFERENCES links (number) ON DELETE CASCADE,
    variant TEXT NOT NULL,
    clicks INTEGER NOT NULL,
    robots INTEGER NOT NULL,
    -- Clicks with test keys, including those of robots.
    tests INTEGER NOT NULL,
    matches INTEGER NOT NULL,
    PRIMARY KEY (link, variant)
) STRICT, WITHOUT ROWID;

CREATE TABLE former_server_keys (
    -- Server keys that were replaced, while hashes under them may be stored. `key_check` is the check value, which
    -- recognises the key without revealing it. The check value of the current key is `server_key` in `progress`.

    key_check INTEGER PRIMARY KEY,
    replaced_at INTEGER NOT NULL
) STRICT;

CREATE TABLE address_days (
    -- The days (since 1970) with address hashes. Each day's key is needed until the last click whose address it hashed
    -- can no longer be matched, rounded up to the hour.

    day INTEGER PRIMARY KEY,
    needed_until INTEGER NOT NULL
) STRICT;

CREATE TABLE progress (
    -- Single values, by name. Examples: every click that expires before `closed_before` is closed; `server_key` is the
    -- check value of the current server key; `failures` counts how often the database failed and was reopened.

    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

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

CREATE INDEX top_links
    -- Finds the most clicked links of a span, as `top_campaigns` finds campaigns. Further numbers of `dimension` are 10
    -- browser, 11 link, whose id stands in the column `campaign`, and 12 hour of the day. Browsers are stored with their
    -- version. A further number of `span` is 4, four weeks.
    ON counts (scope, span, period, count)
    WHERE metric = 'clicks' AND dimension = 11;

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
    learnt_counters INTEGER NOT NULL, events INTEGER NOT NULL DEFAULT 0, attributed_installs INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (id_high, id_low)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE erased_rows (
    -- The erased clicks and checks by their random identifiers, and events by their numbers, so that exports can name them;
    -- deleted after three years.

    -- 48 bits of milliseconds and a counter: exports read the rows in the order in which they were erased.
    number INTEGER PRIMARY KEY,
    table_name TEXT NOT NULL CHECK (table_name IN ('clicks', 'checks', 'events')),
    -- The number of an event, with 0 as its second half.
    id INTEGER NOT NULL,
    id_low INTEGER NOT NULL,
    app_high INTEGER NOT NULL,
    app_low INTEGER NOT NULL,
    erased_at INTEGER NOT NULL
) STRICT;

CREATE INDEX events_of_purchases ON events (scope, purchase) WHERE purchase IS NOT NULL AND click IS NULL;

CREATE INDEX links_of_users ON events (scope, user_hash, is_verified)
    WHERE user_hash IS NOT NULL AND click IS NOT NULL AND purchase IS NULL
        AND (install IS NOT NULL OR named_click IS NOT NULL);
