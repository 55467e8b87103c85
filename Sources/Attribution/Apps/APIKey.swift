internal import Crypto

/// What a key may be used for.
///
/// The raw value is the prefix of its text and the word in the database.
public enum KeyKind: String, CaseIterable, Sendable {
    /// Lives in the mobile app, so it is public: may check, and post clicks whose claims are not believed.
    case app
    /// Secret, of a customer's own back end: may check, and post clicks whose address, agent and time are
    /// believed.
    case server
    /// Like `app`, but sees and makes only test clicks.
    case test
    /// Everything under `/admin`, nothing else. Belongs to no app.
    case admin
}

/// SHA-256 of a key's text: all that is stored of it.
///
/// A random key needs no slow hash.
///
/// Comparing takes the same time whatever the difference, so that time tells nothing of a stored key.
public struct KeyDigest: Hashable, Sendable {
    private let digest: SHA256.Digest

    /// 32 bytes.
    public var bytes: [UInt8] { digest.bytes }

    /// Nil unless there are 32 bytes.
    public init?(bytes: [UInt8]) {
        guard let digest = SHA256.Digest(bytes: bytes) else { return nil }
        self.digest = digest
    }

    init(_ digest: SHA256.Digest) {
        self.digest = digest
    }
}

/// A key as stored: everything but its text, which is shown once, when it is made.
public struct APIKey: Equatable, Sendable {
    public let id: KeyID
    public let kind: KeyKind
    /// Nil for admin keys.
    public let app: AppID?
    /// The operator's own words for it, up to 100 characters; may be empty.
    public let label: String
    public let digest: KeyDigest
    public let createdAt: Timestamp
    public var expiresAt: Timestamp?
    public var revokedAt: Timestamp?
    /// Rounded to the minute, and noted with a delay of some seconds.
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
        self.id = id
        self.kind = kind
        self.app = app
        self.label = label
        self.digest = digest
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.lastUsedAt = lastUsedAt
    }

    public func isValid(at now: Timestamp) -> Bool {
        revokedAt == nil && (expiresAt.map { now < $0 } ?? true)
    }
}
