import Attribution
import Server
import Storage

extension FuzzEntry {
    /// A trace: what comes of it does not depend on where its pieces are cut.
    static let trace = FuzzEntry(
        "trace",
        tokens: [
            "{", "}", "\n", "\r\n", ",", ":", "null", "1e999", "-1", "\"event\":\"click\"",
            "\"event\":\"launch\"", "\"at\":", "1790000026014", "\"2026-09-21T14:13:46.014Z\"", "\"id\":",
            "\"token\":", "\"truth\":", "\"organic\"", "{\"click\":1}", "\"signals\":{", "\"device\":{",
            "\"screen\":{", "\"form\":\"A\"", "\"fingerprint_input\":\"", "\"ip_address\":\"203.0.113.7\"",
            "\"attribution_window_seconds\":60",
        ]
    ) { (bytes, random) throws(BrokenPromise) in
        guard let key = ServerKey(bytes: Array(0..<32)) else {
            throw BrokenPromise("the entry's key is none")
        }
        let whole = read(bytes, cutAt: bytes.count, key)
        let cut = read(bytes, cutAt: random.below(bytes.count + 1), key)
        try promise(whole.events == cut.events, "a trace reads differently when it comes in two pieces")
        try promise(whole.error == cut.error, "a trace is refused differently when it comes in two pieces")
        let times = whole.events.map(\.at)
        try promise(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 }, "events come out of order")
        guard let first = whole.events.first else { return }
        var replay = Replay(ReplayPlan(warmUpDays: 0), began: first.at)
        for event in whole.events { replay.play(event) }
        try promise(replay.score.clicksUsedTwice == 0, "a click was used twice")
    }

    private static func read(_ bytes: [UInt8], cutAt cut: Int, _ key: ServerKey) -> (
        events: [RecordedEvent], error: TraceError?
    ) {
        var reader = TraceReader(key: key)
        var events: [RecordedEvent] = []
        do throws(TraceError) {
            for piece in [bytes[..<cut], bytes[cut...]] {
                reader.append(piece)
                while let event = try reader.next() { events.append(event) }
            }
            reader.end()
            while let event = try reader.next() { events.append(event) }
            return (events, nil)
        } catch {
            return (events, error)
        }
    }
}
