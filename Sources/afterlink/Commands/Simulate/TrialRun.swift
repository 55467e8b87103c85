internal import Attribution
internal import Glibc
internal import Server

/// Sends a trial's click and launch to a server.
struct TrialRun {
    let server: TrialServer
    let key: TrialKey
    /// Between click and launch, in milliseconds; nil where the server's clock is its own.
    let delay: Int64?
    let broughtToken: Bool

    /// Longer than a serving process needs to see a key that another one made.
    private static let keyPatience: Int64 = 5000
    /// How long before now a click is set, besides the delay: no server answers so late that its own clock would look
    /// as if it had been set.
    private static let clockMark: Int64 = 500

    /// - Throws: where the server cannot be asked at all, or not with this key.
    func report(_ trial: Trial) throws -> TrialReport {
        let clickedAt = delay.map { WallClock.system.now().advanced(byMilliseconds: -$0 - Self.clockMark) }
        let click = trial.click(host: server.hostField, key: key.text, at: clickedAt)
        let clickAnswer = ClickAnswer(try exchange(click))
        try requireClock(clickAnswer, clickedAt)
        guard clickAnswer.isRecorded else {
            let result = TrialResult(trial, click: clickAnswer, launch: nil)
            return TrialReport(result, click: click, launch: nil)
        }
        let launchedAt = delay.flatMap { delay in clickedAt?.advanced(byMilliseconds: delay) }
        let launch = trial.launch(
            host: server.hostField,
            key: key.text,
            token: broughtToken ? clickAnswer.token : nil,
            at: launchedAt
        )
        let launchAnswer = LaunchAnswer(try exchange(launch))
        let result = TrialResult(
            trial,
            click: clickAnswer,
            launch: launchAnswer,
            launchedAt: launchedAt,
            token: broughtToken ? (clickAnswer.token == nil ? .missing : .brought) : .notWanted
        )
        return TrialReport(result, click: click, launch: launch)
    }

    private func exchange(_ request: ClientRequest) throws -> ClientResponse {
        let start = WallClock.system.now()
        var answer = try server.exchange(request)
        while answer.status == 401, key.isNew,
            WallClock.system.now().milliseconds(since: start) < Self.keyPatience
        {
            usleep(50_000)
            answer = try server.exchange(request)
        }
        guard answer.status == 401 || answer.status == 403 else { return answer }
        let message = ClickAnswer(answer).message.map { ": \($0)" } ?? ""
        throw CommandFailure(
            "The server at \(server.url) refuses the key of \(key.origin) with \(answer.statusText)\(message).",
            advice: key.app == nil
                ? "Name a file with a key that is valid there, of the kind that --as needs."
                : "It may serve another database than the one here: make a key there with"
                    + " `afterlink keys create --kind test`, and name its file with --key-file."
        )
    }

    /// The moment at which a click expires is the one at which it happened and whole seconds.
    private func requireClock(_ answer: ClickAnswer, _ clickedAt: Timestamp?) throws {
        guard let clickedAt, let expiresAt = answer.expiresAt, !answer.isRepeated,
            expiresAt.milliseconds(since: clickedAt) % 1000 != 0
        else { return }
        throw CommandFailure(
            "The server at \(server.url) goes by its own clock, so that --delay cannot be tried on it.",
            advice:
                "Leave --delay out, or start a server of its own for trials with `afterlink serve --unsafe-test-clock"
                + " --listen 127.0.0.1:8081 --database trial.db`."
        )
    }
}
