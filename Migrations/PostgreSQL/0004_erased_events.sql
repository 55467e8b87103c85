-- Exports name erased events too, by their numbers, with 0 as the second half of the id.

ALTER TABLE erased_rows DROP CONSTRAINT erased_rows_table_name_check,
    ADD CONSTRAINT erased_rows_table_name_check CHECK (table_name IN ('clicks', 'checks', 'events'));
