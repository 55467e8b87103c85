-- The events that link a user to a match, those of server keys first.

CREATE INDEX links_of_users ON events (scope, user_hash, is_verified)
    WHERE user_hash IS NOT NULL AND click IS NOT NULL AND purchase IS NULL
        AND (install IS NOT NULL OR named_click IS NOT NULL);
