/// HMAC-SHA256 (RFC 2104) under one key, prepared for many short messages.
///
/// The two hash states that depend only on the key are computed once, as RFC 2104 §4 proposes, and copied for
/// each message.
public struct HMACSHA256: Sendable {
    private static let blockByteCount = 64

    private let inner: DigestContext
    private let outer: DigestContext

    /// Creates the function for a key of any length; 32 random bytes are recommended.
    public init(key: [UInt8]) {
        var block = key.count > Self.blockByteCount ? SHA256.digest(of: key).bytes : key
        block.append(contentsOf: repeatElement(0, count: Self.blockByteCount - block.count))

        inner = Self.state(after: block.map { $0 ^ 0x36 })
        outer = Self.state(after: block.map { $0 ^ 0x5c })
    }

    public func code(for message: Span<UInt8>) -> SHA256.Digest {
        var inner = inner
        inner.update(message)
        var outer = outer
        outer.update(inner.finish())
        return outer.finish()
    }

    public func code(for message: [UInt8]) -> SHA256.Digest { code(for: message.span) }

    private static func state(after block: [UInt8]) -> DigestContext {
        var context = DigestContext()
        context.update(block.span)
        return context
    }
}
