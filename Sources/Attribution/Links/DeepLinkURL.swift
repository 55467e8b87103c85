/// A link that released clients can open: never one that they would lose.
///
/// Sources: the wire contract, sections 2 and 7, and the syntax of RFC 3986.
public struct DeepLinkURL: Hashable, Sendable {
    /// The link in ASCII.
    ///
    /// What was not is percent-encoded. At most ``maximumLength`` characters as it came.
    public let text: String

    public static let maximumLength = 2048

    /// A link that passed the checks before, as a store gives it back.
    public init(stored text: String) {
        self.text = text
    }

    /// Checks a link from outside.
    ///
    /// Blanks around it are dropped. What a URI cannot hold (blanks, characters beyond ASCII, `"<>^{|}` and
    /// the backquote, a `%` that escapes nothing, square brackets outside the host, a second `#`) is
    /// percent-encoded; escapes that are there stay as they are.
    ///
    /// - Throws: ``DeepLinkURLError`` naming the first rule that the link breaks.
    public init(parsing text: String) throws(DeepLinkURLError) {
        let isNoSpace = { (byte: UInt8) in byte != UInt8(ascii: " ") }
        guard let first = text.utf8.firstIndex(where: isNoSpace),
            let last = text.utf8.lastIndex(where: isNoSpace)
        else { throw .empty }
        let bytes = Array(text.utf8[first...last])
        guard Self.characterCount(bytes) <= Self.maximumLength else { throw .tooLong }
        for byte in bytes {
            guard byte >= 0x20, byte != 0x7f else { throw .controlCharacter }
            guard byte != UInt8(ascii: "\\") else { throw .backslash }
        }
        let parts = try URLParts(bytes)
        try parts.checkScheme()
        _ = try parts.host()
        try parts.checkPath()
        self.text = String(decoding: parts.encoded, as: UTF8.self)
    }

    /// Unicode scalars: bytes that do not continue one.
    private static func characterCount(_ bytes: [UInt8]) -> Int {
        bytes.count { $0 & 0xc0 != 0x80 }
    }
}
