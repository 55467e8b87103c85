#if PostgreSQL
internal import Attribution
internal import Storage

/// The queries of PostgreSQL, where a claim is a part of its click, and a closed index entry keeps its values.
extension TestCount {
    /// Whether the query reads a table of counts, which is complete only after a fold.
    var dependsOnFold: Bool {
        switch self {
        case .keptChecks, .miscountedChecks, .linkCounts, .testClicksOfLinks: true
        default: false
        }
    }

    var postgreSQL: String {
        switch self {
        case .openEntries: "SELECT count(*) FROM click_index WHERE closed_at IS NULL"
        case .openEntriesNearAddress1:
            "SELECT count(*) FROM click_index WHERE closed_at IS NULL AND near_address = 1"
        case .entriesWithSignals:
            "SELECT count(*) FROM click_index WHERE closed_at IS NULL AND signal_marks IS NOT NULL"
        case .claims: "SELECT count(*) FROM clicks WHERE claimed_at IS NOT NULL"
        case .claimsWithCheck:
            "SELECT count(*) FROM clicks c JOIN checks k ON k.click = c.id WHERE c.claimed_at = k.checked_at"
        default: rawValue
        }
    }
}

extension TestChange {
    var postgreSQL: String {
        switch self {
        case .failClaims(let caller):
            Self.trigger(
                "UPDATE ON clicks",
                when: "NEW.claimed_at IS NOT NULL AND NEW.caller = \(Int64(bitPattern: caller.index))"
            )
        case .failMatches: Self.trigger("INSERT ON checks", when: "NEW.outcome = 'match'")
        case .failDeletions: Self.trigger("DELETE ON checks", when: "true")
        case .failNothing: "DROP FUNCTION defect CASCADE"
        case .hideLinks: "ALTER TABLE links RENAME TO gone"
        case .deleteMatches: "DELETE FROM checks WHERE outcome = 'match'"
        case .deleteRobots: "DELETE FROM click_index WHERE closed_as = 'robot_click'"
        case .age:
            """
            UPDATE clicks SET visitor = NULL;
            UPDATE checks SET caller = NULL, probability = NULL;
            UPDATE checks SET exact_address = NULL, near_address = NULL WHERE (id >> 12) % 2 = 0;
            DELETE FROM checks WHERE id IN (SELECT id FROM checks WHERE outcome = 'match' LIMIT 3)
            """
        case .copyAddress(let times):
            """
            INSERT INTO click_addresses (b, slot, scope, near_address, clicked_at, click, exact_address, expires_at,
                marks)
            SELECT b, slot, scope, near_address, clicked_at + n * 400, click + (n << 12),
                exact_address + CASE WHEN n % 512 = 0 THEN 0 ELSE 1 END, expires_at, marks
            FROM generate_series(1, \(times)) AS n, (SELECT * FROM click_addresses LIMIT 1) a
            """
        case .copyNewestEntry(let times):
            """
            INSERT INTO click_index (b, slot, scope, hash, since, click, hash_rest, expires_at, visit, platform_form,
                weight, visitor, destination, campaign)
            SELECT b, slot, scope, hash, since + CASE WHEN n % 2 = 1 THEN 60000 + n ELSE -60000 - n END,
                click + (n << 12), hash_rest, expires_at, n, platform_form, weight, n, destination, campaign
            FROM generate_series(1, \(times)) AS n, (SELECT * FROM click_index ORDER BY click DESC LIMIT 1) i
            """
        case .addLinks(let count):
            """
            INSERT INTO links (id_high, id_low, app, slug, search_text, created_at, updated_at)
            SELECT 100, i, 1, 'slug' || i, 'slug' || i, 0, 0 FROM generate_series(1, \(count)) AS i
            """
        case .addModels(let now):
            """
            INSERT INTO learning (scope, began_at, landmark)
            VALUES (99, \(now.milliseconds - 8640000), \(now.milliseconds)),
                (98, \(now.milliseconds), \(now.milliseconds + 500 * 86_400_000));
            INSERT INTO learnt_counters (scope, family, key, value) VALUES (98, 1, 0, 5);
            INSERT INTO learnt_counters (scope, family, key, value)
            SELECT 99, 7, n, n FROM generate_series(1, 3000) AS n
            UNION ALL SELECT 99, 9, n, 0.01 FROM generate_series(1, 3000) AS n
            """
        case .delayModels: "UPDATE learning SET began_at = began_at + 86400000"
        case .addMatchRates(let group, let side, let days, let end):
            Self.insert(of: group, side, days, end: end)
        }
    }

    // For a statement about a trigger, Citus sends the text of the whole query to its workers, but a worker
    // accepts only one statement at a time. In a block, each statement is its own query.
    private static func trigger(_ event: String, when condition: String) -> String {
        """
        DO $block$ BEGIN
            CREATE FUNCTION defect() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'defect'; END $$;
            CREATE TRIGGER defect BEFORE \(event) FOR EACH ROW WHEN (\(condition)) EXECUTE FUNCTION defect();
        END $block$
        """
    }
}
#endif
