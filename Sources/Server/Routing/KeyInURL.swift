internal import Attribution
internal import HTTPServer

/// Finds API keys in addresses, where they do not belong: proxies, browsers and their histories keep addresses.
enum KeyInURL {
    /// How many times an address may be percent-encoded.
    private static let maximumEncodings = 3

    /// Whether path or query contain a text in the form of a key, percent-encoded or not.
    static func isFound(in request: Request) -> Bool {
        // Every key has an underscore. The check of a released client has none, and is not decoded.
        guard request.targetHolds(UInt8(ascii: "_"), or: UInt8(ascii: "%")) else { return false }
        return holdsKey(request.path) || (request.query.map(holdsKey) ?? false)
    }

    private static func holdsKey(_ text: String) -> Bool {
        var text = text
        for _ in 0..<maximumEncodings {
            if KeyText.occurs(in: text) { return true }
            let decoded = QueryItem.text(ofPathPart: text)
            guard decoded != text else { return false }
            text = decoded
        }
        return KeyText.occurs(in: text)
    }
}
