internal import SQLite
internal import Storage

extension InvariantQuery {
    /// Counts of links outlive their clicks, so that they may be higher than what is held, and never lower.
    static let links = InvariantQuery(
        name: "links",
        scope:
            "every click of a link is of a link of its app, and links count no fewer clicks and matches than are held",
        exceptions: [
            (
                "clicks are of a link that does not exist, or of another app's",
                """
                SELECT count(*), min(clicks.id) FROM clicks LEFT JOIN links ON links.number = link
                WHERE link IS NOT NULL AND links.app IS NOT scope / 2
                """
            ),
            (
                "links count fewer clicks than they have",
                """
                SELECT count(*), min(first) FROM (
                    SELECT link, min(id) AS first, sum(is_robot = 0) AS people, sum(is_robot) AS machines
                    FROM clicks WHERE link IS NOT NULL AND scope % 2 = 0 GROUP BY link
                ) AS held LEFT JOIN link_counts AS c ON c.link = held.link AND c.variant = ''
                WHERE ifnull(c.clicks, -1) < people OR ifnull(c.robots, -1) < machines
                """
            ),
            (
                "links count fewer matches than they have",
                """
                SELECT count(*), min(first) FROM (
                    SELECT link, min(id) AS first, count(*) AS matches
                    FROM claims CROSS JOIN clicks ON id = click
                    WHERE link IS NOT NULL AND clicks.scope % 2 = 0 GROUP BY link
                ) AS held LEFT JOIN link_counts AS c ON c.link = held.link AND c.variant = ''
                WHERE ifnull(c.matches, -1) < held.matches
                """
            ),
            (
                "links of a click count less than their variants together",
                """
                SELECT count(*), min(first) FROM (
                    SELECT link, min(id) AS first FROM clicks WHERE link IS NOT NULL GROUP BY link
                ) AS held JOIN link_counts AS c ON c.link = held.link AND c.variant = ''
                WHERE c.clicks < (SELECT ifnull(sum(clicks), 0) FROM link_counts AS v
                    WHERE v.link = held.link AND v.variant <> '')
                """
            ),
        ]
    )
}
