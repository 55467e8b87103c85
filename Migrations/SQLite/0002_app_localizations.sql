-- The languages that an app comes in, in the operator's order: iOS tells the app one of them, whatever language the
-- browser has told.
CREATE TABLE app_localizations (
    app INTEGER NOT NULL REFERENCES apps (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    language TEXT NOT NULL,
    PRIMARY KEY (app, position)
) STRICT, WITHOUT ROWID;

-- The one that the app falls back to where none fits.
ALTER TABLE apps ADD COLUMN development_language TEXT;
