import Support

/// A check of a fingerprint that very many live clicks have, against one that a single click has.
enum HotKeyRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        try measure(bench, .hotKeyGrowth, .hotKeyMicroseconds, tellsAddresses: true)
            + measure(bench, .hotKeyGrowthWithoutAddresses, nil, tellsAddresses: false)
    }

    private static func measure(
        _ bench: Workbench,
        _ growth: FigureName,
        _ microseconds: FigureName?,
        tellsAddresses: Bool
    ) throws -> [Figure] {
        let people = try HotKeyPeople(bench, tellsAddresses: tellsAddresses)
        let rounds = try (0..<bench.options.rounds).map { _ in try people.round(bench.scale.hotChecks) }
        let ratio = Figure(growth, rounds.map(\.hot), of: rounds.map(\.single))
        return [ratio] + (microseconds.map { [Figure($0, rounds.map(\.hot))] } ?? [])
    }

    static func contests(_ bench: Workbench) throws -> [Contest] {
        let people = try HotKeyPeople(bench, tellsAddresses: true)
        return [
            Contest(.hotKeyMicroseconds, .singleKeyMicroseconds) { _ in
                let round = try people.round(bench.scale.hotChecks)
                return [round.hot, round.single]
            }
        ]
    }
}

/// The visitors who click and launch for the row.
private final class HotKeyPeople {
    private let server: Server
    private let client: RawClient
    private let key: String
    private let tellsAddresses: Bool
    private let crowded = String(repeating: "c", count: 64)
    private var people = 0
    private var singles: UInt32 = 0

    init(_ bench: Workbench, tellsAddresses: Bool) throws {
        self.tellsAddresses = tellsAddresses
        server = try Server(bench.emptyInstallation(), bench)
        client = try server.connect()
        key = server.installation.keys.app
        try crowd(bench.scale.hotClicks)
        // Summaries of common fingerprints are made in the background of the checks that miss them.
        _ = try round(bench.scale.hotChecks / 4)
    }

    /// Clicks with one fingerprint.
    func crowd(_ count: Int) throws {
        for _ in 0..<count { try click(crowded) }
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
        try ask(SampleRequests.click(body: body, key: key, address: address()), status: 201)
    }

    /// How long a check takes, in microseconds.
    private func check(_ fingerprint: String) throws -> Double {
        people += 1
        let request = SampleRequests.check(
            fingerprint: fingerprint,
            key: key,
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
