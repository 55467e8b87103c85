internal import Crypto

/// Proof that a launch comes from a click: only a server with the server key can create the token.
///
/// The token reaches the launch through the store's install referrer, the pasteboard, a QR code or a link. It
/// contains the click's identifier, and works once, because a click is claimed once.
///
/// The text is 44 characters of base64url. They encode a version, a part of the app's identifier, the click's
/// identifier, the expiry, and ten bytes of HMAC-SHA256 over these and the app's whole identifier.
public struct ClickToken: Hashable, Sendable {
    /// The content of a token, verified or not.
    struct Payload: Hashable {
        /// The first byte of every token of this format.
        ///
        /// A new format needs a new number, so that tokens in use remain readable.
        static let version: UInt8 = 1

        let click: ClickID
        /// The expiry in whole seconds since 1970.
        let expirySeconds: UInt32
        /// The last 16 bits of the app's identifier.
        ///
        /// They show which apps a token may belong to, so that its signature need not be verified for every app.
        let appBits: UInt16
    }

    public let text: String
    private let payload: Payload

    static let signatureByteCount = 10

    /// Creates the token of a click.
    ///
    /// - Parameters:
    ///   - click: the click.
    ///   - app: the app whose click it is.
    ///   - expiresAt: the end of the click's window. The token contains it in whole seconds, rounded up; the
    ///     claim tests the end that is stored with the click, in milliseconds.
    ///   - key: the server's current key.
    public init(for click: ClickID, of app: AppID, expiresAt: Timestamp, signedBy key: ServerKey) {
        payload = Payload(
            click: click,
            expirySeconds: Payload.seconds(upTo: expiresAt),
            appBits: app.tokenBits
        )
        text = Base64URL.text(of: payload.bytes + key.signature(of: payload, for: app))
    }

    /// Reads a token and verifies that it belongs to the app, was signed by one of the keys and has not expired.
    ///
    /// - Parameters:
    ///   - text: the text as it came.
    ///   - app: the app whose launch it is.
    ///   - apps: all apps of the server, to distinguish another app's token from an altered one.
    ///   - keys: the current key, and the others whose tokens may be in use.
    ///   - now: the time of the launch.
    /// - Throws: ``ClickTokenError`` for a token that does not count.
    public init(
        verifying text: String,
        of app: AppID,
        among apps: some Sequence<AppID>,
        signedBy keys: [ServerKey],
        at now: Timestamp
    ) throws(ClickTokenError) {
        guard let bytes = Base64URL.bytes(of: text), let payload = Payload(bytes) else { throw .malformed }
        let signature = Array(bytes.suffix(Self.signatureByteCount))
        func isSigned(for app: AppID) -> Bool {
            payload.appBits == app.tokenBits
                && keys.contains { constantTimeEquals($0.signature(of: payload, for: app), signature) }
        }
        guard isSigned(for: app)
        else { throw apps.contains { $0 != app && isSigned(for: $0) } ? .otherApp : .altered }
        self.text = text
        self.payload = payload
        guard now <= expiresAt else { throw .expired }
    }

    /// Returns whether a text could be a token, by its form alone.
    static func hasForm(of text: String) -> Bool {
        text.utf8.count == textLength && Base64URL.bytes(of: text).flatMap(Payload.init) != nil
    }

    /// Returns the click that an unverified text names; nil for a text without the form of a token.
    static func click(of text: String) -> ClickID? { Base64URL.bytes(of: text).flatMap(Payload.init)?.click }

    /// The number of characters of every token.
    public static let textLength = (Payload.byteCount + signatureByteCount) * 4 / 3

    public var click: ClickID { payload.click }

    /// The last time at which the token is valid, a whole second.
    public var expiresAt: Timestamp { Timestamp(milliseconds: Int64(payload.expirySeconds) * 1000) }
}

extension ClickToken.Payload {
    /// The number of bytes without the signature.
    static let byteCount = 23

    /// Reads all bytes of a token; nil if their number or the version is wrong.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount + ClickToken.signatureByteCount, bytes[0] == Self.version
        else { return nil }
        func word(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        appBits = UInt16(truncatingIfNeeded: word(1..<3))
        click = ClickID(high: word(3..<11), low: word(11..<19))
        expirySeconds = UInt32(truncatingIfNeeded: word(19..<23))
    }

    /// The bytes without the signature.
    var bytes: [UInt8] {
        var bytes = [Self.version]
        bytes.reserveCapacity(Self.byteCount + ClickToken.signatureByteCount)
        func append(_ word: UInt64, byteCount: Int) {
            for index in (0..<byteCount).reversed() {
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(8 * index)))
            }
        }
        append(UInt64(appBits), byteCount: 2)
        append(click.high, byteCount: 8)
        append(click.low, byteCount: 8)
        append(UInt64(expirySeconds), byteCount: 4)
        return bytes
    }

    /// Returns a time rounded up to a whole second, and clamped to the years 1970 to 2106.
    static func seconds(upTo time: Timestamp) -> UInt32 {
        let seconds = time.milliseconds / 1000 + (time.milliseconds % 1000 > 0 ? 1 : 0)
        return UInt32(clamping: seconds)
    }
}

extension AppID {
    fileprivate var tokenBits: UInt16 { UInt16(truncatingIfNeeded: low) }
}

/// The reason why a token does not count.
///
/// A launch with such a token is matched without it.
public enum ClickTokenError: Error, CaseIterable, Sendable {
    /// The text is no token, or a token in a newer server's format.
    case malformed
    /// The text has the form of a token, but no key of this server signed it for any app of this server.
    case altered
    /// The token is genuine, but belongs to another app.
    case otherApp
    /// The token is genuine, but its click's window has ended.
    case expired

    /// The word of the ``NoMatchReason`` that operators and test keys see if the launch gets no match.
    public var reason: String { NoMatchReason(self).rawValue }

    /// The meaning of the error and what to do, for people who investigate it.
    public var message: String {
        switch self {
        case .malformed:
            "The token is not complete: pass it on exactly as it stands in the link, 44 characters"
        case .altered:
            "The token was altered on its way, or made under a server key that this server does not have"
        case .otherApp:
            "The token belongs to another app of this server: check the API key that the app sends"
        case .expired: "The token's click is older than its attribution window"
        }
    }
}
