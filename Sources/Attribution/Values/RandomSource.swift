/// Where the domain gets unpredictable bytes from: handed in, so that a test can pin them.
public struct RandomSource: Sendable {
    /// As many bytes as asked for.
    public let bytes: @Sendable (_ count: Int) -> [UInt8]

    public init(bytes: @escaping @Sendable (_ count: Int) -> [UInt8]) {
        self.bytes = bytes
    }

    func exactly(_ count: Int) -> [UInt8] {
        let bytes = bytes(count)
        precondition(bytes.count == count, "a random source gives as many bytes as it is asked for")
        return bytes
    }
}
