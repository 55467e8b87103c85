/// Who has been answered: what makes a launch a repetition.
struct ReplayCallers: Sendable {
    /// An answer that its caller may have again.
    struct Given: Sendable {
        let at: Timestamp
        /// Until when.
        let until: Timestamp
        /// Without an install id, a click that came after the answer makes the next launch a new one.
        let endsWithNextClick: Bool
    }

    private var answers: [UInt64: Given] = [:]
    private var forgottenAt: Timestamp?

    private static let hour: Int64 = 3_600_000

    /// The earlier answer that the launch's caller may have again.
    func answer(to launch: RecordedLaunch) -> Given? {
        answers[launch.caller].flatMap { launch.at <= $0.until ? $0 : nil }
    }

    /// Notes a match: with an install id it is given again as long as the click's window lasts.
    mutating func note(_ launch: RecordedLaunch, grace: Int64, windowEnd: Timestamp) {
        let until = launch.hasInstallID ? windowEnd : launch.at.advanced(byMilliseconds: grace)
        guard launch.hasInstallID || grace > 0 else { return }
        answers[launch.caller] = Given(
            at: launch.at,
            until: until,
            endsWithNextClick: !launch.hasInstallID
        )
    }

    /// Forgets, every hour, whom nothing is a repetition of any more.
    mutating func forget(before now: Timestamp) {
        let since = forgottenAt ?? now
        forgottenAt = since
        guard now.milliseconds(since: since) >= Self.hour else { return }
        forgottenAt = now
        answers = answers.filter { $0.value.until >= now }
    }
}
