internal import Attribution
internal import HTTPServer

/// Finds the key that a request carries and whether it may call a route.
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
        // No token is looked up like a wrong one, so that time tells nobody which it was; no key is empty.
        let digest = digestOfToken(of: request) ?? KeyDigest(of: "")
        guard let key = directory.key(digest), key.isValid(at: now)
        else { throw .invalidAPIKey }
        guard allowed.contains(key.kind) else {
            throw .forbidden("A key of kind \(key.kind.rawValue) may not make this call")
        }
        return key
    }

    /// What is stored of the token of `Authorization: Bearer <token>` (RFC 6750 §2.1); nil for no, another or a
    /// second field.
    ///
    /// Read in place, so that the token itself is copied nowhere.
    private static func digestOfToken(of request: Request) -> KeyDigest? {
        request.withOnlyFieldBytes("authorization") { value -> KeyDigest? in
            let scheme = "bearer ".utf8.span
            guard value.count >= scheme.count else { return nil }
            for index in scheme.indices {
                // The bit that makes capitals small; a field value holds no NUL that it would make a blank.
                guard value[index] | 0x20 == scheme[index] else { return nil }
            }
            var start = scheme.count
            while start < value.count, value[start] == UInt8(ascii: " ") { start += 1 }
            return KeyDigest(of: value.extracting(droppingFirst: start))
        } ?? nil
    }
}
