package import Attribution

/// Checks that the clock is plausible: windows and keys end by it.
///
/// Times are UTC throughout; the machine's time zone is never asked for.
package struct ClockExamination {
    private let now: Timestamp
    private let newestClickAt: Timestamp?
    private let newestFileAt: Timestamp?

    /// How far apart two clocks may be.
    private static let tolerance: Int64 = 300_000
    /// When this was written, and far from now: 2025-01-01 and 2100-01-01.
    private static let plausible = 1_735_689_600_000...4_102_444_800_000 as ClosedRange<Int64>

    package init(now: Timestamp, newestClickAt: Timestamp?, newestFileAt: Timestamp?) {
        self.now = now
        self.newestClickAt = newestClickAt
        self.newestFileAt = newestFileAt
    }

    package func diagnoses() -> [Diagnosis] {
        let advice = "set the clock by NTP (`timedatectl` shows it): windows and keys end by it"
        guard Self.plausible.contains(now.milliseconds) else {
            return [.problem("clock", "it is \(now.iso8601), which cannot be", advice)]
        }
        for (what, moment) in [
            ("the newest click was recorded at", newestClickAt),
            ("the database was last written at", newestFileAt),
        ] {
            guard let moment, moment.milliseconds(since: now) > Self.tolerance else { continue }
            return [.problem("clock", "it is \(now.iso8601), but \(what) \(moment.iso8601)", advice)]
        }
        return [
            .ok("clock", "\(now.iso8601); nothing in the database is later (its time zone does not matter)")
        ]
    }
}
