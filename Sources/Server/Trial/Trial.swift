public import Attribution

/// A simulated click in one browser and a simulated first launch on one device, before they are sent.
public struct Trial: Sendable {
    /// The sender of the click; it decides which kind of key the click and the launch need.
    ///
    /// The raw value is the word on the command line.
    public enum Poster: String, CaseIterable, Sendable {
        /// A page with a test key: no live key matches the click, and neither click nor launch is live traffic.
        case test
        /// A landing page without a key.
        case page
        /// A page with the app key.
        case app
        /// A customer's own server, which reports the visitor's user agent.
        case server

        /// The kind of key that the launch needs.
        public var keyKind: KeyKind {
            switch self {
            case .test: .test
            case .page, .app: .app
            case .server: .server
            }
        }
    }

    public let profile: BrowserProfile
    public let device: TrialDevice
    public let release: SDKRelease
    public let person: TrialPerson
    public let poster: Poster
    public let destination: Target
    /// The click's journey, which no other trial has.
    public let journey: String
    /// The build number of the app, which makes it unlikely that two trials come from one caller.
    let build: String
    /// The id or name of the click's app; nil where the key identifies it.
    let app: String?
    /// The languages that the app is localised in, as far as this program knows them.
    let localization: AppLocalization
    /// The click's campaign; not sent for a click on a link, because a link has its own campaign.
    let campaignKey: String

    /// - Parameters:
    ///   - profile: the browser of the click.
    ///   - device: the device of the launch.
    ///   - release: the SDK of the launch.
    ///   - person: the person who clicks and launches.
    ///   - poster: the sender of the click.
    ///   - destination: the destination of the click.
    ///   - number: a number that no other trial has.
    ///   - app: the id or name of the click's app; nil where the key identifies it.
    ///   - localization: the languages that the app is localised in.
    ///   - campaignKey: the click's campaign; not sent for a click on a link.
    public init(
        profile: BrowserProfile,
        device: TrialDevice,
        release: SDKRelease,
        person: TrialPerson,
        poster: Poster,
        destination: Target,
        number: UInt64,
        app: String? = nil,
        localization: AppLocalization = .unknown,
        campaignKey: String = Trial.standardCampaign
    ) {
        (self.profile, self.device, self.release) = (profile, device, release)
        (self.person, self.poster, self.destination) = (person, poster, destination)
        journey = Self.journey(number)
        build = String(number % 1_000_000)
        self.app = app
        self.localization = localization
        self.campaignKey = campaignKey
    }

    /// Returns the journey of the trial with this number.
    public static func journey(_ number: UInt64) -> String { "sim_" + String(number, radix: 36) }

    public enum Target: Equatable, Sendable {
        case url(String)
        /// A link that the server stores, by its slug.
        case link(String)
    }

    /// The start of the click's deep link, unless the operator chose one.
    public static let standardPrefix = "myapp://simulated/"
    public static let standardCampaign = "SIMULATED"

    /// Returns the start of a link that the app may open; a standard start if no destination is known.
    public static func prefix(of app: App?) -> String {
        guard let destination = app?.settings.destinations.first else { return standardPrefix }
        return destination.hasSuffix("://") ? destination + "simulated/" : destination + "/simulated/"
    }

    /// The header fields that the service attributes to the visitor: the browser's fields, or only the user
    /// agent if a customer's server reports the click.
    var visit: VisitHeaders {
        guard poster != .server else { return VisitHeaders(userAgent: profile.agent) }
        let others = [("user-agent", profile.agent), ("accept-language", person.acceptLanguage)]
        let fields = profile.fieldHints + others
        return VisitHeaders { name in fields.first { $0.name.lowercased() == name }?.value }
    }

    var signals: DeviceSignals { profile.signals(of: person) }

    /// The inputs of the fingerprints that a server derives from the launch's signals, fewest components first.
    public var inputsOfValues: [FingerprintInput] {
        let (values, languages) = (device.values(for: person), DeviceData.embedded.languages)
        let native = values.withLanguageOfClicks(localization, reported: nil, languages: languages)
        return CanonicalSignals(native).inputs().sorted { $0.values.count < $1.values.count }
    }

    /// The text that the SDK hashes at the first launch, or that the server derives from the launch's signals.
    public var launch: FingerprintInput {
        if release.sendsRawSignals, let input = inputsOfValues.first { return input }
        let values = release.form.components.map { device.value(of: $0, for: person) }
        guard let input = FingerprintInput(form: release.form, values: values) else {
            preconditionFailure("there is a value for each component of the form")
        }
        return input
    }
}

/// Sends a trial's click and launch to a server.
public struct TrialRun {
    /// The server uses its own clock, so no delay can be simulated.
    public struct OwnClock: Error {}

    private let host: String
    private let key: String
    private let delay: Int64?
    private let bringsToken: Bool
    private let play: Trial.PlayReport?
    private let send: (ClientRequest) throws -> ClientResponse
    private let library: Library?

    /// Sends a trial's launch with a client library, and returns its request with the response.
    ///
    /// The arguments are the trial, the click's token and the time of the launch.
    public typealias Library = (Trial, String?, Timestamp?) async throws -> (ClientRequest, ClientResponse)

    /// The milliseconds by which a click is set back in addition to the delay.
    ///
    /// The margin reveals a server that uses its own clock. If the requests set the server's clock, the click expires
    /// whole seconds after its time. Otherwise the expiry is later by the delay, the margin and the duration of the
    /// request. The delay is a number of whole seconds, and the request takes less time than the margin. So the sum of
    /// the three is no number of whole seconds.
    private static let clockMargin: Int64 = 500

    /// - Parameters:
    ///   - host: the field `Host`.
    ///   - key: the key that the requests carry.
    ///   - delay: the time between click and launch in milliseconds; nil if the server uses its own clock.
    ///   - bringsToken: whether the launch brings the click's token.
    ///   - play: Google Play's report that brings the token; nil for a launch without one.
    ///   - library: makes the launch with a client library; nil for a request of this program.
    ///   - send: sends a request and waits for the response.
    public init(
        host: String,
        key: String,
        delay: Int64? = nil,
        bringsToken: Bool = false,
        play: Trial.PlayReport? = nil,
        library: Library? = nil,
        send: @escaping (ClientRequest) throws -> ClientResponse
    ) {
        self.host = host
        self.key = key
        self.delay = delay
        self.bringsToken = bringsToken || play != nil
        self.play = play
        self.library = library
        self.send = send
    }

    /// Sends the click and, if the server recorded it, the launch.
    ///
    /// - Throws: ``OwnClock``, and what sending throws.
    public func report(_ trial: Trial, at now: Timestamp) async throws -> TrialReport {
        let clickedAt = delay.map { now.advanced(byMilliseconds: -$0 - Self.clockMargin) }
        let click = trial.click(host: host, key: key, at: clickedAt)
        let clickResponse = try send(click)
        try requireSetClock(clickResponse, clickedAt)
        guard clickResponse.isRecorded else {
            let result = TrialResult(trial, click: clickResponse, launch: nil)
            return TrialReport(result: result, click: click, launch: nil)
        }
        let launchedAt = delay.flatMap { delay in clickedAt?.advanced(byMilliseconds: delay) }
        let token = bringsToken ? clickResponse["token"] : nil
        let report = token.flatMap { play?.text(token: $0, clickedAt: clickedAt ?? now) }
        let (launch, answer) =
            if let library {
                try await library(trial, token, launchedAt)
            } else {
                try exchange(trial.launch(host: host, key: key, token: token, play: report, at: launchedAt))
            }
        let use: TrialResult.Token = !bringsToken ? .notWanted : token == nil ? .missing : .brought
        let (response, time) = (clickResponse, launchedAt)
        let result = TrialResult(trial, click: response, launch: answer, launchedAt: time, token: use)
        return TrialReport(result: result, click: click, launch: launch)
    }

    private func exchange(_ request: ClientRequest) throws -> (ClientRequest, ClientResponse) {
        (request, try send(request))
    }

    /// Throws if the server uses its own clock; then the click does not expire whole seconds after its time.
    private func requireSetClock(_ response: ClientResponse, _ clickedAt: Timestamp?) throws(OwnClock) {
        guard let clickedAt, let expiresAt = response.expiresAt, !response.isRepeated,
            expiresAt.milliseconds(since: clickedAt) % 1000 != 0
        else { return }
        throw OwnClock()
    }
}
