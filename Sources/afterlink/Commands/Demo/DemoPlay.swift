internal import Attribution
internal import HTTPServer
internal import JSON
internal import Server

/// The demo's requests in order, each with what its response must be: a trial's click and launch, a launch with a wrong
/// key, a second launch, and the statistics.
struct DemoPlay {
    private let exchange: Exchange
    private let scenes: [Scene]

    private static let link = "myapp://promo/summer"

    /// A request, and what its response must be.
    private struct Scene {
        let sentence: String
        let request: ClientRequest
        let status: Int
        /// The members of the body that are checked, each with its text and how that is compared.
        var members: [(name: String, text: String, isRight: (String) -> Bool)] = []
        /// The counts that the statistics must have.
        var totals: [(name: String, count: Int64)] = []
    }

    /// - Parameters:
    ///   - exchange: the server, with a new database.
    ///   - appKey: a key of its app.
    ///   - adminKey: an admin key.
    /// - Throws: if the built-in tables lack the browser, its device or its SDK.
    init(_ exchange: Exchange, appKey: String, adminKey: String) throws {
        self.exchange = exchange
        let profile = BrowserProfile.all.first { $0.name == "safari-ios-17" }
        let device = TrialDevice.all.first { $0.name == profile?.device }
        guard let profile, let device, let release = SDKRelease.all.first(where: { $0.form == .a }) else {
            throw Self.failure("the browser is missing in the built-in table")
        }
        let trial = Trial(
            profile: profile,
            device: device,
            release: release,
            person: profile.person,
            poster: .page,
            destination: .url("\(Self.link)?utm_source=instagram"),
            number: 25,
            campaignKey: "SUMMER25"
        )
        let host = exchange.hostField
        let fingerprint = TrialAnalysis(trial).made.first?.input.fingerprint.hex ?? ""
        func launch(_ key: String) -> ClientRequest {
            trial.launch(host: host, key: key, token: nil, at: nil)
        }
        func equal(_ name: String, _ text: String) -> (name: String, text: String, isRight: (String) -> Bool)
        {
            (name, "\"\(text)\"", { $0 == text })
        }
        scenes = [
            Scene(
                sentence:
                    "A person taps a campaign link. The landing page posts what the browser reveals of the phone.",
                request: trial.click(host: host, key: "", at: nil),
                status: 201,
                members: [equal("status", "success"), equal("fingerprint", fingerprint)]
            ),
            Scene(
                sentence: "A launch with a wrong key is refused, and the click stays.",
                request: launch("app_wrong"),
                status: 401,
                members: [equal("error_code", "INVALID_API_KEY")]
            ),
            Scene(
                sentence:
                    "The app was installed and starts for the first time. Its SDK hashes what it knows, and asks.",
                request: launch(appKey),
                status: 200,
                members: [
                    equal("status", "match"), equal("campaignKey", "SUMMER25"),
                    ("url", "something that begins with \(Self.link)", { $0.hasPrefix(Self.link) }),
                    ("url", "something with source=instagram in it", { $0.contains("source=instagram") }),
                ]
            ),
            Scene(
                sentence:
                    "The app is deleted, installed again, and asks again. The first launch used up the click."
                    + "\n   (The demo serves with --replay-grace 0. By default, the same phone gets the same response again"
                    + "\n   for 60 s, in case the first one was lost on its way.)",
                request: launch(appKey),
                status: 200,
                members: [equal("status", "no_match")]
            ),
            Scene(
                sentence: "The operator reads the statistics.",
                request: ClientRequest(
                    "GET /admin/stats",
                    host: host,
                    [("Authorization", "Bearer \(adminKey)")]
                ),
                status: 200,
                totals: [("clicks", 1), ("checks", 2), ("matches", 1), ("no_matches", 1)]
            ),
        ]
    }

    /// Sends each request, prints it with its response, and checks that.
    ///
    /// - Throws: what was not as it should be.
    func run() throws {
        for scene in scenes {
            Console.print("\n── \(scene.sentence)\n")
            Console.print(scene.request.shown)
            let response = try attempt {
                try exchange.send(scene.request)
            } orElse: { (error: SystemError) in
                Self.failure("there was no response: \(error.text)")
            }
            guard let response else { throw Self.failure("the response was no HTTP") }
            try check(response, of: scene)
        }
        Console.print("\nAll of it was right: one click, one match, and no second one.")
    }

    private func check(_ response: ClientResponse, of scene: Scene) throws {
        let body = response.json
        let part = scene.totals.isEmpty ? nil : body?["totals"]
        let text = part.map(JSONLayout.text) ?? response.body
        Console.print("\n< \(response.statusText)\n" + JSONLayout.indented(text, by: "< "))
        guard response.status == scene.status else {
            throw Self.failure("the status was \(response.status), not \(scene.status)")
        }
        for (name, expected, isRight) in scene.members {
            let value = body?[name]?.string
            guard value.map(isRight) != true else { continue }
            throw Self.failure(
                "\(name) should have been \(expected), not \(value.map { "\"\($0)\"" } ?? "missing")"
            )
        }
        for (name, count) in scene.totals {
            let counted = part?.object?[name]?.int64
            guard counted != count else { continue }
            throw Self.failure("\(name) should have been counted as \(count), not as \(counted ?? 0)")
        }
    }

    static func failure(_ what: String) -> CommandFailure {
        CommandFailure(
            "The demo went wrong: \(what).",
            advice: "This is a defect; please report it with the output."
        )
    }
}
