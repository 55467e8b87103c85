import Support

/// A check of a fingerprint that very many live clicks have, against one that a single click has.
enum HotKeyRow: ComparableRow {
    static let name = "hot-key"
    static let summary = "a check of a fingerprint with 20,000 live clicks against one with a single click"

    static func measure(_ bench: Workbench) throws -> [Figure] {
        try [contest(bench, tellsAddresses: true), contest(bench, tellsAddresses: false)].flatMap { contest in
            contest.figures(try bench.interleaved([contest.turn])[0])
        }
    }

    static func contests(_ bench: Workbench) throws -> [Contest] {
        [try contest(bench, tellsAddresses: true)]
    }

    private static func contest(_ bench: Workbench, tellsAddresses: Bool) throws -> Contest {
        let people = try HotKeyPeople(bench, tellsAddresses: tellsAddresses)
        let (suffix, end) =
            tellsAddresses ? ("", "") : ("_without_addresses", ", where addresses tell nothing")
        func name(_ name: String, _ clicks: String, _ bar: Bar? = nil) -> FigureName {
            FigureName(name + suffix, "check of a fingerprint with \(clicks)\(end)", bar)
        }
        return Contest(
            name("hot_key_microseconds", "20,000 live clicks, µs"),
            name("single_key_microseconds", "one live click, µs"),
            beside: [name("hot_key_growth", "20,000 live clicks, of one with one", .atMost(2))]
        ) { _ in
            let (hot, single) = try people.round(bench.scale.hotChecks)
            return [hot, single, hot / single]
        }
    }
}

/// The visitors who click and launch for the row.
private final class HotKeyPeople {
    private let server: Server
    private let client: RawClient
    private let tellsAddresses: Bool
    private let crowded = String(repeating: "c", count: 64)
    private var people = 0
    private var singles: UInt32 = 0

    init(_ bench: Workbench, tellsAddresses: Bool) throws {
        self.tellsAddresses = tellsAddresses
        server = try Server(bench.emptyInstallation(), bench)
        client = try server.connect()
        for _ in 0..<bench.scale.hotClicks { try click(crowded) }
        // Summaries of common fingerprints are made in the background of the checks that miss them.
        _ = try round(bench.scale.hotChecks / 4)
    }

    /// Medians in microseconds of checks of the crowded fingerprint and of ones with a single click, in turns.
    ///
    /// A click follows each check of the crowded fingerprint that matches, so that the crowd keeps its size.
    func round(_ count: Int) throws -> (hot: Double, single: Double) {
        var (hot, single) = ([Double](), [Double]())
        for _ in 0..<count {
            singles += 1
            let fingerprint = SampleRequests.hexadecimal(singles) + String(repeating: "0", count: 56)
            try click(fingerprint)
            hot.append(try check(crowded))
            single.append(try check(fingerprint))
            try click(crowded)
        }
        return (hot.median, single.median)
    }

    private func click(_ fingerprint: String) throws {
        people += 1
        let body =
            #"{"fingerprint":"\#(fingerprint)","deeplink_url":"myapp://promo/\#(people % 20)","#
            + #""campaign_key":"CAMPAIGN\#(people % 20)","platform":"ios"}"#
        try ask(SampleRequests.click(body: body, key: server.key, address: address()), status: 201)
    }

    /// How long a check takes, in microseconds.
    private func check(_ fingerprint: String) throws -> Double {
        people += 1
        let request = SampleRequests.check(
            fingerprint: fingerprint,
            key: server.key,
            address: address(),
            install: "person-\(people)"
        )
        let watch = Stopwatch()
        try ask(request, status: 200)
        return watch.microseconds
    }

    /// Each visitor has an address of their own; a private one says nothing.
    private func address() -> [UInt8] {
        guard !tellsAddresses else { return SampleAddress.bytes(people) }
        return Array("10.\(people / 65_536 % 256).\(people / 256 % 256).\(people % 256)".utf8)
    }

    private func ask(_ request: String, status: Int) throws {
        client.send(request)
        let answer = try client.answer()
        guard answer.status == status else {
            throw BenchmarkError("The server answers with \(answer.status): \(answer.body)")
        }
    }
}
