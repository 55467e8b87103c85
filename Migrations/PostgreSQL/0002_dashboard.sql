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
