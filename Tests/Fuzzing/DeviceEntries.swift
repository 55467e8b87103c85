import Attribution
import HTTPServer
import Server

extension FuzzEntry {
    private static let agentTokens = [
        "Mozilla/5.0 (", ")", "(", ";", "; ", "iPhone", "iPad", "iPod touch", "Macintosh",
        "CPU iPhone OS 17_2 like Mac OS X", "Android 14", "Linux", "Build/", "wv", "Version/", "Safari/",
        "Dalvik/2.1.0", "okhttp/", "CFNetwork/", "Darwin/", "Googlebot", "facebookexternalhit", "_", ".",
        "9999999999999999999999", "\u{0}", "é", "K",
    ]

    static let userAgent = FuzzEntry(text: "user-agent", tokens: agentTokens) {
        (text) throws(BrokenPromise) in
        for touchPoints in [nil, 0, 5, Int.max] as [Int?] {
            let agent = UserAgent(text, touchPoints: touchPoints)
            try promise(agent == UserAgent(text, touchPoints: touchPoints), "an agent has two readings")
            try promise((agent.model?.utf8.count ?? 0) <= text.utf8.count, "a model is longer than its agent")
        }
        let robot = RobotAgents.embedded.robot(text)
        try promise(robot == RobotAgents.embedded.robot(text), "an agent is a different robot each time")
    }

    /// The values of a page about its device; the input replaces all texts among them.
    static let signals = FuzzEntry(
        text: "signals",
        tokens: agentTokens + ["tr-TR", "Europe/Istanbul", "Etc/GMT+3", "17.2"]
    ) { (text) throws(BrokenPromise) in
        let number = Double(text.utf8.count) * 1e18
        var device = DeviceSignals()
        device.model = text
        device.osVersion = text
        device.screenWidth = number
        device.screenHeight = -number
        device.pixelRatio = number
        device.timezone = text
        device.language = text
        device.languages = [text]
        device.touchPoints = text.utf8.count
        device.uaModel = text
        device.uaPlatformVersion = text
        let canonical = CanonicalSignals(device, userAgent: text)
        try promise(canonical == CanonicalSignals(device, userAgent: text), "signals change each time")
        let data = DeviceData.embedded
        if let language = data.languages.canonical(text) {
            try promise(data.languages.canonical(language) == language, "a canonical language changes")
        }
        if let zone = data.timeZones.canonical(text) {
            try promise(data.timeZones.canonical(zone) == zone, "a canonical time zone changes")
        }
        try promise(canonical.fingerprints().count <= CanonicalSignals.maximumFingerprints, "too many hashes")
        for input in canonical.inputs() {
            let isSound = input.values.allSatisfy { !$0.isEmpty && !$0.utf8.contains(UInt8(ascii: "|")) }
            try promise(isSound, "a component is empty or contains a separator")
        }
        _ = StructuredItem(text)
        try promise(AcceptLanguage.tags(text).allSatisfy { !$0.isEmpty }, "a language tag is empty")
        if let version = OSVersion(text) {
            let written = version.text(for: .ios)
            try promise(
                OSVersion(written) == version || written.isEmpty,
                "a version changes when it is written and read again"
            )
        }
    }

    /// A file that replaces tables that are built in.
    static let dataFile = FuzzEntry(
        "data-file",
        tokens: ["zone", "language", "\t", "\n", "\r\n", "#", " ", "17.2.1", "0.3", "Turkey", "\u{0}", "é"]
    ) { (bytes, _) throws(BrokenPromise) in
        var rows: [DataRow] = []
        do throws(DataFileError) {
            rows = try DataRow.rows(of: bytes, file: "own.tsv", kinds: ["zone", "language"])
        } catch {
            try promise(error.message.hasPrefix("own.tsv, line "), "an error does not name the line")
            return
        }
        try promise(rows.map(\.line) == rows.map(\.line).sorted(), "rows are out of order")
        for row in rows {
            let isSound = row.columns.allSatisfy { !$0.isEmpty && !$0.utf8.contains { $0 < 0x20 } }
            try promise(isSound, "a column is empty or contains a control character")
        }
    }

    /// The source of a visit: referer, parameters of the link, user agent.
    static let source = FuzzEntry(
        text: "source",
        tokens: agentTokens + [
            "https://", "instagram.com", "l.facebook.com", "t.co", "/", "?utm_source=", "&", "qr",
        ]
    ) { (text) throws(BrokenPromise) in
        var signals = SourceSignals(linkItems: QueryItem.items(ofQuery: text[...].utf8))
        signals.source = text
        signals.utmSource = text
        signals.referer = text
        signals.userAgent = text
        let reading = signals.reading
        try promise(reading == signals.reading, "a source is read differently each time")
        try promise((reading.raw?.unicodeScalars.count ?? 0) <= SourceSignals.maximumRawLength, "too long")
    }

    /// The stored line with the signals of a click.
    static let signalsLine = FuzzEntry(
        text: "signals-line",
        tokens: [
            "ios", "android", "unknown", "; ", ";", "=", "model=", "os=", "frozen ", "17.2", "17", "17.2.1",
            "screen=", "390x844", "scale=", "3.0", "width=", "timezone=", "given=", "languages=", ",", "%3B",
            "%", "nan", "1e400", "é",
        ]
    ) { (text) throws(BrokenPromise) in
        guard let signals = CanonicalSignals(line: text) else { return }
        try promise(!signals.line.utf8.contains { $0 < 0x20 }, "a line contains a control character")
        try promise(CanonicalSignals(line: signals.line)?.line == signals.line, "a line changes when read")
    }

    /// The signals that a newer client sends with its hash.
    static let deviceSignalsField = FuzzEntry(
        text: "device-signals-field",
        tokens: [
            "{", "}", "\"model\":", "\"screenWidth\":", "\"osMajor\":", "\"tz\":", "\"lang\":", "\"1170\"",
            "\"iPhone\"", "null", ",", "1e400", "-1", "[", "]", "\"tr\"", "\"Europe/Istanbul\"",
        ]
    ) { (text) throws(BrokenPromise) in
        let field = FieldLine(name: "X-Device-Signals", value: text)
        let request = Request(.get, path: "/", fields: [field])
        guard let signals = DeviceSignalsField.read(request, .embedded) else { return }
        try promise((100...100_000).contains(signals.panelWidth ?? 100), "a screen has an impossible width")
        let launch = LaunchSignals(signals, given: nil, isWeighedByGiven: true)
        try promise(launch.remainingValues.isEmpty, "there are remaining values without a fingerprint")
    }
}
