import Support

extension Row {
    /// The duration of a check of a fingerprint with 20,000 live clicks, and of one with a single click.
    static let hotKey = Row(
        "hot-key",
        "a check of a fingerprint with 20,000 live clicks against one with a single click",
        isComparable: true
    ) { bench in
        let withAddresses = try hotKeyContest(bench, sendsAddresses: true)
        guard !bench.comparesBinaries else { return [withAddresses] }
        return [withAddresses, try hotKeyContest(bench, sendsAddresses: false)]
    }

    private static func hotKeyContest(_ bench: Workbench, sendsAddresses: Bool) throws -> Contest {
        let visitors = try HotKeyVisitors(bench, sendsAddresses: sendsAddresses)
        let (suffix, end) = sendsAddresses ? ("", "") : ("_without_addresses", ", from unusable addresses")
        func name(_ name: String, _ clicks: String, _ bar: Bar? = nil) -> FigureName {
            FigureName(name + suffix, "check of a fingerprint with \(clicks)\(end)", bar)
        }
        return Contest(
            names: [
                name("hot_key_microseconds", "20,000 live clicks, µs"),
                name("single_key_microseconds", "one live click, µs"),
            ],
            explaining: [name("hot_key_growth", "20,000 live clicks, of one with one", .atMost(2))]
        ) { _ in
            let (hot, single) = try visitors.round(bench.scale.hotChecks)
            return [hot, single, hot / single]
        }
    }
}

/// Sends the clicks and launches of the row, each from a new visitor.
private final class HotKeyVisitors {
    private let server: Server
    private let client: RawClient
    private let sendsAddresses: Bool
    private let hotFingerprint = String(repeating: "c", count: 64)
    private var visitors = 0
    private var singles: UInt32 = 0

    init(_ bench: Workbench, sendsAddresses: Bool) throws {
        self.sendsAddresses = sendsAddresses
        server = try Server(bench.emptyInstallation(), bench)
        client = try server.connect()
        for _ in 0..<bench.scale.hotClicks { try click(hotFingerprint) }
        // The first checks of a common fingerprint make the server summarise its clicks in the background.
        _ = try round(bench.scale.hotChecks / 4)
    }

    /// Returns the median microseconds of checks of the hot fingerprint, and of fingerprints with a single click.
    ///
    /// Each check of the hot fingerprint claims a click, and a new click replaces it.
    func round(_ count: Int) throws -> (hot: Double, single: Double) {
        var (hot, single) = ([Double](), [Double]())
        for _ in 0..<count {
            singles += 1
            let fingerprint = SampleRequests.hexadecimal(singles) + String(repeating: "0", count: 56)
            try click(fingerprint)
            hot.append(try check(hotFingerprint))
            single.append(try check(fingerprint))
            try click(hotFingerprint)
        }
        return (hot.median, single.median)
    }

    private func click(_ fingerprint: String) throws {
        visitors += 1
        let body =
            #"{"fingerprint":"\#(fingerprint)","deeplink_url":"myapp://promo/\#(visitors % 20)","#
            + #""campaign_key":"CAMPAIGN\#(visitors % 20)","platform":"ios"}"#
        client.send(SampleRequests.click(body: body, key: server.key, address: address()))
        _ = try client.answer().expecting(201)
    }

    /// Sends a check, and returns its duration in microseconds.
    private func check(_ fingerprint: String) throws -> Double {
        visitors += 1
        let (address, install) = (address(), "visitor-\(visitors)")
        let request = SampleRequests.check(fingerprint, key: server.key, address: address, install: install)
        let watch = Stopwatch()
        client.send(request)
        _ = try client.answer().expecting(200)
        return watch.microseconds
    }

    /// Returns the visitor's own address, or a private address, which does not help to recognise the visitor.
    private func address() -> [UInt8] {
        guard !sendsAddresses else { return SampleAddress.bytes(visitors) }
        return Array("10.\(visitors / 65_536 % 256).\(visitors / 256 % 256).\(visitors % 256)".utf8)
    }
}
