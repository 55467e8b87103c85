import Attribution
import HTTPServer
import Server

extension FuzzEntry {
    private static let key = ServerKey(bytes: Array(0..<32))
    private static let now = Timestamp(milliseconds: 1_790_000_000_000)
    private static let app = AppID(high: 1, low: 2)
    private static let launchTokens = [
        "al=", "click_id=", "token=", "referrer=", "&", "%26", "%3D", "%2526", "%253D", "?", "#", "https://",
        "http://go.example/s?", "clk_0000000000000g000000000001",
        "AQACAZkAAAAAAAGImaq7zN3u_2VVQoBE-p9yg4OqoBNX", "AQ", "=", "\"", "<", " ", "\n", "\u{0}", "é",
        "utm_source=",
    ]

    /// A text in place of a token: only tokens of the server are accepted.
    static let clickToken = FuzzEntry(text: "click-token", tokens: launchTokens) {
        (text) throws(BrokenPromise) in
        guard let key else { throw BrokenPromise("the entry's key is invalid") }
        if let bytes = Base64URL.bytes(of: text) {
            try promise(Base64URL.text(of: bytes) == text, "bytes have two spellings")
        }
        let now = Timestamp(milliseconds: .min)
        guard let token = try? ClickToken(verifying: text, of: app, among: [app], signedBy: [key], at: now)
        else { return }
        let made = ClickToken(for: token.click, of: app, expiresAt: token.expiresAt, signedBy: key)
        try promise(made.text == text, "a token was accepted that the server does not make")
    }

    /// A text from the store or the pasteboard.
    static let launchText = FuzzEntry(text: "launch-text", tokens: launchTokens) {
        (text) throws(BrokenPromise) in
        func read() -> [ClickReference?] {
            [InstallReferrer(text).reference, PasteboardText(text).reference, ClickReference(text)]
        }
        let found = read()
        try promise(found == read(), "a text reads differently each time")
        for case .token(let text)? in found {
            // U+FFFD, which replaces a cut character, has three bytes.
            try promise(text.utf8.count <= ClickReference.maximumLength + 2, "a reference is too long")
        }
        for reference in found.prefix(2) {
            guard case .token(let token)? = reference else { continue }
            let isClean = token.utf8.allSatisfy { (0x21...0x7e).contains($0) }
            try promise(isClean, "a reference contains other characters than a token")
        }
        if case .id(let id) = AdvertisingID.reading(text, as: .idfa) {
            try promise(AdvertisingID(text, as: .idfa) == id, "an id is read differently each time")
        }
    }

    /// The body of a newer client's launch.
    static let resolveBody = FuzzEntry(
        "resolve-body",
        tokens: launchTokens + [
            "{", "}", "[", "]", ",", ":", "\"signals\":{", "\"screen\":{", "\"width\":", "1e999", "-0",
            "null", "\"languages\":[", "\"idfa\":\"", "6D92078A-8246-4BA4-AE5B-76104861E7DC",
            "\"install_id\":\"",
            "\"first_install_time\":\"2026-07-22T10:30:00.000Z\"", "\"referrer\":\"", "\"pasteboard\":\"",
            "\"play\":{", "\"installReferrer\":\"", "\"installBeginTimestampServerSeconds\":",
        ]
    ) { (bytes, _) throws(BrokenPromise) in
        let type = FieldLine(name: "Content-Type", value: "application/json")
        let request = Request(.post, path: "/", fields: [type], body: bytes)
        let read: ResolveBody
        do throws(APIError) {
            read = try ResolveBody(request)
        } catch {
            try promise(!error.message.isEmpty, "a refusal has no message")
            try promise(error.code != .internalError, "a body causes an internal error")
            return
        }
        try promise(read.evidence.references.count <= 4, "a launch names too many clicks")
        try promise((read.evidence.signals?.languages?.count ?? 0) <= 100, "a list is too long")
    }
}
