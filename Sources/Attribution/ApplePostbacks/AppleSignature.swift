internal import Crypto

/// The outcome of verifying a postback's signature; the raw value is the word on the wire and in the database.
public enum AppleVerification: String, CaseIterable, Sendable {
    case valid, invalid
    /// The signature names an unknown key, or Afterlink cannot verify postbacks of this version.
    case unverifiable
}

/// The kind of the key that signed a postback; the raw value is the word on the wire and in the database.
///
/// Any phone in developer mode can make postbacks for any app; a development key signs them.
public enum AppleEnvironment: String, CaseIterable, Sendable {
    case production, development

    /// Returns whether reports on live traffic count this environment's postbacks about an app; nil means an unknown
    /// app.
    public func isCounted(for app: App?) -> Bool {
        self == .production || app?.settings.links.apple.countsDevelopmentPostbacks == true
    }
}

/// A postback with its signature.
public struct SignedApplePostback: Equatable, Sendable {
    public let postback: ApplePostback
    /// The key that a signature names.
    enum Key: Equatable, Sendable {
        case skAdNetwork
        case named(String?)
        case unsupported
    }

    public var verification = AppleVerification.unverifiable
    public var environment = AppleEnvironment.production

    /// Verifies that `signature`, in DER, signs the bytes `message`; nil is a signature that could not be decoded.
    init(
        _ postback: ApplePostback,
        _ key: Key,
        message: [UInt8],
        signature: [UInt8]?,
        _ keys: ApplePublicKeys
    ) {
        self.postback = postback
        let publicKey: [UInt8]?
        switch key {
        case .skAdNetwork: publicKey = keys.skAdNetwork
        case .named(let name):
            publicKey = name.flatMap { keys.named[$0] }
            if name?.hasPrefix("apple-development-identifier/") == true { environment = .development }
        case .unsupported: publicKey = nil
        }
        guard let publicKey else { return }
        let verifies = signature.map { ECDSAP256.verifies($0, of: message, key: publicKey) } ?? false
        verification = verifies ? .valid : .invalid
    }
}

/// The public keys that verify postbacks, each as DER SubjectPublicKeyInfo.
public struct ApplePublicKeys: Sendable {
    /// The key of SKAdNetwork from version 2.1 on.
    public var skAdNetwork: [UInt8]
    /// The keys of AdAttributionKit by the identifiers that its headers name.
    public var named: [String: [UInt8]]

    public init(skAdNetwork: [UInt8], named: [String: [UInt8]]) {
        (self.skAdNetwork, self.named) = (skAdNetwork, named)
    }

    /// The keys that Apple publishes.
    ///
    /// Sources: Apple's articles "Verifying an install-validation postback" and "Verifying a postback".
    public static let published: ApplePublicKeys = {
        let production = key(
            "Wdp8GPcGqmhgzEFj9Z2nSpQVddayaPe4FMzqM9wib1+aHaaIzoHoLN9zW4K8y4SPykE3YVK3sVqW6Af0lfx3gg"
        )
        return ApplePublicKeys(
            skAdNetwork: production,
            named: [
                "apple-cas-identifier/0": production,
                "apple-development-identifier/0": key(
                    "LeEDzpJEP+/qRSE5hJVC1p1J0ssUnQGMzBBbvnACBok8OVGGLgxL0myrKiy6lvRtSlLRsWit87i+vftD8AEqeQ"
                ),
                "apple-development-identifier/1": key(
                    "8YzdO7eM97s/IJ25kdW5CZ3A14USE5IJ5Ha/vhWaxI6UBI1ZxCEvjrKxVluVGe6qWwF1BDFq+QHqKfH5u+wxHQ"
                ),
            ]
        )
    }()

    /// Returns the key of a point, whose coordinates are 64 bytes in Base64; all P-256 keys start with the same bytes.
    private static func key(_ point: String) -> [UInt8] {
        (Base64URL.bytes(ofStandard: "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE") ?? [])
            + (Base64URL.bytes(ofStandard: point) ?? [])
    }
}
