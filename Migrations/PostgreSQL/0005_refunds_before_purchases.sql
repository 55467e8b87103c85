-- The refunds that wait for their purchase or its match.

CREATE INDEX events_of_purchases ON events (scope, purchase) WHERE purchase IS NOT NULL AND click IS NULL;
