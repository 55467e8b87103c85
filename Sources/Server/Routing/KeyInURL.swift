internal import Attribution
internal import HTTPServer

/// Finds API keys in addresses, where they do not belong: proxies, browsers and their histories keep addresses.
enum KeyInURL {
    /// How often an address may have been percent-encoded before it was sent.
    private static let mostEncodings = 3

    /// Whether path or query hold something of the form of a key, percent-encoded or not.
    static func isFound(in request: Request) -> Bool {
        // Every key has an underscore: the check of a released client, which has none, is not looked at twice.
        guard request.targetHolds(UInt8(ascii: "_"), or: UInt8(ascii: "%")) else { return false }
        return holdsKey(request.path) || (request.query.map(holdsKey) ?? false)
    }

    private static func holdsKey(_ text: String) -> Bool {
        var text = text
        for _ in 0..<mostEncodings {
            if KeyText.occurs(in: text) { return true }
            let decoded = QueryItem.text(ofPathPart: text)
            guard decoded != text else { return false }
            text = decoded
        }
        return KeyText.occurs(in: text)
    }
}
