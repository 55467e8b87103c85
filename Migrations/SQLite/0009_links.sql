-- Short links. What an operator says of one stands field by field, in the texts that every way in and out uses; here
-- stands besides what a tap and a list look for.
CREATE TABLE links (
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
    -- Finds the link of a tap. Apps that share a host have no slug twice, which is checked when a link is made: they may
    -- come to share one later.
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

-- What came of a link, moved in the transaction of what is counted: how often it may be clicked is decided by it. A
-- variant of '' stands for all of the link.
CREATE TABLE link_counts (
    link INTEGER NOT NULL REFERENCES links (number) ON DELETE CASCADE,
    variant TEXT NOT NULL,
    clicks INTEGER NOT NULL,
    robots INTEGER NOT NULL,
    -- Clicks with test keys, robots' too.
    tests INTEGER NOT NULL,
    matches INTEGER NOT NULL,
    PRIMARY KEY (link, variant)
) STRICT, WITHOUT ROWID;

-- The link that was tapped, and which of its variants the visitor got. A link that was clicked is never deleted.
ALTER TABLE clicks ADD COLUMN link INTEGER;
ALTER TABLE clicks ADD COLUMN variant TEXT;

-- What an app's links, its stores and its domain files need to know of it, as links have it above.
CREATE TABLE app_link_fields (
    app INTEGER NOT NULL REFERENCES apps (number) ON DELETE CASCADE,
    field TEXT NOT NULL,
    position INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (app, field, position)
) STRICT, WITHOUT ROWID;
