internal import SQLite

/// Something that is so for every click, fingerprint or claim: a statement that counts the exceptions.
struct FactCheck: Sendable {
    let name: String
    let scope: String
    /// What the statements' rows are called, after their number.
    private let exceptions: [(what: String, sql: StaticString)]

    /// Counts, and names the first of each kind.
    func run(_ connection: Connection, _ check: inout VerificationReport.Check) throws(SQLiteError) {
        for (what, sql) in exceptions {
            let (count, first) =
                try connection.prepare(sql).first { ($0.integer(0), $0.integer(1)) } ?? (0, 0)
            guard count > 0 else { continue }
            check.add("\(count) \(what) (the first one: click \(first))", Advice.restore)
        }
    }

    static let all = [claims, fingerprints, states]

    private static let claims = FactCheck(
        name: "claims",
        scope: "every claim is of a click of its app, made before the click expired",
        exceptions: [
            (
                "claims have no click",
                """
                SELECT count(*), min(click) FROM claims
                WHERE NOT EXISTS (SELECT 1 FROM clicks WHERE id = claims.click)
                """
            ),
            (
                "claims are of another app's click",
                """
                SELECT count(*), min(click) FROM claims CROSS JOIN clicks ON id = click
                WHERE claims.scope <> clicks.scope
                """
            ),
            (
                "claims were made after their click had expired",
                """
                SELECT count(*), min(click) FROM claims CROSS JOIN clicks ON id = click WHERE claimed_at > expires_at
                """
            ),
            (
                "clicks are of an app that does not exist",
                """
                SELECT count(*), min(id) FROM clicks WHERE scope / 2 NOT IN (SELECT number FROM apps)
                """
            ),
        ]
    )

    private static let fingerprints = FactCheck(
        name: "fingerprints",
        scope:
            "what checks look into says the same of each click as the click itself, and nothing is missing",
        exceptions: [
            (
                "open fingerprints differ from their click, or have none",
                """
                SELECT count(*), min(f.click) FROM open_fingerprints AS f LEFT JOIN clicks AS c ON c.id = f.click
                WHERE c.id IS NULL OR f.scope <> c.scope OR f.clicked_at <> c.clicked_at
                    OR f.expires_at <> c.expires_at OR f.visit <> c.visit
                """
            ),
            (
                "closed fingerprints differ from their click, or have none",
                """
                SELECT count(*), min(f.click) FROM closed_fingerprints AS f LEFT JOIN clicks AS c ON c.id = f.click
                WHERE c.id IS NULL OR f.scope <> c.scope OR f.clicked_at <> c.clicked_at
                """
            ),
            (
                "clicks are not found by as many fingerprints as they have",
                """
                SELECT count(*), min(id) FROM clicks LEFT JOIN (
                    SELECT click, count(*) AS rows
                    FROM (SELECT click FROM open_fingerprints UNION ALL SELECT click FROM closed_fingerprints)
                    GROUP BY click
                ) ON click = id
                WHERE ifnull(rows, 0) <> length(fingerprints) / 16
                """
            ),
        ]
    )

    private static let states = FactCheck(
        name: "open_and_closed",
        scope: "what can be matched is what should be: no claimed click, no robot's, none long expired",
        exceptions: [
            (
                "clicks are claimed and can still be found",
                """
                SELECT count(*), min(f.click) FROM open_fingerprints AS f CROSS JOIN claims ON claims.click = f.click
                """
            ),
            (
                "clicks are open under one fingerprint and closed under another",
                """
                SELECT count(*), min(click) FROM (
                    SELECT click FROM (
                        SELECT click, 0 AS is_closed FROM open_fingerprints
                        UNION ALL SELECT click, 1 FROM closed_fingerprints
                    )
                    GROUP BY click HAVING min(is_closed) <> max(is_closed)
                )
                """
            ),
            (
                "robots' clicks can be found",
                """
                SELECT count(*), min(f.click) FROM open_fingerprints AS f CROSS JOIN clicks AS c ON c.id = f.click
                WHERE c.is_robot = 1
                """
            ),
            (
                "fingerprints of robots are not closed as such, or others are",
                """
                SELECT count(*), min(f.click) FROM closed_fingerprints AS f CROSS JOIN clicks AS c ON c.id = f.click
                WHERE (c.is_robot = 1) <> (f.closed_as = 'robot_click')
                """
            ),
            (
                "fingerprints were closed at a moment at which nothing happened to their click",
                """
                SELECT count(*), min(f.click) FROM closed_fingerprints AS f
                CROSS JOIN clicks AS c ON c.id = f.click LEFT JOIN claims ON claims.click = f.click
                WHERE f.closed_at NOT IN (c.expires_at, c.clicked_at, ifnull(claimed_at, c.clicked_at))
                """
            ),
            (
                "fingerprints are open though expired ones were closed up to a later moment",
                """
                SELECT count(*), min(click) FROM open_fingerprints
                WHERE expires_at < (SELECT value FROM progress WHERE name = 'closed_before')
                """
            ),
        ]
    )
}
