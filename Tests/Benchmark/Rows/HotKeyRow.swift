import HTTPServer
import Support
import Threads

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
        let folder = bench.folder.makeFolder("hot")
        let server = try Server(try Installation(making: folder, with: bench.binary), bench)
        let asked = try HotKeyPeople(server, tellsAddresses: tellsAddresses)
        try asked.crowd(bench.scale.hotClicks)
        // Summaries of common fingerprints are made beside the checks that miss them.
        _ = try asked.round(bench.scale.hotChecks / 4)
        let rounds = try (0..<bench.options.rounds).map { _ in try asked.round(bench.scale.hotChecks) }
        let ratio = Figure(growth, rounds.map(\.hot), of: rounds.map(\.single))
        return [ratio] + (microseconds.map { [Figure($0, rounds.map(\.hot))] } ?? [])
    }
}

/// Whoever clicks and checks for the row.
private final class HotKeyPeople {
    private let server: Server
    private let client: RawClient
    private let key: String
    private let tellsAddresses: Bool
    private let crowded = String(repeating: "c", count: 64)
    private var people = 0
    private var singles: UInt32 = 0

    init(_ server: Server, tellsAddresses: Bool) throws {
        self.server = server
        self.tellsAddresses = tellsAddresses
        client = try server.connect()
        key = server.installation.keys.app
    }

    /// Clicks with one fingerprint.
    func crowd(_ count: Int) throws {
        for _ in 0..<count { try click(crowded) }
    }

    /// Medians in microseconds of checks of the crowded fingerprint and of ones with a single click, in turns.
    ///
    /// Each crowd's check that matches is followed by a click, so that the crowd stays as it is.
    func round(_ count: Int) throws -> (hot: Double, single: Double) {
        var (hot, single) = ([Double](), [Double]())
        for _ in 0..<count {
            singles += 1
            let own = SampleRequests.hexadecimal(singles) + String(repeating: "0", count: 56)
            try click(own)
            hot.append(try check(crowded))
            single.append(try check(own))
            try click(crowded)
        }
        return (hot.median, single.median)
    }

    private func click(_ fingerprint: String) throws {
        people += 1
        let body =
            #"{"fingerprint":"\#(fingerprint)","deeplink_url":"myapp://promo/\#(people % 20)","#
            + #""campaign_key":"CAMPAIGN\#(people % 20)","platform":"ios"}"#
        _ = try ask(SampleRequests.click(body: body, key: key, address: address()), status: 201)
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
        let start = MonotonicTime.now()
        try ask(request, status: 200)
        return Double(MonotonicTime.now().nanoseconds(since: start)) / 1000
    }

    /// Everybody has one of his own; a private one tells nothing.
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
