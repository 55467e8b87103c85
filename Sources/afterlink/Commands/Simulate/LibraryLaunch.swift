#if ClientLibrary
internal import AfterlinkCore
internal import Attribution
internal import FoundationEssentials
internal import JSON
internal import Server
internal import Synchronization

/// A first launch that the Swift client library makes, as it would in an app on the simulated device.
struct LibraryLaunch {
    typealias Exchanged = (request: Server.ClientRequest, response: Server.ClientResponse)

    let server: TrialServer
    let key: TrialKey

    /// The time limit of the launch, which is longer than the library waits for a response.
    private static let limit = TimeLimit.seconds(30)

    /// Runs the library as a new installation.
    ///
    /// - Parameters:
    ///   - trial: the device and its person.
    ///   - token: the token of a link that the person pasted; nil for none.
    ///   - time: the time of the launch, for a server whose clock the requests set.
    /// - Returns: the library's request, and the server's response.
    /// - Throws: if the server cannot be reached or refuses the key, or if the library returns another answer than the
    ///   server.
    func run(_ trial: Trial, token: String?, at time: Timestamp?) async throws -> Exchanged {
        let directory = try TemporaryDirectory()
        defer { directory.delete() }
        var options = Options()
        options.folder = URL(fileURLWithPath: directory.path)
        guard let url = URL(string: server.url) else {
            throw CommandFailure.usage("The library cannot read the address \(server.url).")
                .advising("Name the service with --server, as in https://links.example.")
        }
        let recorder = Recorder { [server, key] in
            let request = trial.launch(
                host: server.exchange.hostField,
                fields: $0.fields,
                body: $0.body,
                at: time
            )
            return (request, try server.send(request, with: key))
        }
        let signals = Self.signals(of: trial)
        let configuration = AfterlinkCore.Configuration(
            server: url,
            appKey: key.text,
            options: options,
            transport: recorder,
            signals: { signals }
        )
        let library = Afterlink(configuration)
        if let token { await library.pasted("\(server.url)/?\(ClickReference.linkName)=\(token)") }
        let answer = await library.firstLaunch(within: Self.limit)
        let exchanged = try recorder.exchanged()
        guard Self.isOf(exchanged.response, answer) else {
            throw CommandFailure.because(
                "The library returned \(answer) for the response \(exchanged.response.body)"
            ).advising("This is a defect; please report it with the output.")
        }
        return exchanged
    }

    private static func signals(of trial: Trial) -> Signals {
        let values = trial.device.values(for: trial.person)
        var signals = Signals()
        signals.platform = trial.device.platform == .android ? .android : .ios
        (signals.model, signals.machine, signals.osVersion) = (values.model, values.machine, values.osVersion)
        (signals.scale, signals.timezone) = (values.scale, values.timezone)
        (signals.language, signals.languages) = (values.language, values.languages)
        if let width = values.screenWidth, let height = values.screenHeight {
            signals.setScreen(width: width, height: height)
        }
        return signals
    }

    /// Returns whether `answer` is the result that the library must return for a response.
    private static func isOf(_ response: Server.ClientResponse, _ answer: AfterlinkCore.FirstLaunch) -> Bool {
        switch answer {
        case .match(let link): response.isMatch && link.url.absoluteString == response.json?["url"]?.string
        case .campaign(let key): response.isMatch && key == response.json?["campaignKey"]?.string
        case .none: response.status == 200 && response.json?["status"]?.string == "no_match"
        // A refusal is not a result: the library would ask again at the next launch.
        case .pending: response.status != 200
        case .settled: false
        }
    }

    /// Sends the library's requests as requests of a trial, and stores the result of the last one.
    private final class Recorder: Transport {
        private let send:
            @Sendable ((fields: [(name: String, value: String)], body: String)) throws -> Exchanged
        private let last = Mutex<Result<Exchanged, any Error>?>(nil)

        init(
            _ send:
                @escaping @Sendable ((fields: [(name: String, value: String)], body: String)) throws ->
                Exchanged
        ) {
            self.send = send
        }

        func send(_ request: AfterlinkCore.ClientRequest) async throws -> AfterlinkCore.ClientResponse {
            let fields = request.headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
            let result = Result { try send((fields, String(decoding: request.body, as: UTF8.self))) }
            last.withLock { $0 = result }
            guard case .success(let exchanged) = result else {
                // The status 400 ends the launch at once; after other failures, the library would ask again.
                return AfterlinkCore.ClientResponse(
                    status: 400,
                    body: Data(#"{"error_code":"UNREACHABLE"}"#.utf8)
                )
            }
            let response = exchanged.response
            return AfterlinkCore.ClientResponse(status: response.status, body: Data(response.body.utf8))
        }

        func exchanged() throws -> Exchanged {
            guard let result = last.withLock({ $0 }) else {
                throw CommandFailure.because("The library sent no request.")
                    .advising("Set TMPDIR to a directory that can be written to.")
            }
            return try result.get()
        }
    }
}
#endif
