internal import Attribution
internal import HTTPServer

extension Exchange {
    /// Finds the key that the request carries, and requires a kind that `access` allows.
    ///
    /// - Returns: the key; nil if the call ignores keys, or if it needs none and none was sent.
    /// - Throws: 401 for a missing or invalid key, 403 for a valid key of another kind.
    func findKey(for access: Route.Access) throws(APIError) -> APIKey? {
        let allowed: [KeyKind]
        switch access {
        case .anyone: return nil
        case .anyoneOrKey(let kinds):
            guard request.hasField("authorization") else { return nil }
            allowed = kinds
        case .key(let kinds): allowed = kinds
        }
        // A missing token is looked up as an empty text, which is no key. So the response time does not distinguish a
        // missing token from a wrong one.
        let digest = Self.digestOfToken(of: request) ?? KeyDigest(of: "")
        guard let key = directory.key(digest), key.isValid(at: now) else { throw .invalidAPIKey }
        guard allowed.contains(key.kind) else {
            if key.kind == .read, allowed.contains(.admin) {
                throw .forbidden(
                    "A key of kind read changes nothing; make this call with a key of kind admin"
                )
            }
            let kinds = allowed.map(\.rawValue).joined(separator: " or ")
            throw .forbidden(
                "A key of kind \(key.kind.rawValue) may not make this call; make it with a key of kind \(kinds)"
            )
        }
        return key
    }

    /// - Throws: 403 if a body names another app than the key's.
    static func require(_ app: AppID, isNamed name: String?) throws(APIError) {
        guard name == nil || name == app.text else {
            throw .forbidden("The key belongs to another app than the one that \"app\" names")
        }
    }

    /// Returns the digest of the token in `Authorization: Bearer <token>` (RFC 6750 §2.1).
    ///
    /// Returns nil for a missing, malformed or repeated field.
    ///
    /// Reads the token in place, so that it is never copied.
    private static func digestOfToken(of request: Request) -> KeyDigest? {
        request.withOnlyFieldBytes("authorization") { value -> KeyDigest? in
            let scheme = "bearer ".utf8.span
            guard value.count >= scheme.count else { return nil }
            for index in scheme.indices {
                // This bit turns capitals into small letters. It would turn NUL into a blank, but no field contains NUL.
                guard value[index] | 0x20 == scheme[index] else { return nil }
            }
            var start = scheme.count
            while start < value.count, value[start] == UInt8(ascii: " ") { start += 1 }
            return KeyDigest(of: value.extracting(droppingFirst: start))
        } ?? nil
    }
}

/// Finds API keys in addresses, where they do not belong, because proxies, browsers and their histories store addresses.
enum KeyInURL {
    /// How many times a key in an address may be percent-encoded and still be found.
    private static let maximumEncodings = 3

    /// Returns whether the path or the query contains a text in the form of a key, percent-encoded or not.
    static func isFound(in request: Request) -> Bool {
        // Every key contains an underscore. A released client's check contains neither an underscore nor a percent
        // sign, so it is not decoded.
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
