-- Server keys that were replaced, as long as anything may be stored under them. `server_key` in `progress` is the check
-- of the present one.
CREATE TABLE former_server_keys (
    -- By which the key is known again.
    key_check INTEGER PRIMARY KEY,
    replaced_at INTEGER NOT NULL
) STRICT;

-- Until when a click with an address that came on a day can be matched, rounded up to the hour: so long the day's key is
-- kept. Days since 1970.
CREATE TABLE address_days (
    day INTEGER PRIMARY KEY,
    needed_until INTEGER NOT NULL
) STRICT;

-- Addresses were hashed under the server key, which is kept: what is stored of them goes, and is missing evidence for
-- the clicks that are live now.
UPDATE clicks SET exact_address = NULL, near_address = NULL WHERE exact_address IS NOT NULL;
UPDATE checks SET exact_address = NULL, near_address = NULL WHERE exact_address IS NOT NULL;
UPDATE fingerprints SET exact_address = NULL, near_address = NULL WHERE exact_address IS NOT NULL;
DELETE FROM click_addresses;
-- Launches at and near an address.
DELETE FROM learnt_counters WHERE family IN (10, 11);
