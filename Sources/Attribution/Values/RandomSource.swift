/// Where the domain gets unpredictable bytes from: handed in, so that a test can pin them.
public struct RandomSource: Sendable {
    /// As many bytes as asked for.
    public let bytes: @Sendable (_ count: Int) -> [UInt8]

    public init(bytes: @escaping @Sendable (_ count: Int) -> [UInt8]) {
        self.bytes = bytes
    }

    /// Up to eight bytes as a number, the first one highest.
    func word(byteCount: Int) -> UInt64 {
        let bytes = bytes(byteCount)
        precondition(bytes.count == byteCount, "a random source gives as many bytes as it is asked for")
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
