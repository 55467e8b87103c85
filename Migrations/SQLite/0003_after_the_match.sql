-- What is known after the match: click ids, Google Play's evidence.

-- Google Play's report on the installation, as `name=value&…` with Play's own names, and why it casts doubt on the match.
-- A further number of `counts.dimension` is 13, `play_finding`.
ALTER TABLE checks ADD COLUMN play TEXT;
ALTER TABLE checks ADD COLUMN play_finding TEXT;

-- The click ids of ad networks, such as `gclid`, as a JSON object; NULL for a click without any.
ALTER TABLE clicks ADD COLUMN click_ids TEXT;
-- What is done with them: off, keep or answer.
ALTER TABLE apps ADD COLUMN click_ids TEXT NOT NULL DEFAULT 'keep';

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
