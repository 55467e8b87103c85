/// The path of a short link behind its host: `summer25`, or `go/summer25`.
///
/// One to four parts of letters, digits, `-`, `_` and `.`, with a slash between two of them, 128 characters at most.
/// Letters are told apart by their case, because those that other services made are.
public struct LinkSlug: Hashable, Sendable {
    public let text: String

    public static let maximumLength = 128
    private static let maximumPartCount = 4

    /// What stands first in the paths of the service itself, whatever follows: no link may hide it.
    package static let reservedFirstParts: Set<String> = [
        "admin", "api", "v1", "deferred-deeplink", "healthz", "readyz", "metrics", "campaign", "resolve",
        "openapi.json", "robots.txt", "favicon.ico", "apple-touch-icon.png", "apple-app-site-association",
        "well-known", "assets", "static",
    ]

    /// What may stand behind a slug, and so never be the last part of another.
    package static let reservedLastParts: Set<String> = ["qr.svg", "qr.png"]

    /// A slug that passed the checks before, as a store gives it back.
    public init(stored text: String) {
        self.text = text
    }

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

/// Why a text is no slug.
public enum LinkSlugError: Error, Equatable, CaseIterable, Sendable {
    case wrongLength
    case malformed
    case reserved

    /// In plain words: what is wrong and what to do.
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
