internal import Attribution

/// Reads moments as people type them.
enum TimeArgument {
    /// Reads `2027-01-31` or `2027-01-31T12:00:00Z`; a day stands for its beginning in UTC.
    static func moment(_ text: String) -> Timestamp? {
        Timestamp(iso8601: text) ?? Timestamp(iso8601: text + "T00:00:00Z")
    }

    /// When a key expires: a moment to come, or how long from now on, as in `90d`, `12h`, `30m`.
    static func expiry(_ text: String, now: Timestamp) throws -> Timestamp {
        let moment = Self.moment(text) ?? milliseconds(text).map(now.advanced(byMilliseconds:))
        guard let moment else {
            throw CommandFailure.wrongValue(
                "expires",
                text,
                "must be a moment such as 2027-01-31 or 2027-01-31T12:00:00Z, or a time from now on such as 90d or 12h"
            )
        }
        guard now < moment else {
            throw CommandFailure.wrongValue("expires", text, "must lie in the future")
        }
        return moment
    }

    /// Reads how long something takes: `90s`, `30m`, `12h`, `90d`.
    static func milliseconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let unit = text.last.flatMap({ units[$0] }) else { return nil }
        let count: Int64? = ValueText.integer(String(text.dropLast()), in: 1...100_000)
        return count.map { $0 * unit }
    }
}
