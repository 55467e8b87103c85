/// Who has been answered: what makes a launch a repetition.
struct ReplayCallers: Sendable {
    /// Until when a caller gets his answer again.
    private var answers: [UInt64: Timestamp] = [:]
    private var forgottenAt: Timestamp?

    private static let hour: Int64 = 3_600_000

    /// Whether the launch gets an earlier answer again, and is none of its own.
    func hasAnswer(_ launch: RecordedLaunch) -> Bool {
        answers[launch.caller].map { launch.at <= $0 } ?? false
    }

    /// Notes a match: with an install id it is given again as long as the click's window lasts.
    mutating func note(_ launch: RecordedLaunch, grace: Int64, windowEnd: Timestamp) {
        answers[launch.caller] =
            launch.hasInstallID ? windowEnd : launch.at.advanced(byMilliseconds: grace)
    }

    /// Forgets, every hour, whom nothing is a repetition of any more.
    mutating func forget(before now: Timestamp) {
        let since = forgottenAt ?? now
        forgottenAt = since
        guard now.milliseconds(since: since) >= Self.hour else { return }
        forgottenAt = now
        answers = answers.filter { $0.value >= now }
    }
}
