-- How an app wants matches made; see `apps set`.
ALTER TABLE apps ADD COLUMN matching_rule TEXT NOT NULL DEFAULT 'probability';
ALTER TABLE apps ADD COLUMN minimum_confidence REAL NOT NULL DEFAULT 0.7;
ALTER TABLE apps ADD COLUMN on_ambiguity TEXT NOT NULL DEFAULT 'noMatch';
ALTER TABLE apps ADD COLUMN uses_fingerprints INTEGER NOT NULL DEFAULT 1;
ALTER TABLE apps ADD COLUMN default_link TEXT;

-- The canonical values that a click's browser told, in words: from them a fingerprint that found nothing is explained.
ALTER TABLE clicks ADD COLUMN signals TEXT;

-- Where a click came from, keyed, as far as its address tells: exactly, and the network around it.
ALTER TABLE clicks ADD COLUMN exact_address INTEGER;
ALTER TABLE clicks ADD COLUMN near_address INTEGER;

-- What was answered besides the click itself, so that a repeated answer is the same; who may have it again.
ALTER TABLE claims ADD COLUMN competing_clicks INTEGER;
ALTER TABLE claims ADD COLUMN is_campaign_only INTEGER NOT NULL DEFAULT 0;
ALTER TABLE claims ADD COLUMN caller INTEGER;
ALTER TABLE claims ADD COLUMN caller_rest INTEGER;

ALTER TABLE counters ADD COLUMN no_match_below_threshold INTEGER NOT NULL DEFAULT 0;
ALTER TABLE counters ADD COLUMN no_match_ambiguous INTEGER NOT NULL DEFAULT 0;
ALTER TABLE counters ADD COLUMN no_match_other_app INTEGER NOT NULL DEFAULT 0;
ALTER TABLE counters ADD COLUMN no_match_token_invalid INTEGER NOT NULL DEFAULT 0;
ALTER TABLE counters ADD COLUMN no_match_token_used INTEGER NOT NULL DEFAULT 0;
ALTER TABLE counters ADD COLUMN no_match_fingerprint_disabled INTEGER NOT NULL DEFAULT 0;

-- What a check looks into: everything that a click can be found by, several rows for a click where clients compute
-- fingerprints differently. Open rows are those of clicks that can be matched, closed ones of those that can be
-- matched no more. Both stand side by side, so that a click which is consumed moves within a page.
CREATE TABLE fingerprints (
    scope INTEGER NOT NULL,
    fingerprint INTEGER NOT NULL,
    -- 0 open, 1 closed.
    state INTEGER NOT NULL,
    -- Open: when it was clicked. Closed: when it was claimed or expired; when it was clicked, for a robot's click and
    -- for one retired as a duplicate.
    moment INTEGER NOT NULL,
    click INTEGER NOT NULL,
    fingerprint_rest INTEGER NOT NULL,
    -- Open: the last millisecond of the window. Closed: when it was clicked.
    other_moment INTEGER NOT NULL,
    -- Closed: the reason that a check gets.
    closed_as TEXT,
    -- Open: the first word of the visit, so that a claim finds the same visitor's duplicates. Closed: of the caller who
    -- claimed it.
    party INTEGER,
    -- From here on what an open click is weighed by; NULL where it is not known, and once it is closed.
    --
    -- Platform and form, as a number.
    lane INTEGER,
    weight REAL,
    exact_address INTEGER,
    near_address INTEGER,
    visitor INTEGER,
    destination INTEGER,
    campaign INTEGER,
    release INTEGER,
    PRIMARY KEY (scope, fingerprint, state, moment, click)
) STRICT, WITHOUT ROWID;

-- The destination of clicks from before is not told: each counts as one of its own.
INSERT INTO fingerprints (
    scope, fingerprint, state, moment, click, fingerprint_rest, other_moment, party, lane, weight, visitor,
    destination, campaign
)
SELECT o.scope, o.fingerprint, 0, o.clicked_at, o.click, o.fingerprint_rest, o.expires_at, o.visit,
    CASE c.platform WHEN 'ios' THEN 1 WHEN 'android' THEN 2 WHEN 'other' THEN 3 ELSE 4 END * 256
        + coalesce(unicode(o.form), 0),
    o.weight, 0, o.click, 0
FROM open_fingerprints AS o JOIN clicks AS c ON c.id = o.click
ORDER BY o.scope, o.fingerprint;

INSERT INTO fingerprints (
    scope, fingerprint, state, moment, click, fingerprint_rest, other_moment, closed_as, party
)
SELECT scope, fingerprint, 1, closed_at, click, fingerprint_rest, clicked_at, closed_as, caller
FROM closed_fingerprints
ORDER BY scope, fingerprint;

UPDATE claims SET (caller, caller_rest) = (
    SELECT caller, caller_rest FROM closed_fingerprints AS closed
    WHERE closed.scope = claims.scope AND closed.fingerprint = claims.fingerprint
        AND closed.closed_at = claims.claimed_at AND closed.click = claims.click
);

DROP TABLE open_fingerprints;
DROP TABLE closed_fingerprints;

-- Where clicks came from, as far as addresses tell: a row for each click that can be matched, by the network around
-- its address. A check finds the clicks that agree with its own address, and how many others do.
CREATE TABLE click_addresses (
    scope INTEGER NOT NULL,
    near_address INTEGER NOT NULL,
    clicked_at INTEGER NOT NULL,
    click INTEGER NOT NULL,
    exact_address INTEGER NOT NULL,
    -- The first four bytes of each of its fingerprints, the lowest first: tells most of those apart that the click
    -- cannot be found by.
    marks BLOB NOT NULL,
    PRIMARY KEY (scope, near_address, clicked_at, click)
) STRICT, WITHOUT ROWID;

-- What an app's traffic has taught: sums that fade with time; see the article on matching.
CREATE TABLE learnt_counters (
    scope INTEGER NOT NULL,
    family INTEGER NOT NULL,
    key INTEGER NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (scope, family, key)
) STRICT, WITHOUT ROWID;

-- Since when it has, and the moment that the sums are relative to.
CREATE TABLE learning (
    scope INTEGER PRIMARY KEY,
    began_at INTEGER NOT NULL,
    landmark INTEGER NOT NULL
) STRICT;
