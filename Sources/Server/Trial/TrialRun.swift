public import Attribution

/// Sends a trial's click and launch to a server.
public struct TrialRun {
    /// The server goes by its own clock, so that a delay cannot be tried on it.
    public struct OwnClock: Error {}

    private let host: String
    private let key: String
    private let delay: Int64?
    private let bringsToken: Bool
    private let send: (ClientRequest) throws -> ClientResponse

    /// How long before now a click is set, in addition to the delay, in milliseconds: no server responds so late that its
    /// own clock would look as if it had been set.
    private static let clockMargin: Int64 = 500

    /// - Parameters:
    ///   - host: the field `Host`.
    ///   - key: the key that the requests carry.
    ///   - delay: the time between click and launch in milliseconds; nil if the server goes by its own clock.
    ///   - bringsToken: whether the launch brings the click's token.
    ///   - send: sends a request and waits for the response.
    public init(
        host: String,
        key: String,
        delay: Int64? = nil,
        bringsToken: Bool = false,
        send: @escaping (ClientRequest) throws -> ClientResponse
    ) {
        self.host = host
        self.key = key
        self.delay = delay
        self.bringsToken = bringsToken
        self.send = send
    }

    /// Sends the click and, if the server recorded it, the launch.
    ///
    /// - Throws: ``OwnClock``, and what sending throws.
    public func report(_ trial: Trial, at now: Timestamp) throws -> TrialReport {
        let clickedAt = delay.map { now.advanced(byMilliseconds: -$0 - Self.clockMargin) }
        let click = trial.click(host: host, key: key, at: clickedAt)
        let clickResponse = TrialClickResponse(try send(click))
        try requireSetClock(clickResponse, clickedAt)
        guard clickResponse.isRecorded else {
            return TrialReport(
                TrialResult(trial, click: clickResponse, launch: nil),
                click: click,
                launch: nil
            )
        }
        let launchedAt = delay.flatMap { delay in clickedAt?.advanced(byMilliseconds: delay) }
        let token = bringsToken ? clickResponse.token : nil
        let launch = trial.launch(host: host, key: key, token: token, at: launchedAt)
        let result = TrialResult(
            trial,
            click: clickResponse,
            launch: TrialLaunchResponse(try send(launch)),
            launchedAt: launchedAt,
            token: bringsToken ? (token == nil ? .missing : .brought) : .notWanted
        )
        return TrialReport(result, click: click, launch: launch)
    }

    /// A click expires whole seconds after the time of the click: any other expiry comes from another clock.
    private func requireSetClock(_ response: TrialClickResponse, _ clickedAt: Timestamp?) throws(OwnClock) {
        guard let clickedAt, let expiresAt = response.expiresAt, !response.isRepeated,
            expiresAt.milliseconds(since: clickedAt) % 1000 != 0
        else { return }
        throw OwnClock()
    }
}
