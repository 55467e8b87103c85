-- Exports name erased events too.

ALTER TABLE erased_rows RENAME TO former_erased_rows;

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

INSERT INTO erased_rows SELECT * FROM former_erased_rows;

DROP TABLE former_erased_rows;
