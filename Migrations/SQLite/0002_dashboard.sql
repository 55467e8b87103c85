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
    learnt_counters INTEGER NOT NULL,
    PRIMARY KEY (id_high, id_low)
) STRICT, WITHOUT ROWID;

CREATE TABLE erased_rows (
    -- The erased clicks and checks by their random identifiers, so that exports can name them; deleted after three years.

    number INTEGER PRIMARY KEY,
    table_name TEXT NOT NULL CHECK (table_name IN ('clicks', 'checks')),
    id INTEGER NOT NULL,
    id_low INTEGER NOT NULL,
    erased_at INTEGER NOT NULL
) STRICT;

-- The longest windows of an app by method; NULL for the clicks' own windows. Rows of clicks keep those.
ALTER TABLE apps ADD COLUMN fingerprint_window_seconds INTEGER;
ALTER TABLE apps ADD COLUMN deterministic_window_seconds INTEGER;
