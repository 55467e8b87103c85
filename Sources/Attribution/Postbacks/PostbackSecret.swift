internal import Crypto

/// The secret of an endpoint, which signs its requests as Standard Webhooks 1.0 specifies.
public struct PostbackSecret: Sendable, HiddenValue {
    public let bytes: [UInt8]

    public static let prefix = "whsec_"
    private static let newByteCount = 32

    /// Creates a secret; nil unless there are 24 to 64 bytes.
    public init?(bytes: [UInt8]) {
        guard (24...64).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// Reads `whsec_` and base64; nil for any other text.
    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        guard let bytes = Base64URL.bytes(ofStandard: String(text.dropFirst(Self.prefix.count)))
        else { return nil }
        self.init(bytes: bytes)
    }

    public init(random: RandomSource) { bytes = random.exactly(Self.newByteCount) }

    /// The secret as receivers configure it: `whsec_` and base64.
    public var text: String { Self.prefix + Self.base64(bytes) }

    /// Returns the signature of a base string: `v1,` and the HMAC-SHA256 in base64.
    public func signature(of base: [UInt8]) -> String {
        "v1," + Self.base64(HMACSHA256(key: bytes).code(for: base).bytes)
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        let text = Base64URL.text(of: bytes).replacing("-", with: "+").replacing("_", with: "/")
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}

/// The signed parts of a request: id, time of the attempt and body.
public struct PostbackMessage: Equatable, Sendable {
    public let id: String
    public let at: Timestamp
    public let body: [UInt8]

    public init(id: String, at: Timestamp, body: [UInt8]) { (self.id, self.at, self.body) = (id, at, body) }

    public var seconds: Int64 { at.milliseconds / 1000 }

    /// The bytes that signatures cover: `{id}.{timestamp}.{body}`.
    public var baseString: [UInt8] { Array("\(id).\(seconds).".utf8) + body }

    static let signatureField = "webhook-signature"

    /// Returns the header fields of a request; with two secrets during a rotation, the request has a signature by each.
    public func fields(signedBy secrets: [PostbackSecret]) -> [(name: String, value: String)] {
        let base = baseString
        return [
            (name: "webhook-id", value: id), (name: "webhook-timestamp", value: String(seconds)),
            (name: Self.signatureField, value: secrets.map { $0.signature(of: base) }.joined(separator: " ")),
        ]
    }

    /// The largest difference between the clocks of sender and receiver, in seconds.
    public static let toleranceSeconds: Int64 = 300

    /// Verifies a request as a receiver does; returns the reason to refuse it, or nil.
    public static func problem(
        id: String?,
        timestamp: String?,
        signatures: String?,
        body: [UInt8],
        secret: PostbackSecret,
        now: Timestamp
    ) -> String? {
        guard let id, !id.isEmpty, let signatures, let seconds = timestamp.flatMap({ Int64($0) }) else {
            return "a header field is missing: webhook-id, webhook-timestamp and webhook-signature are needed"
        }
        let present = now.milliseconds / 1000
        guard (present - toleranceSeconds...present + toleranceSeconds).contains(seconds) else {
            return "the timestamp differs from this clock by more than \(toleranceSeconds) s"
        }
        let message = PostbackMessage(id: id, at: Timestamp(milliseconds: seconds * 1000), body: body)
        let expected = Array(secret.signature(of: message.baseString).utf8)
        let isSigned = signatures.split(separator: " ").contains {
            constantTimeEquals(Array($0.utf8), expected)
        }
        return isSigned ? nil : "no signature was made with this secret"
    }
}

extension ServerKey {
    /// Encrypts a secret of an endpoint; decryption needs the same `subject`.
    ///
    /// The result starts with the key's check value, by which ``ServerKeys/open(_:of:)`` finds the key.
    public func seal(_ secret: [UInt8], of subject: EndpointID, random: RandomSource) -> [UInt8] {
        let nonce = random.exactly(AES256GCM.nonceByteCount)
        let sealed = cipher?.seal(secret, authenticating: Array(subject.text.utf8), nonce: nonce) ?? []
        return checkBytes + sealed
    }

    /// Decrypts a result of ``seal(_:of:random:)``; nil if it was made under another key or for another subject.
    public func open(_ sealed: [UInt8], of subject: EndpointID) -> [UInt8]? {
        guard isSealed(sealed) else { return nil }
        return cipher?.open(Array(sealed.dropFirst(8)), authenticating: Array(subject.text.utf8))
    }

    /// Returns whether a result of ``seal(_:of:random:)`` was made under this key.
    public func isSealed(_ sealed: [UInt8]) -> Bool { sealed.starts(with: checkBytes) }

    private var checkBytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: checkValue.index >> (56 - 8 * UInt64($0))) }
    }
}

extension ServerKeys {
    /// Decrypts a secret with the key that encrypted it; nil without that key.
    public func open(_ sealed: [UInt8], of subject: EndpointID) -> [UInt8]? {
        all.first { $0.isSealed(sealed) }?.open(sealed, of: subject)
    }
}
