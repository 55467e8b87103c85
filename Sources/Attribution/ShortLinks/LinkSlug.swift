/// The path of a short link on its host: `summer25`, or `go/summer25`.
///
/// One to four parts of letters, digits, `-`, `_` and `.`, separated by slashes, 128 characters at most. Case
/// matters, as in the links of other services.
public struct LinkSlug: Hashable, Sendable {
    public let text: String

    public static let maximumLength = 128
    private static let maximumPartCount = 4

    /// The first parts of the service's own paths, which no slug may start with.
    package static let reservedFirstParts: Set<String> = [
        "admin", "api", "v1", "deferred-deeplink", "healthz", "readyz", "metrics", "campaign", "resolve",
        "openapi.json", "robots.txt", "favicon.ico", "apple-touch-icon.png", "apple-app-site-association",
        "well-known", "assets", "static",
    ]

    /// The last parts of addresses below a slug, which no slug may end with.
    package static let reservedLastParts: Set<String> = ["qr.svg", "qr.png"]

    /// Creates a slug from a stored text, which was valid when it was stored.
    public init(stored text: String) { self.text = text }

    /// - Throws: ``LinkSlugError``, whose message says what to do.
    public init(parsing text: String) throws(LinkSlugError) {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard !text.isEmpty, text.utf8.count <= Self.maximumLength, parts.count <= Self.maximumPartCount
        else {
            throw .wrongLength
        }
        for part in parts {
            guard !part.isEmpty, part.first != UInt8(ascii: "."), part.allSatisfy(Self.isAllowed) else {
                throw .malformed
            }
        }
        let first = String(decoding: parts[0].map(\.asciiLowercased), as: UTF8.self)
        let last = String(decoding: parts[parts.count - 1].map(\.asciiLowercased), as: UTF8.self)
        guard !Self.reservedFirstParts.contains(first), !Self.reservedLastParts.contains(last) else {
            throw .reserved
        }
        self.text = text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: ".")
    }
}

/// The reason why a text is no slug.
public enum LinkSlugError: Error, Equatable, CaseIterable, Sendable {
    case wrongLength
    case malformed
    case reserved

    /// What is wrong and what to do, in plain words.
    public var message: String {
        switch self {
        case .wrongLength:
            "A slug has 1 to \(LinkSlug.maximumLength) characters in at most four parts; shorten it."
        case .malformed:
            """
            A slug is made of letters a–z and A–Z, digits, -, _ and ., with single slashes between its parts, none of \
            which begins with a dot; write summer-25 or go/summer-25.
            """
        case .reserved: "The service itself answers under this path; choose another slug."
        }
    }
}

extension LinkSlug {
    /// Characters that people do not confuse when they read or hear them, and that form no words.
    ///
    /// They exclude vowels and the digits that resemble them, and `b`, `8`, `l`, `1`, `n`, `o`, `0`, `q`,
    /// `s`, `5`, `u`, `v`, `z` and `2`.
    private static let alphabet = Array("cdfghjkmprtwxy679".utf8)
    private static let madeLength = 11

    /// Texts that look like bad words without their vowels.
    private static let badWords = ["fck", "fgt", "ftw", "kkk", "wtf", "ct", "dck", "prk", "hh", "fk", "dmn"]

    /// Creates a slug that cannot be guessed: eleven characters, 45 bits.
    public init(random: RandomSource) {
        while true {
            let text = Self.text(random)
            guard Self.badWords.contains(where: { text.contains($0) }) else {
                self.init(stored: text)
                return
            }
        }
    }

    private static func text(_ random: RandomSource) -> String {
        // Skip bytes beyond the last multiple of the alphabet's length, which would favour its first
        // characters.
        let end = 256 / alphabet.count * alphabet.count
        var text: [UInt8] = []
        while text.count < madeLength {
            let fitting = random.exactly(16).lazy.map { Int($0) }.filter { $0 < end }
            text += fitting.prefix(madeLength - text.count).map { alphabet[$0 % alphabet.count] }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
