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
