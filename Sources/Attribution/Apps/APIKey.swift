internal import Crypto

/// What a key may be used for.
///
/// The raw value is the prefix of the key's text and the word in the database.
public enum KeyKind: String, CaseIterable, Sendable {
    /// A key that is public, because it is part of the mobile app. It may send clicks and checks (a first launch's
    /// requests for its click); the server ignores the address, agent and time that they state.
    case app
    /// A customer's secret key. It may send checks and clicks; the server believes the address, agent and
    /// time that they state.
    case server
    /// A key like `app` for test traffic: its checks find only clicks of test keys, and no live key finds these clicks.
    case test
    /// A key for everything under `/admin` and nothing else. It belongs to no app.
    case admin
    /// A key for every call under `/admin` that changes nothing, for the metrics and for the dashboard. It belongs to
    /// one app and shows only that app's data, or it belongs to no app and shows all.
    case read

    /// Whether a key of this kind belongs to an app; nil if some keys of the kind do, and others do not.
    public var belongsToApp: Bool? {
        switch self {
        case .app, .server, .test: true
        case .admin: false
        case .read: nil
        }
    }

    /// Whether a key of this kind signs in to the dashboard.
    public var signsIn: Bool { self == .admin || self == .read }
}

/// The SHA-256 of a key's text, stored instead of the text.
///
/// Generated keys are random and cannot be guessed, so a fast hash is safe.
///
/// A comparison takes constant time, so that its duration reveals nothing about a stored key.
public struct KeyDigest: Hashable, Sendable {
    private let digest: SHA256.Digest

    /// 32 bytes.
    public var bytes: [UInt8] { digest.bytes }

    /// Returns nil unless there are 32 bytes.
    public init?(bytes: [UInt8]) {
        guard let digest = SHA256.Digest(bytes: bytes) else { return nil }
        self.digest = digest
    }

    init(_ digest: SHA256.Digest) { self.digest = digest }
}

/// A key as it is stored, without its text.
public struct APIKey: Equatable, Sendable {
    public let id: KeyID
    public let kind: KeyKind
    /// Nil for admin keys, and for read keys of all apps.
    public let app: AppID?
    /// The operator's own description, up to 100 characters; may be empty.
    public let label: String
    public let digest: KeyDigest
    public let createdAt: Timestamp
    public var expiresAt: Timestamp?
    public var revokedAt: Timestamp?
    /// When the key was last used, rounded down to the minute and recorded some seconds late.
    ///
    /// Nil if the key was never used.
    public var lastUsedAt: Timestamp?

    public init(
        id: KeyID,
        kind: KeyKind,
        app: AppID?,
        label: String,
        digest: KeyDigest,
        createdAt: Timestamp,
        expiresAt: Timestamp? = nil,
        revokedAt: Timestamp? = nil,
        lastUsedAt: Timestamp? = nil
    ) {
        (self.id, self.kind, self.app) = (id, kind, app)
        (self.label, self.digest, self.createdAt) = (label, digest, createdAt)
        (self.expiresAt, self.revokedAt, self.lastUsedAt) = (expiresAt, revokedAt, lastUsedAt)
    }

    public func isValid(at now: Timestamp) -> Bool {
        revokedAt == nil && (expiresAt.map { now < $0 } ?? true)
    }
}

/// The secret text of a key, which is shown once, when the key is created, and stored only as a ``KeyDigest``.
public struct KeyText: Sendable {
    public let text: String

    /// The possible lengths of an operator's own key text, in characters.
    public static let allowedLength = 32...256

    private static let randomByteCount = 32

    /// Creates a key: `<kind>_` and 32 random bytes in base64url.
    public init(kind: KeyKind, random: RandomSource) {
        text = "\(kind.rawValue)_\(Base64URL.text(of: random.exactly(Self.randomByteCount)))"
    }

    /// Creates a key from the operator's text; nil unless it is ``allowedLength`` visible ASCII characters.
    public init?(operatorsOwn text: String) {
        guard Self.allowedLength.contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        self.text = text
    }

    /// Returns whether a text contains a word with the form of a generated key.
    ///
    /// A word ends at any character that no generated key contains. Keys that operators choose themselves
    /// are not recognised.
    public static func occurs(in text: String) -> Bool {
        text.utf8.split { !$0.isASCIIWordByte }.contains { word in
            KeyKind.allCases.contains { kind in
                word.count == kind.rawValue.utf8.count + 1 + secretLength
                    && word.starts(with: "\(kind.rawValue)_".utf8)
            }
        }
    }

    /// Returns whether a text may contain a generated key, even inside a longer word.
    ///
    /// It may return true for a text without a key, so it decides only what logs omit. ``occurs(in:)``
    /// decides which requests are rejected.
    public static func mayOccur(in text: String) -> Bool {
        let text = text.utf8.span
        for index in text.indices where text[index] == UInt8(ascii: "_") {
            for kind in KeyKind.allCases where isKey(of: kind, at: index, in: text) { return true }
        }
        return false
    }

    /// Returns whether the kind's name precedes an underscore and enough characters for a key follow it.
    private static func isKey(of kind: KeyKind, at underscore: Int, in text: Span<UInt8>) -> Bool {
        let name = kind.rawValue.utf8.span
        let start = underscore - name.count
        guard start >= 0, text.count - underscore > secretLength else { return false }
        for index in name.indices where text[start + index] != name[index] { return false }
        for index in 1...secretLength where !text[underscore + index].isASCIIWordByte { return false }
        return true
    }

    /// The number of characters of 32 bytes in base64url.
    private static let secretLength = (randomByteCount * 4 + 2) / 3

    public var digest: KeyDigest { KeyDigest(of: text) }
}

extension KeyText: HiddenValue {}

extension KeyDigest {
    /// Creates the digest of what a caller presents as its key.
    public init(of text: String) { self.init(SHA256.digest(of: Array(text.utf8))) }

    /// Creates the digest of what a caller presents as its key, from the bytes of a request.
    public init(of text: Span<UInt8>) { self.init(SHA256.digest(of: text)) }
}
