internal import Attribution
internal import HTTPServer

/// Finds the key that a request carries, and checks that it may call a route.
enum Authentication {
    /// - Returns: the key, or nil where none is needed and none was sent.
    static func key(
        of request: Request,
        for access: Route.Access,
        in directory: Directory,
        at now: Timestamp
    ) throws(APIError) -> APIKey? {
        let allowed: [KeyKind]
        switch access {
        case .anyone: return nil
        case .anyoneOrKey(let kinds):
            guard request.hasField("authorization") else { return nil }
            allowed = kinds
        case .key(let kinds): allowed = kinds
        }
        // A missing token is looked up like a wrong one, so that timing does not reveal which it was; no key is
        let digest = digestOfToken(of: request) ?? KeyDigest(of: "")
        guard let key = directory.key(digest), key.isValid(at: now)
        else { throw .invalidAPIKey }
        guard allowed.contains(key.kind) else {
            throw .forbidden("A key of kind \(key.kind.rawValue) may not make this call")
        }
        return key
    }

    /// The digest of the token in `Authorization: Bearer <token>` (RFC 6750 §2.1); nil for a missing, malformed or
    /// repeated field.
    ///
    /// Reads the token in place, so that it is never copied.
    private static func digestOfToken(of request: Request) -> KeyDigest? {
        request.withOnlyFieldBytes("authorization") { value -> KeyDigest? in
            let scheme = "bearer ".utf8.span
            guard value.count >= scheme.count else { return nil }
            for index in scheme.indices {
                // This bit makes capitals small. A field value contains no NUL, which it would make a blank.
                guard value[index] | 0x20 == scheme[index] else { return nil }
            }
            var start = scheme.count
            while start < value.count, value[start] == UInt8(ascii: " ") { start += 1 }
            return KeyDigest(of: value.extracting(droppingFirst: start))
        } ?? nil
    }
}

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
