internal import Attribution
internal import SQLite
internal import Storage

/// The spans of time whose clicks and claims are all still held, so that they can be counted again.
///
/// No click is recorded or claimed after it expired: whatever was recorded or claimed after the last one that was
/// deleted expired is held. Retention notes that moment. Without a note, of an earlier version, it is the one when the
/// first click that is still held expired, because clicks are deleted in the order in which they expire; a clock that
/// leapt ahead and back makes that untrue.
struct HeldSpans {
    /// Spans that begin later are whole; `min`: nothing was ever deleted; nil: no click is held.
    let after: Timestamp?

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        let held = try connection.integer("SELECT count(*) FROM clicks")
        guard held > 0 else {
            after = nil
            return
        }
        // What was deleted is in no sum. One of the three is wrong at most, or the others would show it.
        let sums = try connection.prepare(Self.recorded).all { $0.integer(0) }
        guard !sums.contains(held) else {
            after = Timestamp(milliseconds: .min)
            return
        }
        let first = try connection.integer("SELECT min(expires_at) FROM clicks")
        let deleted = try connection.prepare(RetentionSQL.deletedUpTo).first { $0.integer(0) }
        after = Timestamp(milliseconds: deleted ?? first)
    }

    func cover(_ granularity: String, _ period: Int64) -> Bool {
        guard let after else { return false }
        guard after.milliseconds > .min else { return true }
        return granularity != Granularity.all.rawValue && period > after.milliseconds
    }

    var scope: String {
        guard let after else { return "no click is held, so that none is compared" }
        guard after.milliseconds > .min else { return "all of them, as no click was deleted yet" }
        return
            "exactly for the hours and days that begin after \(after.iso8601), before which all clicks had"
            + " expired that were deleted; earlier ones must not be less than what is held"
    }

    private static let recorded: StaticString = """
        SELECT sum(clicks + robots) FROM counters WHERE campaign = '' AND dimension = 'total' GROUP BY granularity
        """
}
