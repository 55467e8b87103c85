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
        let allowed: Set<KeyKind>
        switch access {
        case .anyone: return nil
        case .anyoneOrKey(let kinds):
            guard request.hasField("authorization") else { return nil }
            allowed = kinds
        case .key(let kinds): allowed = kinds
        }
        // No token is looked up like a wrong one, so that time tells nobody which it was; no key is empty.
        guard let key = directory.key(KeyDigest(of: bearerToken(of: request) ?? "")), key.isValid(at: now)
        else { throw .invalidAPIKey }
        guard allowed.contains(key.kind) else {
            throw .forbidden("A key of kind \(key.kind.rawValue) may not make this call")
        }
        return key
    }

    /// The token of `Authorization: Bearer <token>` (RFC 6750 §2.1); nil for no, another or a second field.
    private static func bearerToken(of request: Request) -> String? {
        let values = request.fields("authorization")
        guard values.count == 1, let value = values.first else { return nil }
        let scheme = value.prefix(7)
        guard scheme.lowercased() == "bearer " else { return nil }
        return String(value.dropFirst(7).drop { $0 == " " })
    }
}
