-- Keys of kind `read`. A read key without an app is one for all apps.
ALTER TABLE keys DROP CONSTRAINT keys_kind_check, DROP CONSTRAINT keys_check,
    ADD CONSTRAINT keys_kind_check CHECK (kind IN ('app', 'server', 'test', 'admin', 'read')),
    ADD CONSTRAINT keys_check CHECK (kind = 'read' OR (kind = 'admin') = (app IS NULL));

CREATE TABLE dashboard_sessions (
    -- The sessions of the dashboard: the SHA-256 of each cookie, never its text.

    digest bytea NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    -- The key that signed in; NULL for a session that a one-time link started.
    key_high bigint,
    key_low bigint,
    created_at bigint NOT NULL,
    -- When the session was last used, at most a minute too early.
    used_at bigint NOT NULL,
    expires_at bigint NOT NULL
);

CREATE TABLE sign_in_links (
    -- The links that start one session each: the SHA-256 of each secret, never its text. A link is deleted by its use.

    digest bytea NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    expires_at bigint NOT NULL
);

-- Where the server answers the dashboard; empty without one.
ALTER TABLE servers ADD COLUMN dashboard text NOT NULL DEFAULT '';

CREATE TABLE audit_log (
    -- Every change by the dashboard, the admin API and commands, written in the transaction of the change. The first half of
    -- an id is 48 bits of milliseconds and 16 bits that order the entries of one millisecond.

    id_high bigint NOT NULL,
    id_low bigint NOT NULL,
    actor_kind text NOT NULL,
    -- The id of the key or the name of the system's user; empty for a session of a one-time link.
    actor text NOT NULL,
    action text NOT NULL,
    -- The ids of the app and of what was changed as texts, because both may be deleted.
    app text,
    subject text NOT NULL,
    -- The changed fields as JSON objects; no secrets.
    before text NOT NULL,
    after text NOT NULL,
    PRIMARY KEY (id_high, id_low)
);
